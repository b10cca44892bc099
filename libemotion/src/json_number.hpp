// Writes numbers to JSON, which has no infinities and no NaN.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace emomc {

/// A number, or null if it is not finite.
inline nlohmann::ordered_json number(double x) {
  return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
}

}  // namespace emomc
