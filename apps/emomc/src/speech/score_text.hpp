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
/// A number in the unit of a predicted quantity, which may be of any magnitude: three decimals, or three
/// significant digits if these are more.
inline std::string in_unit(double x) {
  return std::abs(x) < 0.1 && x != 0 ? fmt::format("{:#.3g}", x) : three(x);
}
/// The same with a sign, for differences.
inline std::string signed_in_unit(double x) { return (x < 0 || std::isnan(x) ? "" : "+") + in_unit(x); }
/// "-" if there is no interval.
inline std::string interval(double low, double high) {
  return std::isnan(low) && std::isnan(high) ? "-" : fmt::format("[{:.3f}, {:.3f}]", low, high);
}

/// The smallest share of (utterance, class) pairs that have converged, in the scores.json of an evaluation:
/// over seeds, and over the mixtures and the softmax regression of a product. NaN if there are no chains.
template <class Json>
double share_converged(const Json& scores) {
  double least = std::nan("");
  const auto take = [&](const Json& json, const char* key) {
    if (json.contains(key) && json[key].is_number())
      least = std::fmin(least, json[key].template get<double>());
  };
  take(scores, "least_share_converged");
  for (const char* key : {"convergence", "convergence_of_softmax"})
    if (scores.contains(key)) take(scores[key], "converged");
  return least;
}

}  // namespace emomc::app
