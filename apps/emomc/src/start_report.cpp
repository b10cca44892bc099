#include "start_report.hpp"

#include <fmt/format.h>

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

}  // namespace emomc::app
