#include "emomc/sampler/diagnostics.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "draw_matrix.hpp"

namespace emomc {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double mean_of(const DrawMatrix& draws) {
  return std::accumulate(draws.values.begin(), draws.values.end(), 0.0) /
         static_cast<double>(draws.values.size());
}

double sd_of(const DrawMatrix& draws) {
  const double mean = mean_of(draws);
  double sum = 0;
  for (double x : draws.values) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(draws.values.size() - 1));
}

std::vector<double> sorted_values(const DrawMatrix& draws) {
  std::vector<double> sorted = draws.values;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double ess_at_most(const DrawMatrix& draws, double bound) {
  const bool is_largest =
      std::none_of(draws.values.begin(), draws.values.end(), [=](double x) { return x > bound; });
  return basic_ess(split_chains(
      transformed(draws, [=](double x) { return (is_largest ? x < bound : x <= bound) ? 1.0 : 0.0; })));
}

// The larger (smaller) of two numbers; if one is NaN, the other.
double larger(double a, double b) { return std::isnan(a) || b > a ? b : a; }
double smaller(double a, double b) { return std::isnan(a) || b < a ? b : a; }

// Returns the larger of the R-hat of the normal scores and that of the folded normal scores. `halves` are
// split chains and `sorted` their sorted draws.
double rhat_of(const DrawMatrix& halves, const SortedDraws& sorted, double median) {
  if (!is_degenerate(halves) && all_chains_constant(halves)) return std::numeric_limits<double>::infinity();
  return larger(basic_rhat(rank_normalized(halves, sorted)),
                basic_rhat(rank_normalized(halves, folded(sorted, median))));
}

double mcse_sd_of(const DrawMatrix& draws) {
  const double mean = mean_of(draws);
  const DrawMatrix squares = transformed(draws, [=](double x) { return (x - mean) * (x - mean); });
  const double second = mean_of(squares);
  const double fourth = mean_of(transformed(squares, [](double x) { return x * x; }));
  const double variance_of_variance = (fourth - second * second) / basic_ess(split_chains(squares));
  return std::sqrt(variance_of_variance / second / 4);
}

}  // namespace

double draws_mean(DrawsView draws) { return mean_of(DrawMatrix(draws)); }
double draws_sd(DrawsView draws) { return sd_of(DrawMatrix(draws)); }

double draws_quantile(DrawsView draws, double probability) {
  const DrawMatrix matrix(draws);
  if (matrix.values.empty() ||
      std::any_of(matrix.values.begin(), matrix.values.end(), [](double x) { return std::isnan(x); }))
    return kNan;
  return sorted_quantile(sorted_values(matrix), probability);
}

double rhat(DrawsView draws) {
  const DrawMatrix matrix(draws);
  if (is_degenerate(matrix)) return kNan;
  const DrawMatrix halves = split_chains(matrix);
  return rhat_of(halves, sorted_draws(halves), sorted_quantile(sorted_values(matrix), 0.5));
}
double rhat_basic(DrawsView draws) { return basic_rhat(DrawMatrix(draws)); }

double rhat_nested(DrawsView draws, std::size_t chains_per_superchain) {
  const DrawMatrix matrix(draws);
  const std::size_t per = chains_per_superchain, superchains = per ? matrix.num_chains / per : 0;
  if (is_degenerate(matrix) || superchains < 2) return kNan;
  const auto mean_and_variance = [](const double* x, std::size_t n) {
    const double mean = std::accumulate(x, x + n, 0.0) / static_cast<double>(n);
    double sum = 0;
    if (!equal_to_rounding(x, n))
      for (std::size_t i = 0; i < n; ++i) sum += (x[i] - mean) * (x[i] - mean);
    return std::pair(mean, n > 1 ? sum / static_cast<double>(n - 1) : 0.0);
  };
  std::vector<double> superchain_means;
  double within = 0;
  for (std::size_t s = 0; s < superchains; ++s) {
    std::vector<double> means;
    double within_chains = 0;
    for (std::size_t c = s * per; c < (s + 1) * per; ++c) {
      const auto [mean, variance] = mean_and_variance(matrix.chain(c), matrix.num_draws);
      means.push_back(mean);
      within_chains += variance / static_cast<double>(per);
    }
    const auto [mean, between_chains] = mean_and_variance(means.data(), per);
    superchain_means.push_back(mean);
    within += (within_chains + between_chains) / static_cast<double>(superchains);
  }
  return std::sqrt(1 + mean_and_variance(superchain_means.data(), superchains).second / within);
}

std::vector<double> autocorrelation(DrawsView draws) {
  const DrawMatrix matrix(draws);
  if (is_degenerate(matrix)) return std::vector<double>(matrix.num_draws, kNan);
  std::vector<double> rho(matrix.num_draws, 0.0);
  for (std::size_t c = 0; c < matrix.num_chains; ++c) {
    DrawMatrix one(matrix.num_draws, 1);
    std::copy_n(matrix.chain(c), matrix.num_draws, one.chain(0));
    const std::vector<double> covariance = mean_autocovariance(one);
    for (std::size_t t = 0; t < rho.size(); ++t)
      rho[t] += covariance[t] / covariance[0] / static_cast<double>(matrix.num_chains);
  }
  return rho;
}

double ess_bulk(DrawsView draws) {
  const DrawMatrix matrix(draws);
  return is_degenerate(matrix) ? kNan : basic_ess(rank_normalized(split_chains(matrix)));
}
double ess_tail(DrawsView draws) { return smaller(ess_quantile(draws, 0.05), ess_quantile(draws, 0.95)); }
double ess_mean(DrawsView draws) { return basic_ess(split_chains(DrawMatrix(draws))); }
double ess_sd(DrawsView draws) {
  const DrawMatrix matrix(draws);
  const double mean = mean_of(matrix);
  return basic_ess(split_chains(transformed(matrix, [=](double x) { return std::abs(x - mean); })));
}
double ess_quantile(DrawsView draws, double probability) {
  const DrawMatrix matrix(draws);
  if (is_degenerate(matrix)) return kNan;
  return ess_at_most(matrix, sorted_quantile(sorted_values(matrix), probability));
}
double ess_basic(DrawsView draws) { return basic_ess(DrawMatrix(draws)); }

double mcse_mean(DrawsView draws) { return draws_sd(draws) / std::sqrt(ess_mean(draws)); }
double mcse_sd(DrawsView draws) {
  const DrawMatrix matrix(draws);
  return is_degenerate(matrix) ? kNan : mcse_sd_of(matrix);
}

double mcse_quantile(DrawsView draws, double probability) {
  const DrawMatrix matrix(draws);
  const double ess = ess_quantile(draws, probability);
  if (std::isnan(ess)) return kNan;
  const auto sorted = sorted_values(matrix);
  const auto n = static_cast<double>(sorted.size());
  const double a = ess * probability + 1, b = ess * (1 - probability) + 1;
  const double low = boost::math::ibeta_inv(a, b, 0.1586553), high = boost::math::ibeta_inv(a, b, 0.8413447);
  const double first = std::max(std::floor(low * n), 1.0), last = std::min(std::ceil(high * n), n);
  return (sorted[static_cast<std::size_t>(last) - 1] - sorted[static_cast<std::size_t>(first) - 1]) / 2;
}

QuantitySummary summarize(DrawsView draws) {
  const DrawMatrix matrix(draws);
  QuantitySummary s{kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan};
  if (matrix.values.empty()) return s;
  s.mean = mean_of(matrix);
  s.sd = sd_of(matrix);
  if (std::any_of(matrix.values.begin(), matrix.values.end(), [](double x) { return !std::isfinite(x); }))
    return s;
  const DrawMatrix halves = split_chains(matrix);
  const SortedDraws sorted_halves = sorted_draws(halves);
  // Split chains lack the middle draw of an odd number of draws; the quantiles then need all draws.
  const bool is_complete = halves.values.size() == matrix.values.size();
  const std::vector<double> sorted = is_complete ? sorted_halves.values : sorted_values(matrix);
  s.q5 = sorted_quantile(sorted, 0.05);
  s.q50 = sorted_quantile(sorted, 0.5);
  s.q95 = sorted_quantile(sorted, 0.95);
  if (is_degenerate(matrix)) return s;
  s.ess_bulk = basic_ess(rank_normalized(halves, sorted_halves));
  s.ess_tail = smaller(ess_at_most(matrix, s.q5), ess_at_most(matrix, s.q95));
  s.mcse_mean = s.sd / std::sqrt(basic_ess(halves));
  s.mcse_sd = mcse_sd_of(matrix);
  s.rhat = rhat_of(halves, sorted_halves, s.q50);
  return s;
}

std::vector<QuantitySummary> summarize(std::span<const DrawsView> quantities, ThreadPool& threads) {
  std::vector<QuantitySummary> summaries(quantities.size());
  threads.for_each(quantities.size(), [&](std::size_t i, int) { summaries[i] = summarize(quantities[i]); });
  return summaries;
}

}  // namespace emomc
