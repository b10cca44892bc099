// Reads the configuration of `emomc run`. An accepted configuration must have the same meaning after it is
// written out.
#include "run_config.hpp"

#include <stdexcept>

#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const RunConfig config = app::parse_run_config(std::string(text_of(data, size)), "fuzz.yaml");
    if (!(app::parse_run_config(app::to_yaml(config), "fuzz.yaml") == config))
      throw std::logic_error("written out, it means something else");
  });
  return 0;
}
