// Reads a table from a NumPy array.
#include "fuzz_input.hpp"
#include "table_file.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(text_of(data, size));
  read_or_refuse([&] { read_npy(file.path(), {}); });
  return 0;
}
