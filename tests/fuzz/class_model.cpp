// Reads a model that `emomc train` could have written.
#include "class_model.hpp"

#include "emomc/core/sha256.hpp"
#include "emomc/emotion/regression_model_file.hpp"
#include "emomc/emotion/softmax_model_file.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFolder folder(text_of(data, size));
  const auto file = folder.path() / "model.json";
  const std::string given = content_of(file);
  std::string model = given;
  // Mutation would not find the right hashes, so that marks stand for them.
  for (const auto& [mark, array] : {std::pair<std::string, const char*>{"@HASH@", "draws.npy"},
                                    {"@ROTATION@", "rotation.npy"},
                                    {"@WEIGHTS@", "weights.npy"}})
    if (const auto at = model.find(mark); at != std::string::npos)
      model.replace(at, mark.size(), sha256_hex(content_of(folder.path() / array)));
  if (model != given) set_content(file, model);
  read_or_refuse([&] {
    if (is_regression_model(folder.path()))
      read_regression_model(folder.path());
    else if (is_softmax_model(folder.path()))
      read_softmax_model(folder.path());
    else
      app::read_class_model(folder.path());
  });
  return 0;
}
