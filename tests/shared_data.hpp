// Real data that the project does not ship: at $EMOMC_SHARED_DATA, else beside the checkout.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace emomc::testing {

/// The file or folder `relative` of the shared data; nothing where it is absent, and the test skips.
inline std::optional<std::filesystem::path> shared_data(const std::string& relative) {
  const char* given = std::getenv("EMOMC_SHARED_DATA");
  const std::filesystem::path root = given ? given : EMOMC_SOURCE_DIR "/../shared/data";
  if (std::filesystem::exists(root / relative)) return root / relative;
  return std::nullopt;
}

}  // namespace emomc::testing
