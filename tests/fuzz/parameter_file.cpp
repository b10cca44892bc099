// Reads parameters from JSON, for a model whose sizes come from the file.
#include "emomc/likelihood/parameter_file.hpp"

#include "emomc/likelihood/models.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(text_of(data, size));
  for (const auto& name : model_names())
    read_or_refuse([&] {
      const ParameterLayout layout =
          model_layout(model_of_parameters(text, "fuzz.json", name), name == "two_gaussian" ? 1 : 2);
      parameters_to_json(layout, parse_parameters(text, "fuzz.json", layout));
    });
  return 0;
}
