// Reads a model that `emomc train` could have written.
#include "class_model.hpp"

#include "emomc/core/sha256.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "fuzz_input.hpp"

using namespace emomc;
using namespace emomc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFolder folder(text_of(data, size));
  const auto file = folder.path() / "model.json";
  std::string model = content_of(file);
  if (const auto at = model.find("@HASH@"); at != std::string::npos)  // mutation would not find the right one
    set_content(file, model.replace(at, 6, sha256_hex(content_of(folder.path() / "draws.npy"))));
  read_or_refuse([&] { app::read_class_model(folder.path()); });
  return 0;
}
