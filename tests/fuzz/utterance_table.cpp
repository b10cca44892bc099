// Reads tables of other programs with a row for each recording, and joins them.
#include "emomc/speech/utterance_table.hpp"

#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFolder folder(text_of(data, size));
  for (const char* name : {"table.csv", "table.arff", "table.npy"})
    read_or_refuse([&] {
      const bool is_npy = std::string(name).ends_with("npy");
      const UtteranceTable table =
          read_utterance_table(folder.path() / name, is_npy ? (folder.path() / "names.txt").string() : "");
      rows_of_utterances(table, {"a/b", "c", "one", "two"});
    });
  return 0;
}
