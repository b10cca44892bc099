#include "draw_matrix.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace emomc {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The variance of this number of independent means is known to about a third.
constexpr std::size_t kManyChains = 16;
}  // namespace

DrawMatrix::DrawMatrix(DrawsView draws) : DrawMatrix(draws.num_draws, draws.num_chains) {
  for (std::size_t c = 0; c < num_chains; ++c)
    for (std::size_t i = 0; i < num_draws; ++i) chain(c)[i] = draws(i, c);
  per_ensemble = draws.chains_per_ensemble;
  per_group = draws.chains_per_superchain;
}

bool equal_to_rounding(const double* x, std::size_t n) {
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  double least = kInfinity, most = -kInfinity;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return false;
    least = std::min(least, x[i]);
    most = std::max(most, x[i]);
  }
  return n == 0 || most - least <= kRounding * std::max(std::abs(least), std::abs(most));
}

bool is_degenerate(const DrawMatrix& draws) {
  if (draws.values.empty()) return true;
  for (double x : draws.values)
    if (!std::isfinite(x)) return true;
  return equal_to_rounding(draws.values.data(), draws.values.size());
}

bool all_chains_constant(const DrawMatrix& draws) {
  if (draws.num_draws < 2) return false;
  for (std::size_t c = 0; c < draws.num_chains; ++c)
    if (!equal_to_rounding(draws.chain(c), draws.num_draws)) return false;
  return true;
}

DrawMatrix split_chains(const DrawMatrix& draws) {
  const std::size_t half = draws.num_draws / 2;
  const std::size_t per = draws.per_ensemble;
  DrawMatrix halves(half, 2 * draws.num_chains);
  halves.per_ensemble = per;
  halves.per_group = 2 * draws.per_group;
  for (std::size_t c = 0; c < draws.num_chains; ++c) {
    const std::size_t first = 2 * (c / per) * per + c % per;
    std::copy_n(draws.chain(c), half, halves.chain(first));
    std::copy_n(draws.chain(c) + draws.num_draws - half, half, halves.chain(first + per));
  }
  return halves;
}

SortedDraws sorted_draws(const DrawMatrix& draws) {
  struct Entry {
    double value;
    std::size_t place;
  };
  std::vector<Entry> entries(draws.values.size());
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {draws.values[i], i};
  boost::sort::pdqsort_branchless(entries.begin(), entries.end(),
                                  [](const Entry& a, const Entry& b) { return a.value < b.value; });
  SortedDraws sorted;
  sorted.values.reserve(entries.size());
  sorted.places.reserve(entries.size());
  for (const Entry& entry : entries) {
    sorted.values.push_back(entry.value);
    sorted.places.push_back(entry.place);
  }
  return sorted;
}

SortedDraws folded(const SortedDraws& sorted, double centre) {
  SortedDraws result;
  const auto n = sorted.values.size();
  result.values.reserve(n);
  result.places.reserve(n);
  // Distances increase on both sides of the centre, so both sides are merged.
  auto above = static_cast<std::size_t>(std::lower_bound(sorted.values.begin(), sorted.values.end(), centre) -
                                        sorted.values.begin());
  std::size_t below = above;
  while (below > 0 || above < n) {
    const double left = below > 0 ? std::abs(sorted.values[below - 1] - centre) : kInfinity;
    const double right = above < n ? std::abs(sorted.values[above] - centre) : kInfinity;
    const std::size_t next = below > 0 && (above == n || left < right) ? --below : above++;
    result.values.push_back(std::min(left, right));
    result.places.push_back(sorted.places[next]);
  }
  return result;
}

namespace {

double normal_score(double rank, std::size_t n) {
  const double p = (rank - 0.375) / (static_cast<double>(n) + 0.25);
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p);
}

// Normal scores of the ranks 1 .. n, cached for the next quantity with the same number of draws.
const std::vector<double>& normal_scores(std::size_t n) {
  thread_local std::vector<double> scores;
  if (scores.size() != n) {
    scores.resize(n);
    for (std::size_t i = 0; i < n; ++i) scores[i] = normal_score(static_cast<double>(i + 1), n);
  }
  return scores;
}

}  // namespace

DrawMatrix rank_normalized(const DrawMatrix& draws, const SortedDraws& sorted) {
  const std::size_t n = draws.values.size();
  const std::vector<double>& of_rank = normal_scores(n);
  DrawMatrix scores(draws.num_draws, draws.num_chains);
  scores.per_ensemble = draws.per_ensemble;
  scores.per_group = draws.per_group;
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && sorted.values[end] == sorted.values[begin]) ++end;
    const double z =
        end == begin + 1 ? of_rank[begin] : normal_score(0.5 * static_cast<double>(begin + 1 + end), n);
    for (std::size_t i = begin; i < end; ++i) scores.values[sorted.places[i]] = z;
    begin = end;
  }
  return scores;
}

DrawMatrix rank_normalized(const DrawMatrix& draws) { return rank_normalized(draws, sorted_draws(draws)); }

double sorted_quantile(const std::vector<double>& sorted, double probability) {
  const double h = static_cast<double>(sorted.size() - 1) * probability;
  const auto below = static_cast<std::size_t>(std::floor(h));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (h - std::floor(h)) * (sorted[above] - sorted[below]);
}

namespace {

double mean_of(const double* x, std::size_t n) {
  return std::accumulate(x, x + n, 0.0) / static_cast<double>(n);
}

double variance_of(const double* x, std::size_t n) {
  // Equal values are treated separately, because rounding errors would give a variance above 0.
  if (std::all_of(x, x + n, [&](double value) { return value == *x; })) return 0;
  const double mean = mean_of(x, n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += (x[i] - mean) * (x[i] - mean);
  return sum / static_cast<double>(n - 1);
}
double variance_of(const std::vector<double>& x) { return variance_of(x.data(), x.size()); }

}  // namespace

double basic_rhat(const DrawMatrix& draws) {
  if (draws.per_ensemble > 1) {
    // The draws of an ensemble's chains are contiguous. R-hat is also computed from single chains, because a
    // chain that has not converged is only a small share of its ensemble.
    DrawMatrix ensembles = draws, alone = draws;
    ensembles.num_draws *= draws.per_ensemble;
    ensembles.num_chains /= draws.per_ensemble;
    ensembles.per_ensemble = alone.per_ensemble = 1;
    return std::max(basic_rhat(ensembles), basic_rhat(alone));
  }
  if (is_degenerate(draws) || draws.num_draws < 2 || draws.num_chains < 2)
    return std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<double>(draws.num_draws);
  std::vector<double> means;
  double within = 0;
  for (std::size_t c = 0; c < draws.num_chains; ++c) {
    means.push_back(mean_of(draws.chain(c), draws.num_draws));
    within += variance_of(draws.chain(c), draws.num_draws) / static_cast<double>(draws.num_chains);
  }
  const double between = n * variance_of(means);
  return std::sqrt((between / within + n - 1) / n);
}

namespace {

double ess_of_ensembles(const DrawMatrix& draws) {
  const std::size_t per = draws.per_ensemble;
  DrawMatrix means(draws.num_draws, draws.num_chains / per);
  means.per_group = draws.per_group;
  for (std::size_t c = 0; c < draws.num_chains; ++c)
    for (std::size_t i = 0; i < draws.num_draws; ++i)
      means.chain(c / per)[i] += draws.chain(c)[i] / static_cast<double>(per);
  return basic_ess(means) * variance_of(draws.values) / variance_of(means.values);
}

// Estimates the ESS from the variance of the means of independent groups of chains; `variance` is that of a
// draw.
double ess_between(const DrawMatrix& draws, double variance) {
  std::vector<double> means;
  const std::size_t size = draws.per_group * draws.num_draws;
  for (std::size_t begin = 0; begin + size <= draws.values.size(); begin += size)
    means.push_back(mean_of(draws.values.data() + begin, size));
  return static_cast<double>(means.size()) * variance / variance_of(means);
}

}  // namespace

// Computes the ESS by Geyer's initial monotone sequence over the combined autocorrelations; follows
// posterior:::.ess step by step.
double basic_ess(const DrawMatrix& draws) {
  if (is_degenerate(draws) || draws.num_draws < 3) return std::numeric_limits<double>::quiet_NaN();
  if (draws.per_ensemble > 1) return ess_of_ensembles(draws);
  const std::size_t n = draws.num_draws;
  const auto num_chains = static_cast<double>(draws.num_chains);
  Autocovariances covariance(draws);
  std::vector<double> means;
  for (std::size_t c = 0; c < draws.num_chains; ++c) means.push_back(mean_of(draws.chain(c), n));
  const double within = covariance.at(0) * static_cast<double>(n) / static_cast<double>(n - 1);
  double total = covariance.at(0);
  if (draws.num_chains > 1) total += variance_of(means);
  const auto correlation = [&](std::size_t lag) { return 1 - (within - covariance.at(lag)) / total; };

  std::vector<double> rho(n, 0.0);
  double even = 1, odd = correlation(1);
  rho[0] = even;
  rho[1] = odd;
  std::size_t t = 0;
  while (t + 5 < n && even + odd > 0) {
    t += 2;
    even = correlation(t);
    odd = correlation(t + 1);
    if (even + odd >= 0) {
      rho[t] = even;
      rho[t + 1] = odd;
    }
  }
  const std::size_t last = t;
  const bool dies_out = even + odd <= 0;
  if (even > 0) rho[last] = even;  // this term matters for antithetic chains
  for (t = 0; t + 4 <= last;) {
    t += 2;
    if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1]) rho[t] = rho[t + 1] = (rho[t - 2] + rho[t - 1]) / 2;
  }
  const double size = num_chains * static_cast<double>(n);
  double tau = -1 + rho[last];
  for (std::size_t i = 0; i < last; ++i) tau += 2 * rho[i];
  if (last == 0) tau = 2;  // like posterior if there are no lags to add
  const double most = size * std::log10(size);
  const double ess = tau > 0 ? std::min(size / tau, most) : most;
  const auto groups = draws.num_chains / draws.per_group;
  if (dies_out || groups < 2) return ess;
  const double between = std::min(ess_between(draws, total), most);
  return groups < kManyChains ? std::min(ess, between) : between;
}

}  // namespace emomc
