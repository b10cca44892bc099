// Checks of the names of input files that a user gives.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "emomc/core/errors.hpp"

namespace emomc {

/// Throws InputError if the symbolic links of `path` form a cycle. Functions of std::filesystem report such a
/// path as a failure of the system, or as a file that does not exist.
inline void refuse_link_cycle(const std::filesystem::path& path) {
  std::error_code error;
  static_cast<void>(std::filesystem::status(path, error));
  if (error == std::errc::too_many_symbolic_link_levels)
    throw InputError(path.string() + ": its symbolic links lead in a circle");
}

}  // namespace emomc
