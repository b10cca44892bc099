// Reads a chain file and arranges its draws in arrays.
#include "checksums.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(with_checksums(std::string(text_of(data, size))));
  read_or_refuse([&] {
    const ChainDraws chain = read_chain(file.path());
    draw_set_of({chain}, "fuzz", Phase::warmup);
    const DrawSet draws = draw_set_of({chain, chain}, "fuzz");
    arrays_of(draws, draws.num_quantities() - draws.num_log_densities);
  });
  return 0;
}
