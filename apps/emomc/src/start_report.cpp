#include "start_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace emomc::app {
namespace {

std::string chains_text(const std::vector<int>& chains) {
  constexpr std::size_t kNamed = 8;
  std::string text = chains.size() == 1 ? "chain" : "chains";
  for (std::size_t i = 0; i < chains.size() && i < kNamed; ++i) text += fmt::format(" {}", chains[i]);
  if (chains.size() > kNamed) text += fmt::format(" and {} more", chains.size() - kNamed);
  return text;
}

}  // namespace

bool is_lost(double share, double num_draws, double num_followed) {
  constexpr double kOverestimated = 3, kLogOfRate = -4.605;  // log(0.01)
  return num_draws == 0 && num_followed * std::log1p(-share / kOverestimated) < kLogOfRate;
}

std::vector<std::string> describe_lost(const StartReport& r) {
  std::vector<std::string> lines;
  for (const auto& place : r.optima)
    if (is_lost(place.share, static_cast<double>(place.num_draws), static_cast<double>(r.num_followed)))
      lines.push_back(
          fmt::format("starts: none of {} draws is near the optimum of log posterior {:.2f}, which has about "
                      "{:.2g} % of the "
                      "posterior mass: the run has lost this mode",
                      r.num_followed, place.log_posterior, 100 * place.share));
  return lines;
}

StartLines describe(const StartReport& r) {
  StartLines lines;
  if (!r.renumbered.empty()) lines.said.push_back("starts: " + r.renumbered);
  if (r.optima.empty()) return lines;
  lines.said.push_back(fmt::format("starts: {} short fits, {} {} of at least 1 % of the posterior mass{}",
                                   r.num_fits, r.optima.size(), r.optima.size() == 1 ? "optimum" : "optima",
                                   r.optima.size() == 1 ? "" : " (approximated)"));
  for (const auto& place : r.optima) {
    const std::string text =
        fmt::format("log posterior {:.2f}, {:.3g} % of the mass, reached by {} of {} fits",
                    place.log_posterior, 100 * place.share, place.num_fits, r.num_fits);
    if (place.chains.empty())
      lines.warned.push_back("starts: no chain for the optimum of " + text + "; more chains reach it");
    else
      lines.said.push_back("starts: " + chains_text(place.chains) + " at " + text);
  }
  if (r.only_degenerate)
    lines.warned.push_back(
        "starts: every fit has a scale at its floor or a component of too few rows; the chains start at the "
        "best "
        "of these. Fewer components, or priors that keep scales off zero, suit these data better");
  else if (r.num_degenerate > 0)
    lines.said.push_back(
        fmt::format("starts: {} fits are degenerate (a scale at its floor, or a component of fewer rows than "
                    "columns + 2) and "
                    "set apart; the best has log posterior {:.2f}",
                    r.num_degenerate, r.best_degenerate));
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
  for (const auto& place : r.optima)
    json["optima"].push_back({{"log_posterior", place.log_posterior},
                              {"share", place.share},
                              {"fits", place.num_fits},
                              {"chains", place.chains}});
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
    report.optima.push_back({height->get<double>(), share->get<double>(), 0, {}, 0});
  }
  return report;
}

void add_followed(const StartReport& report, nlohmann::ordered_json& json) {
  if (report.num_followed == 0) return;
  json["followed_draws"] = report.num_followed;
  for (std::size_t i = 0; i < report.optima.size(); ++i)
    json["optima"][i]["draws"] = report.optima[i].num_draws;
}

void remove_followed(nlohmann::ordered_json& json) {
  if (!json.is_object()) return;
  json.erase("followed_draws");
  if (const auto optima = json.find("optima"); optima != json.end() && optima->is_array())
    for (auto& optimum : *optima)
      if (optimum.is_object()) optimum.erase("draws");
}

}  // namespace emomc::app
