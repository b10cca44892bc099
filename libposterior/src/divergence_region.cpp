#include "divergence_region.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace emomc {
namespace {

constexpr double kFalseAlarms = 1e-3;  // of all quantities together
constexpr std::size_t kFewest = 6;     // episodes
// The mean rank of a region lies at least this far from the middle. In the non-centred eight schools, whose
// posterior is reached, divergences have a mean rank of 0.44 in tau; in the centred form 0.1.
constexpr double kFromMiddle = 0.25;

// Ranks of some values among all values, from 0 to 1; of equal values, the middle. Only the chosen values are
// sorted, which are few.
class RanksOf {
 public:
  RanksOf(std::vector<double> chosen, const double* all, std::size_t num_all)
      : chosen_(std::move(chosen)),
        num_below_(chosen_.size() + 1, 0),
        num_not_above_(chosen_.size() + 1, 0),
        num_all_(num_all) {
    std::sort(chosen_.begin(), chosen_.end());
    for (std::size_t i = 0; i < num_all; ++i) {
      const auto [not_below, above] = std::equal_range(chosen_.begin(), chosen_.end(), all[i]);
      ++num_not_above_[static_cast<std::size_t>(not_below - chosen_.begin())];
      ++num_below_[static_cast<std::size_t>(above - chosen_.begin())];
    }
    std::partial_sum(num_below_.begin(), num_below_.end(), num_below_.begin());
    std::partial_sum(num_not_above_.begin(), num_not_above_.end(), num_not_above_.begin());
  }
  /// The rank of one of the chosen values.
  double operator()(double value) const {
    const auto at =
        static_cast<std::size_t>(std::lower_bound(chosen_.begin(), chosen_.end(), value) - chosen_.begin());
    return 0.5 * static_cast<double>(num_below_[at] + num_not_above_[at]) / static_cast<double>(num_all_);
  }

 private:
  std::vector<double> chosen_;
  std::vector<std::size_t> num_below_, num_not_above_;  ///< of each chosen value
  std::size_t num_all_;
};

// The mean rank of each episode of divergent draws in quantity q.
std::vector<double> ranks_of_episodes(const Inspection& run, std::size_t q) {
  const DrawSet& draws = run.draws;
  const std::size_t all = draws.num_draws * draws.num_chains();
  const double* const x = draws.values.data() + q * all;
  std::vector<double> divergent;
  for (std::size_t i = 0; i < all; ++i)
    if (draws.statistics[i].divergent != 0) divergent.push_back(x[i]);
  const RanksOf rank(std::move(divergent), x, all);
  const double apart = static_cast<double>(all) / std::max(1.0, run.summaries[q].ess_bulk);
  std::vector<double> episodes;
  for (std::size_t c = 0; c < draws.num_chains(); ++c) {
    double sum = 0;
    std::size_t count = 0, last = 0;
    const auto close = [&] {
      if (count > 0) episodes.push_back(sum / static_cast<double>(count));
      sum = 0;
      count = 0;
    };
    for (std::size_t i = 0; i < draws.num_draws; ++i) {
      if (draws.statistics[c * draws.num_draws + i].divergent == 0) continue;
      if (count > 0 && static_cast<double>(i - last) > apart) close();
      sum += rank(x[c * draws.num_draws + i]);
      count += 1;
      last = i;
    }
    close();
  }
  return episodes;
}

}  // namespace

std::optional<DivergenceRegion> region_of_divergences(const Inspection& run) {
  const DrawSet& draws = run.draws;
  const auto is_divergent = [](const DrawStatistics& draw) { return draw.divergent != 0; };
  if (static_cast<std::size_t>(
          std::count_if(draws.statistics.begin(), draws.statistics.end(), is_divergent)) < kFewest)
    return {};
  std::optional<DivergenceRegion> found;
  double least = kFalseAlarms / static_cast<double>(std::max<std::size_t>(1, run.num_judged));
  for (std::size_t q = draws.num_log_densities; q < draws.num_quantities(); ++q) {
    if (!run.is_judged(q)) continue;
    const std::vector<double> episodes = ranks_of_episodes(run, q);
    if (episodes.size() < kFewest) continue;
    const auto count = static_cast<double>(episodes.size());
    double mean = 0;
    for (const double rank : episodes) mean += rank / count;
    if (std::abs(mean - 0.5) < kFromMiddle) continue;
    const double z = std::abs(mean - 0.5) * std::sqrt(12 * count);
    const double chance = std::erfc(z / std::sqrt(2.0));  // two-sided
    if (!(chance < least)) continue;
    least = chance;
    found = {q, mean, episodes.size()};
  }
  return found;
}

}  // namespace emomc
