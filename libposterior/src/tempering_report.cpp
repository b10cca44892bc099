#include "emomc/posterior/tempering_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "emomc/posterior/text_table.hpp"

namespace emomc {
namespace {

// Below this mean probability of an exchange, points hardly move between rungs.
constexpr double kLeastSwapRate = 0.1;

double least_of(const std::vector<double>& rates) {
  double least = std::numeric_limits<double>::infinity();
  for (const double rate : rates)
    if (rate < least) least = rate;
  return least;
}

}  // namespace

nlohmann::ordered_json to_json(const TemperingSummary& summary) {
  nlohmann::ordered_json json;
  json["betas"] = summary.betas;
  json["swap_rates"] = nlohmann::ordered_json::array();
  for (const double rate : summary.swap_rates)
    json["swap_rates"].push_back(std::isfinite(rate) ? nlohmann::ordered_json(rate)
                                                     : nlohmann::ordered_json());
  json["round_trips"] = summary.round_trips;
  json["prior_draws"] = summary.prior_draws;
  json["finite_prior_draws"] = summary.finite_prior_draws;
  return json;
}

std::optional<TemperingSummary> tempering_of(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto numbers = [&](const char* key) {
    std::vector<double> values;
    if (json.contains(key) && json[key].is_array())
      for (const auto& item : json[key])
        values.push_back(item.is_number() ? item.get<double>() : std::numeric_limits<double>::quiet_NaN());
    return values;
  };
  const auto count = [&](const char* key) -> std::uint64_t {
    return json.contains(key) && json[key].is_number_unsigned() ? json[key].get<std::uint64_t>() : 0;
  };
  TemperingSummary summary{numbers("betas"), numbers("swap_rates"), count("round_trips"),
                           count("prior_draws"), count("finite_prior_draws")};
  if (summary.betas.size() < 2 || summary.swap_rates.size() + 1 != summary.betas.size()) return std::nullopt;
  return summary;
}

std::string describe(const TemperingSummary& summary) {
  double most = 0;
  for (const double rate : summary.swap_rates)
    if (rate > most) most = rate;
  return fmt::format("{} rungs; neighbours exchange points with a probability of {:.2f} to {:.2f}; {}",
                     summary.betas.size(), std::min(least_of(summary.swap_rates), most), most,
                     counted(summary.round_trips, "round trip"));
}

void check_exchanges(const TemperingSummary& summary, std::size_t num_chains,
                     std::vector<Finding>& findings) {
  const double least = least_of(summary.swap_rates);
  if (least < kLeastSwapRate) {
    const auto at = std::find(summary.swap_rates.begin(), summary.swap_rates.end(), least);
    const auto rung = at - summary.swap_rates.begin();
    findings.push_back({Severity::warning, "tempering",
                        fmt::format("rungs {} and {} exchange points with a probability of {:.2f} only", rung,
                                    rung + 1, least),
                        fmt::format("more rungs than sampler.tempering.rungs = {}", summary.betas.size())});
  }
  if (summary.round_trips < num_chains)
    findings.push_back({Severity::warning, "tempering",
                        fmt::format("{} of points from the cold rung to the last one and back, in {}: hardly "
                                    "any points of the last rung have reached the chains",
                                    counted(summary.round_trips, "round trip"), counted(num_chains, "chain")),
                        "run longer, or with other rungs (sampler.tempering.rungs)"});
}

}  // namespace emomc
