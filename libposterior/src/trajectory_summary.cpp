#include "emomc/posterior/trajectory_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "emomc/posterior/text_table.hpp"

namespace emomc {
namespace {

constexpr double kLeastBfmi = 0.3;           // threshold of Stan's warning
constexpr std::size_t kFewestForBfmi = 100;  // minimum number of draws of a chain
constexpr double kAcceptanceBelowTarget = 0.15;
constexpr double kShareOfDeepest = 0.01;

double bfmi(const DrawStatistics* draws, std::size_t count) {
  if (count < kFewestForBfmi) return std::numeric_limits<double>::quiet_NaN();
  double mean = 0, variance = 0, differences = 0;
  for (std::size_t i = 0; i < count; ++i) mean += draws[i].energy / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    variance += (draws[i].energy - mean) * (draws[i].energy - mean);
    if (i > 0) differences += std::pow(draws[i].energy - draws[i - 1].energy, 2);
  }
  return differences / variance;
}

}  // namespace

TrajectorySummaryOfRun summarize_trajectories(const DrawSet& draws) {
  TrajectorySummaryOfRun summary;
  if (draws.statistics.empty()) return summary;
  summary.num_draws = draws.statistics.size();
  const auto all = static_cast<double>(summary.num_draws);
  summary.lowest_acceptance = 1;
  summary.lowest_bfmi = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < draws.num_chains(); ++c) {
    const DrawStatistics* chain = draws.statistics.data() + c * draws.num_draws;
    double acceptance = 0;
    for (std::size_t i = 0; i < draws.num_draws; ++i) {
      acceptance += chain[i].acceptance;
      summary.mean_leapfrogs += chain[i].num_leapfrogs;
      summary.mean_step_size += chain[i].step_size;
      summary.num_divergent += chain[i].divergent != 0 ? 1 : 0;
      summary.num_deepest += chain[i].tree_depth == device::kMostDoublings ? 1 : 0;
    }
    summary.acceptance += acceptance / all;
    acceptance /= static_cast<double>(draws.num_draws);
    summary.lowest_acceptance = std::min(summary.lowest_acceptance, acceptance);
    summary.highest_acceptance = std::max(summary.highest_acceptance, acceptance);
    const double of_chain = bfmi(chain, draws.num_draws);
    if (!(of_chain >= summary.lowest_bfmi)) summary.lowest_bfmi = of_chain;
  }
  summary.mean_leapfrogs /= all;
  summary.mean_step_size /= all;
  return summary;
}

std::string describe(const TrajectorySummaryOfRun& summary) {
  if (summary.num_draws == 0) return "";
  std::string text = fmt::format("step size {:.3g}, {:.1f} leapfrogs a draw, {}", summary.mean_step_size,
                                 summary.mean_leapfrogs, counted(summary.num_divergent, "divergence"));
  if (summary.num_deepest > 0)
    text += fmt::format(", {} at the greatest tree depth", counted(summary.num_deepest, "draw"));
  return text;
}

nlohmann::ordered_json to_json(const TrajectorySummaryOfRun& summary) {
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
  };
  return {{"step_size", summary.mean_step_size},  {"leapfrogs_per_draw", summary.mean_leapfrogs},
          {"divergences", summary.num_divergent}, {"draws_at_greatest_depth", summary.num_deepest},
          {"acceptance", summary.acceptance},     {"lowest_bfmi", number(summary.lowest_bfmi)}};
}

void check_trajectories(const DrawSet& draws, double target_acceptance, std::vector<Finding>& findings) {
  const TrajectorySummaryOfRun summary = summarize_trajectories(draws);
  if (summary.num_draws == 0) return;
  const auto all = static_cast<double>(summary.num_draws);
  if (static_cast<double>(summary.num_deepest) > kShareOfDeepest * all)
    findings.push_back(
        {Severity::warning, "tree_depth",
         fmt::format("{} of {} trees had the greatest depth, {} doublings", summary.num_deepest,
                     summary.num_draws, device::kMostDoublings),
         "the posterior is much wider in some directions than in others: sampler.proposal.shape: dense, or a "
         "longer warm-up"});
  if (summary.lowest_bfmi < kLeastBfmi)
    findings.push_back(
        {Severity::warning, "energy",
         fmt::format("the energies of a chain hardly mix: E-BFMI is {:.2f}, and {} or more is "
                     "expected",
                     summary.lowest_bfmi, kLeastBfmi),
         "tails are heavy: another parameterisation of the model, or priors with lighter ones"});
  if (target_acceptance > 0 && summary.acceptance < target_acceptance - kAcceptanceBelowTarget)
    findings.push_back({Severity::warning, "acceptance",
                        fmt::format("the mean acceptance of the trajectories is {:.2f}, the target {:.2f}",
                                    summary.acceptance, target_acceptance),
                        "a longer warm-up fits the step size to this posterior"});
}

}  // namespace emomc
