#include "emomc/posterior/leave_one_out.hpp"

#include <algorithm>
#include <string>

#include "emomc/sampler/cross_validation.hpp"

namespace emomc {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 28;  // 2 GB

std::size_t count_groups(std::span<const std::size_t> groups, std::size_t num_rows) {
  if (groups.empty()) return num_rows;
  if (groups.size() != num_rows)
    throw InputError("groups has " + std::to_string(groups.size()) +
                     " elements; allowed: one for each of the " + std::to_string(num_rows) + " rows");
  std::vector<bool> seen(num_rows);
  std::size_t count = 0;
  for (const std::size_t group : groups) {
    if (group >= num_rows) throw InputError("groups: " + std::to_string(group) + " is too large a number");
    count += seen[group] ? 0 : 1;
    seen[group] = true;
  }
  if (!std::all_of(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(count),
                   [](bool is) { return is; }))
    throw InputError("groups: numbers are left out; allowed: 0 to " + std::to_string(count - 1));
  return count;
}

}  // namespace

std::vector<double> points_of(const Draws& draws, std::size_t most) {
  const DrawSet& set = draws.run.draws;
  if (draws.chains.empty() || set.num_draws == 0) throw InputError("there are no draws");
  const auto dim = static_cast<std::size_t>(draws.chains[0].header.layout.dim());
  const std::size_t all = set.num_chains() * set.num_draws, S = std::min(all, most);
  std::vector<double> points(S * dim);
  for (std::size_t s = 0; s < S; ++s)
    for (std::size_t j = 0; j < dim; ++j)
      points[s * dim + j] = set.values[(set.num_log_densities + j) * all + s * all / S];
  return points;
}

void for_each_group(const Posterior& posterior, const Draws& draws, std::span<const std::size_t> groups,
                    std::size_t most_draws, const std::function<void(std::span<const double>)>& use) {
  if (most_draws == 0) throw InputError("draws: 0 is out of range; allowed: 1 or more");
  const std::vector<double> points = points_of(draws, most_draws);
  if (!(draws.chains[0].header.layout.blocks == posterior.layout().blocks))
    throw InputError("the draws have other parameters than the posterior");
  const std::size_t num_rows = posterior.data().num_rows;
  const std::size_t num_groups = count_groups(groups, num_rows);
  const auto dim = static_cast<std::size_t>(posterior.num_parameters());
  const std::size_t S = points.size() / dim;
  if (num_groups > kMostValues / S)
    throw InputError(std::to_string(S) + " draws of " + std::to_string(num_groups) +
                     " rows or groups take more than 2 GB; allowed: fewer draws, or groups of rows");
  std::vector<double> sums(num_groups * S);  // groups x draws
  for (std::size_t s = 0; s < S; ++s) {
    const std::vector<double> rows =
        posterior.row_log_likelihoods(std::span<const double>(points).subspan(s * dim, dim));
    for (std::size_t i = 0; i < num_rows; ++i) sums[(groups.empty() ? i : groups[i]) * S + s] += rows[i];
  }
  for (std::size_t g = 0; g < num_groups; ++g) use({sums.data() + g * S, S});
}

LeaveOneOut leave_one_out(const Posterior& posterior, const Draws& draws, std::span<const std::size_t> groups,
                          std::size_t most_draws) {
  LeaveOneOut result;
  const DrawSet& set = draws.run.draws;
  result.num_draws = std::min(set.num_chains() * set.num_draws, most_draws);
  if (result.num_draws > 0) {
    const double ess = ess_bulk(set.view(1));
    result.relative_efficiency = ess > 0 ? std::min(1.0, ess / static_cast<double>(result.num_draws)) : 1.0;
  }
  for_each_group(posterior, draws, groups, most_draws, [&](std::span<const double> log_likelihood) {
    const LeftOut out = leave_out(log_likelihood, result.relative_efficiency);
    result.elpd.push_back(out.elpd);
    result.p.push_back(out.p);
    result.pareto_k.push_back(out.pareto_k);
  });
  return result;
}

}  // namespace emomc
