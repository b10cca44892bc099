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
