// Formats numbers of scores.json as texts. JSON has neither infinities nor NaN, which are stored as null.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace emomc::app {

inline double real(const nlohmann::ordered_json& json) {
  return json.is_null() ? std::nan("") : json.get<double>();
}
inline std::string three(double x) { return fmt::format("{:.3f}", x); }
inline std::string interval(double low, double high) { return fmt::format("[{:.3f}, {:.3f}]", low, high); }

}  // namespace emomc::app
