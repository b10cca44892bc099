// Reads the configuration of `emomc simulate`.
#include "simulation_config.hpp"

#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(text_of(data, size));
  read_or_refuse([&] { app::load_simulation_config(file.path()); });
  return 0;
}
