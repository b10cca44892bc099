// Work on files that a library may not survive.
#pragma once

#include <functional>
#include <string>

namespace emomc::app {

/// What is said where the child process dies of its work.
struct OnDeath {
  std::string file;  ///< that it was reading
  std::string what;  ///< is wrong with it then
};

/// Runs `work` in a child process and returns what it returned. Throws InputError with the message of an
/// InputError that it threw, with `on_death` where the child died, and where it took longer than five
/// minutes; MachineError where there can be no child, where the system killed it, and with any other
/// exception's message.
std::string in_child(const std::function<std::string()>& work, const OnDeath& on_death);

}  // namespace emomc::app
