// Reads the tables of a corpus, one file for each emotion and speaker. The first line is the pattern of their
// names.
#include "emomc/speech/feature_set.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = text_of(data, size);
  const auto line = std::min(input.find('\n'), input.size());
  const MemoryFolder folder(input.substr(std::min(line + 1, input.size())));
  read_or_refuse([&] {
    FeatureSet features = read_feature_tables(folder.path(), std::string(input.substr(0, line)));
    append_deltas(features, 2);
    normalize(features, Normalization::speaker);
  });
  return 0;
}
