// Runs work on files in a child process, since a library may crash on a damaged file.
#pragma once

#include <functional>
#include <string>

namespace emomc::app {

/// The error message if the child process dies.
struct OnDeath {
  std::string file;  ///< the file that it was reading
  std::string what;  ///< what is then wrong with the file
};

/// Runs `work` in a child process and returns its result. Throws InputError with the message of an InputError
/// that `work` throws, with `on_death` if the child dies, and if it takes longer than five minutes. Throws
/// MachineError if no child can be started, if the system kills it, and with the message of any other
/// exception.
std::string in_child(const std::function<std::string()>& work, const OnDeath& on_death);

}  // namespace emomc::app
