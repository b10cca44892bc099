// Work on files that a library may not survive.
#pragma once

#include <functional>
#include <string>

namespace emomc::app {

/// Runs `work` in a child process and returns what it returned. Throws InputError with the message of an
/// InputError that it threw, and `on_death` where the child died or took longer than five minutes.
std::string in_child(const std::function<std::string()>& work, const std::string& on_death);

}  // namespace emomc::app
