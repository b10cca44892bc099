#include "emomc/posterior/start_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "emomc/posterior/text_table.hpp"

namespace emomc {
namespace {

std::string chains_text(const std::vector<int>& chains) {
  constexpr std::size_t kNamed = 8;
  std::string text = chains.size() == 1 ? "chain" : "chains";
  for (std::size_t i = 0; i < chains.size() && i < kNamed; ++i) text += fmt::format(" {}", chains[i]);
  if (chains.size() > kNamed) text += fmt::format(" and {} more", chains.size() - kNamed);
  return text;
}

std::string empty_text(const StartReport::Place& place) {
  if (place.num_empty == 0) return "";
  return " with " + counted(static_cast<std::size_t>(place.num_empty), "component") + " without rows";
}

}  // namespace

bool is_lost(double share, double num_draws, double num_followed) {
  constexpr double kOverestimated = 3, kRate = 0.01;
  constexpr double kMostFollowed = 1e6;  // the number may come from an untrusted file
  if (!(num_draws <= num_followed && num_followed <= kMostFollowed)) return false;
  const double p = share / kOverestimated;
  double cumulative = 0;  // cumulative probability of the binomial distribution
  for (double k = 0; k <= num_draws && cumulative < kRate; ++k)
    cumulative +=
        std::exp(std::lgamma(num_followed + 1) - std::lgamma(k + 1) - std::lgamma(num_followed - k + 1) +
                 k * std::log(p) + (num_followed - k) * std::log1p(-p));
  return cumulative < kRate;
}

bool is_lost(const StartReport::Place& place, std::size_t num_followed) {
  const auto draws = static_cast<double>(place.num_draws);
  if (place.num_examined > 0)
    return is_lost(place.share * place.recognised, draws, static_cast<double>(place.num_examined));
  // A single draw shows that the chains have not lost the optimum. R-hat judges how often the chains are
  // there, since the approximate masses of optima that are not far apart may be wrong by more than a factor
  // of three.
  return place.num_draws == 0 && is_lost(place.share, 0, static_cast<double>(num_followed));
}

std::vector<std::string> describe_lost(const StartReport& r) {
  std::vector<std::string> lines;
  for (const auto& place : r.optima)
    if (is_lost(place, r.num_followed))
      lines.push_back(fmt::format(
          "starts: {} of {} draws are near the optimum of log posterior {:.2f}{}, which has about "
          "{:.2g} % of the posterior mass: the run has lost this mode",
          place.num_draws == 0 ? "none" : fmt::format("only {}", place.num_draws),
          place.num_examined > 0 ? place.num_examined : r.num_followed, place.log_posterior,
          empty_text(place), 100 * place.share));
  return lines;
}

StartLines describe(const StartReport& r) {
  StartLines lines;
  if (!r.renumbered.empty()) lines.said.push_back("starts: " + r.renumbered);
  if (r.optima.empty()) return lines;
  lines.said.push_back(fmt::format(
      "starts: {}, {} of at least 1 % of the posterior mass{}", counted(r.num_fits, "short fit"),
      counted(r.optima.size(), "optimum", "optima"), r.optima.size() == 1 ? "" : " (approximated)"));
  for (const auto& place : r.optima) {
    std::string text = fmt::format("log posterior {:.2f}{}, {:.3g} % of the mass", place.log_posterior,
                                   empty_text(place), 100 * place.share);
    if (place.num_empty == 0)
      text += fmt::format(", reached by {} of {}", place.num_fits, counted(r.num_fits, "fit"));
    if (place.chains.empty())
      lines.warned.push_back("starts: no chain for the optimum of " + text +
                             "; use more chains to start one there");
    else
      lines.said.push_back("starts: " + chains_text(place.chains) + " at " + text);
  }
  const bool all_degenerate = r.num_fits > 0 && r.num_degenerate == r.num_fits;
  if (r.only_degenerate || all_degenerate)
    lines.warned.push_back(
        fmt::format("starts: every fit has a scale at its floor or a component of too few rows; the chains "
                    "start {}. Fewer "
                    "components, or priors that keep scales off zero, suit these data better",
                    r.only_degenerate ? "at the best of these" : "where components are empty"));
  else if (r.num_degenerate > 0)
    lines.said.push_back(
        fmt::format("starts: {} degenerate (a scale at its floor, or a component of fewer rows than "
                    "columns + 2) and not used; the best of them has log posterior {:.2f}",
                    counted(r.num_degenerate, "fit is", "fits are"), r.best_degenerate));
  return lines;
}

nlohmann::ordered_json to_json(const StartReport& r) {
  nlohmann::ordered_json json{{"init", r.init}, {"points", r.num_points}};
  if (!r.renumbered.empty()) json["renumbered"] = r.renumbered;
  if (r.optima.empty()) return json;
  json["fits"] = r.num_fits;
  json["degenerate_fits"] = r.num_degenerate;
  json["only_degenerate"] = r.only_degenerate;
  json["optima"] = nlohmann::ordered_json::array();
  for (const auto& place : r.optima) {
    json["optima"].push_back({{"log_posterior", place.log_posterior},
                              {"share", place.share},
                              {"fits", place.num_fits},
                              {"chains", place.chains}});
    if (place.num_empty > 0) json["optima"].back()["empty_components"] = place.num_empty;
  }
  return json;
}

StartReport start_report_of(const nlohmann::ordered_json& json) {
  StartReport report;
  if (!json.is_object()) return report;
  const auto optima = json.find("optima");
  if (optima == json.end() || !optima->is_array()) return report;
  for (const auto& optimum : *optima) {
    if (!optimum.is_object()) return {};
    const auto height = optimum.find("log_posterior"), share = optimum.find("share");
    if (height == optimum.end() || share == optimum.end() || !height->is_number() || !share->is_number())
      return {};
    report.optima.push_back({height->get<double>(), share->get<double>(), 0, {}});
    if (const auto empty = optimum.find("empty_components");
        empty != optimum.end() && empty->is_number_integer())
      report.optima.back().num_empty =
          static_cast<int>(std::clamp<std::int64_t>(empty->get<std::int64_t>(), 0, 4096));
  }
  return report;
}

void add_followed(const StartReport& report, nlohmann::ordered_json& json) {
  if (report.num_followed == 0) return;
  json["followed_draws"] = report.num_followed;
  for (std::size_t i = 0; i < report.optima.size(); ++i) {
    const StartReport::Place& place = report.optima[i];
    json["optima"][i]["draws"] = place.num_draws;
    if (place.num_examined == 0) continue;
    json["optima"][i]["examined_draws"] = place.num_examined;
    json["optima"][i]["recognised"] = place.recognised;
  }
}

void remove_followed(nlohmann::ordered_json& json) {
  if (!json.is_object()) return;
  json.erase("followed_draws");
  if (const auto optima = json.find("optima"); optima != json.end() && optima->is_array())
    for (auto& optimum : *optima)
      if (optimum.is_object())
        for (const char* key : {"draws", "examined_draws", "recognised"}) optimum.erase(key);
}

}  // namespace emomc
