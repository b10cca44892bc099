// Reads the configuration of `emomc evaluate` and `train`. An accepted configuration must have the same
// meaning after it is written out.
#include "evaluation_config.hpp"

#include <stdexcept>

#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const auto config = app::parse_evaluation_config(std::string(text_of(data, size)), "fuzz.yaml");
    if (!(app::parse_evaluation_config(app::to_yaml(config), "fuzz.yaml") == config))
      throw std::logic_error("written out, it means something else");
  });
  return 0;
}
