#include "emomc/posterior/stacking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "emomc/posterior/leave_one_out.hpp"
#include "emomc/posterior/quantity_labels.hpp"
#include "emomc/sampler/cross_validation.hpp"

namespace emomc {
namespace {

constexpr double kGoodShape = 0.7;  // threshold of Pareto k; Vehtari et al. 2024
constexpr std::size_t kFewGroups = 10, kFewDraws = 100;

std::size_t count_clusters(const std::vector<std::size_t>& clusters, std::size_t num_chains) {
  if (clusters.size() != num_chains)
    throw InputError(fmt::format("clusters: {} numbers for {}; allowed: one for each", clusters.size(),
                                 counted(num_chains, "chain")));
  std::vector<bool> seen(num_chains);
  std::size_t count = 0;
  for (const std::size_t cluster : clusters) {
    if (cluster < num_chains) seen[cluster] = true;
    count = std::max(count, cluster + 1);
  }
  if (count > num_chains || std::find(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(count),
                                      false) != seen.begin() + static_cast<std::ptrdiff_t>(count))
    throw InputError("clusters: numbers are left out; allowed: 0, 1 and so on without gaps");
  return count;
}

std::string chains_text(const StackedCluster& cluster) {
  std::vector<std::string> names;
  for (const std::size_t chain : cluster.chains) names.push_back(std::to_string(chain));
  return (names.size() == 1 ? "chain " : "chains ") + joined(names);
}

// The least value at which the cumulative weight of the sorted values reaches `share`.
double weighted_quantile(const std::vector<std::pair<double, double>>& sorted, double share) {
  constexpr double kRounding = 1e-12;
  double sum = 0;
  for (const auto& [value, weight] : sorted) {
    sum += weight;
    if (sum >= share - kRounding) return value;
  }
  return sorted.back().first;
}

StackedRow stacked_row(const Inspection& run, std::span<const double> chain_weights, std::size_t quantity) {
  const DrawSet& draws = run.draws;
  const DrawsView view = draws.view(quantity);
  StackedRow row{draws.names[quantity], run.quantity_labels[quantity]};
  std::vector<std::pair<double, double>> values;
  for (std::size_t c = 0; c < draws.num_chains(); ++c)
    for (std::size_t i = 0; i < draws.num_draws && chain_weights[c] > 0; ++i) {
      values.emplace_back(view(i, c), chain_weights[c] / static_cast<double>(draws.num_draws));
      row.mean += values.back().second * values.back().first;
    }
  for (const auto& [value, weight] : values) row.sd += weight * (value - row.mean) * (value - row.mean);
  row.sd = std::sqrt(row.sd);
  std::sort(values.begin(), values.end());
  row.q5 = weighted_quantile(values, 0.05);
  row.q50 = weighted_quantile(values, 0.5);
  row.q95 = weighted_quantile(values, 0.95);
  return row;
}

}  // namespace

StackingScores::StackingScores(const DrawSet& draws, std::vector<std::size_t> clusters,
                               std::size_t draws_per_chain)
    : clusters_(std::move(clusters)), draws_of_chain_(std::min(draws_per_chain, draws.num_draws)) {
  const std::size_t num_chains = draws.num_chains(), num_draws = draws.num_draws;
  if (num_chains == 0 || num_draws == 0) throw InputError("there are no draws");
  if (draws_per_chain == 0) throw InputError("draws: 0 is out of range; allowed: 1 or more");
  if (clusters_.empty()) {
    clusters_.resize(num_chains);
    std::iota(clusters_.begin(), clusters_.end(), std::size_t{0});
  }
  num_clusters_ = count_clusters(clusters_, num_chains);
  scores_.resize(num_clusters_);
  for (std::size_t c = 0; c < num_chains; ++c) scores_[clusters_[c]].chains.push_back(c);
  const auto of_chain = [&](std::size_t quantity, std::size_t c) {
    return std::span<const double>(draws.values).subspan((quantity * num_chains + c) * num_draws, num_draws);
  };
  constexpr std::size_t kLogDensity = 0, kLogLikelihood = 1;
  for (StackedCluster& cluster : scores_) {
    std::vector<double> log_likelihood;
    cluster.worst_k = -std::numeric_limits<double>::infinity();
    for (const std::size_t c : cluster.chains) {
      const auto density = of_chain(kLogDensity, c), likelihood = of_chain(kLogLikelihood, c);
      cluster.mean_log_density += std::accumulate(density.begin(), density.end(), 0.0);
      log_likelihood.insert(log_likelihood.end(), likelihood.begin(), likelihood.end());
    }
    cluster.mean_log_density /= static_cast<double>(log_likelihood.size());
    const double ess = ess_bulk({log_likelihood.data(), num_draws, cluster.chains.size(), 1,
                                 static_cast<std::ptrdiff_t>(num_draws)}),
                 used = static_cast<double>(cluster.chains.size() * draws_of_chain_);
    efficiency_.push_back(ess > 0 ? std::min(1.0, ess / used) : 1.0);
  }
}

void StackingScores::add(std::span<const double> log_likelihood) {
  std::vector<double> values;
  for (std::size_t k = 0; k < num_clusters_; ++k) {
    StackedCluster& cluster = scores_[k];
    values.clear();
    for (const std::size_t c : cluster.chains) {
      const auto of_chain = log_likelihood.subspan(c * draws_of_chain_, draws_of_chain_);
      values.insert(values.end(), of_chain.begin(), of_chain.end());
    }
    const LeftOut out = leave_out(values, efficiency_[k]);
    elpd_.push_back(out.elpd);
    cluster.elpd += out.elpd;
    cluster.p += out.p;
    cluster.num_bad += out.pareto_k > kGoodShape ? 1 : 0;
    cluster.worst_k = std::max(cluster.worst_k, out.pareto_k);
  }
}

Stacking StackingScores::result(double concentration) const {
  Stacking stacking;
  stacking.clusters = scores_;
  stacking.num_groups = elpd_.size() / num_clusters_;
  stacking.num_draws = num_draws();
  const StackingWeights found = stacking_weights(elpd_, num_clusters_, concentration);
  stacking.elpd = found.elpd;
  stacking.gap = found.gap;
  stacking.chain_weights.resize(clusters_.size());
  for (std::size_t k = 0; k < num_clusters_; ++k) {
    StackedCluster& cluster = stacking.clusters[k];
    cluster.weight = found.weights[k];
    for (const std::size_t c : cluster.chains)
      stacking.chain_weights[c] = cluster.weight / static_cast<double>(cluster.chains.size());
  }
  for (std::size_t i = 0; i < stacking.num_groups; ++i) {
    const auto of_group = std::span<const double>(elpd_).subspan(i * num_clusters_, num_clusters_);
    const double top = *std::max_element(of_group.begin(), of_group.end());
    double sum = 0;
    for (const double value : of_group) sum += std::exp(value - top);
    stacking.elpd_of_equal_weights += top + std::log(sum / static_cast<double>(num_clusters_));
  }
  for (const StackedCluster& cluster : stacking.clusters)
    if (cluster.num_bad > 0)
      stacking.warnings.push_back(
          fmt::format("{}: Pareto k above {} for {} of {} ({:.2f} at worst): leaving these out changes the "
                      "draws too much "
                      "for importance sampling, and its weight of {:.3f} is not to be relied on",
                      chains_text(cluster), kGoodShape, cluster.num_bad, stacking.num_groups, cluster.worst_k,
                      cluster.weight));
  if (stacking.num_groups < kFewGroups)
    stacking.warnings.push_back(
        fmt::format("{} that are left out are few for an estimate of weights",
                    counted(stacking.num_groups, "row or group of rows", "rows or groups of rows")));
  if (draws_of_chain_ < kFewDraws)
    stacking.warnings.push_back(
        fmt::format("{} of each chain are few for importance sampling", counted(draws_of_chain_, "draw")));
  // The expected gain from the choice of weights if equal weights are right: twice the gain has a chi-squared
  // distribution.
  const double by_chance = 0.5 * static_cast<double>(num_clusters_ - 1);
  if (num_clusters_ > 1 && stacking.elpd - stacking.elpd_of_equal_weights <= by_chance)
    stacking.warnings.push_back(fmt::format(
        "equal weights predict as well (elpd {:.2f}, with these weights {:.2f}, of which {:.1f} is "
        "gained by chance): the weights carry little information",
        stacking.elpd_of_equal_weights, stacking.elpd, by_chance));
  return stacking;
}

Stacking stack(const Posterior& posterior, const Draws& draws, const StackOptions& options) {
  StackingScores scores(draws.run.draws, options.clusters, options.draws_per_chain);
  for_each_group(posterior, draws, options.groups, scores.num_draws(),
                 [&](std::span<const double> values) { scores.add(values); });
  return scores.result(options.concentration);
}

std::vector<StackedRow> stacked_summary(const Inspection& run, std::span<const double> chain_weights,
                                        const std::vector<std::string>& patterns) {
  const DrawSet& draws = run.draws;
  if (draws.num_draws == 0) throw InputError("there are no draws");
  if (chain_weights.size() != draws.num_chains())
    throw InputError(fmt::format("weights: {} for {}; allowed: one for each", chain_weights.size(),
                                 counted(draws.num_chains(), "chain")));
  std::vector<StackedRow> rows;
  for (std::size_t q = 0; q < draws.num_quantities(); ++q)
    if (patterns.empty() || is_selected(draws.names[q], run.quantity_labels[q], patterns))
      rows.push_back(stacked_row(run, chain_weights, q));
  if (rows.empty()) throw InputError("no quantity matches " + joined(patterns));
  return rows;
}

const char* stacking_caveat() {
  return "weights by which the chains' draws predict best, not the posterior's mass in their modes: a cheap "
         "approximation; sampler.tempering.rungs gives draws of the posterior";
}

}  // namespace emomc
