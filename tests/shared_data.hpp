// Finds real data that are not part of the project: at $EMOMC_SHARED_DATA, or else next to the source tree.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace emomc::testing {

/// Returns the path of `relative` in the shared data, or nothing if it does not exist, in which case the test
/// skips.
inline std::optional<std::filesystem::path> shared_data(const std::string& relative) {
  const char* given = std::getenv("EMOMC_SHARED_DATA");
  const std::filesystem::path root = given ? given : EMOMC_SOURCE_DIR "/../shared/data";
  if (std::filesystem::exists(root / relative)) return root / relative;
  return std::nullopt;
}

}  // namespace emomc::testing
