// Reads parameters from JSON, for a model whose sizes come from the file.
#include "emomc/likelihood/parameter_file.hpp"

#include "emomc/likelihood/model_info.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(text_of(data, size));
  for (const auto& name : model_names())
    read_or_refuse([&] {
      const ModelSpec model = model_of_parameters(text, "fuzz.json", name);
      const ParameterLayout layout = model_layout(model, model_info(model).fixed_dim == 1 ? 1 : 2);
      parameters_to_json(layout, parse_parameters(text, "fuzz.json", layout));
    });
  return 0;
}
