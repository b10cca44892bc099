// Reads a checkpoint.
#include "checksums.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(with_checksums(std::string(text_of(data, size))));
  read_or_refuse([&] { read_checkpoint(file.path()); });
  return 0;
}
