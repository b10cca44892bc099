// Reads a table from CSV.
#include "emomc/likelihood/table.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(text_of(data, size));
  read_or_refuse([&] { read_table({{file.path()}, {}}); });
  read_or_refuse([&] { read_table({{file.path()}, {"c0"}}); });
  read_or_refuse([&] {
    read_table({{file.path()}, {}, {.header = false, .separator = ';', .decimal = ','}});
  });
  read_or_refuse([&] {
    read_table({{file.path()}, {}, {.header = true, .separator = '\t', .decimal = '.'}});
  });
  return 0;
}
