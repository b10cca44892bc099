// Reads the manifest of a corpus.
#include "emomc/speech/corpus.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFolder folder(text_of(data, size));
  for (const ManifestLabels labels : {ManifestLabels::required, ManifestLabels::optional})
    read_or_refuse([&] { list_corpus("manifest", folder.path() / "manifest.csv", labels); });
  return 0;
}
