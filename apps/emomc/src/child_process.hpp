// Runs work on files in a child process, so that a library that crashes on a damaged file does not end the
// program.
#pragma once

#include <functional>
#include <string>

namespace emomc::app {

/// The parts of the error message that is thrown if the child process dies.
struct OnDeath {
  std::string file;  ///< file that the child was reading
  std::string what;  ///< what is wrong with the file in that case
};

/// Runs `work` in a child process and returns its result. Throws InputError with the message of an InputError
/// that `work` throws, with `on_death` if the child dies, and if it takes longer than five minutes. Throws
/// MachineError if no child can be started, if the system kills it, and with the message of any other
/// exception.
std::string in_child(const std::function<std::string()>& work, const OnDeath& on_death);

}  // namespace emomc::app
