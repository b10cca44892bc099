#include <cstdlib>

#include "emomc/core/runtime_kernel.hpp"

namespace emomc {

std::string runtime_kernel_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (auto own = variable("EMOMC_CACHE_DIR"); !own.empty()) return own;
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/emomc";
  if (const auto home = variable("HOME"); !home.empty()) return home + "/.cache/emomc";
  return {};
}

}  // namespace emomc
