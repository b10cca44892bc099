// Words the library's messages for callers in Python.
#pragma once

#include <string>

namespace emomc::python {

/// Returns a message of the library with the names of Python's arguments in place of the configuration keys
/// and the program's options that it names, such as "tempering=12" for "--set sampler.tempering.rungs=12".
std::string in_python(std::string message);

}  // namespace emomc::python
