// Makes the error message for settings out of range, so that all such messages have the same wording.
#pragma once

#include <sstream>
#include <string>

#include "emomc/core/errors.hpp"

namespace emomc {

/// "<name>: <value> is out of range; allowed: <allowed>"
template <class T>
InputError setting_error(const std::string& name, const T& value, const std::string& allowed) {
  std::ostringstream text;
  text.precision(10);
  text << name << ": " << value << " is out of range; allowed: " << allowed;
  return InputError(text.str());
}

}  // namespace emomc
