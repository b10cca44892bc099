#include "emomc/likelihood/density_model.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "emomc/core/errors.hpp"

namespace emomc {

DeviceSource read_device_source(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw InputError(file + ": the header of a likelihood cannot be read");
  return {std::filesystem::path(file).filename().string(), text.str()};
}

}  // namespace emomc
