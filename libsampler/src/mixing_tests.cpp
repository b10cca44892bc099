#include "mixing_tests.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "draw_matrix.hpp"

namespace emomc {
namespace {

constexpr std::size_t kFewestDraws = 8;
// The variance of a mean is treated as an estimate from E / 8 independent squares, where E is the ESS,
// because Geyer's sequence sometimes ends early.
constexpr double kEssPerDegree = 8;
// Single chains are tested if they are at least this many autocorrelation times long.
constexpr double kLongEnough = 25;
constexpr int kMostWindows = 10;

double mean_of(const double* x, std::size_t n) {
  return std::accumulate(x, x + n, 0.0) / static_cast<double>(n);
}

double variance_of(const std::vector<double>& x) {
  const double mean = mean_of(x.data(), x.size());
  double sum = 0;
  for (double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size() - 1);
}

double upper_f(double statistic, double df1, double df2) {
  if (!(statistic > 0)) return 1;
  if (std::isinf(statistic)) return 0;
  return cdf(complement(boost::math::fisher_f(df1, df2), statistic));
}
double two_sided_t(double statistic, double df) {
  if (std::isnan(statistic)) return 1;
  if (std::isinf(statistic)) return 0;
  return 2 * cdf(complement(boost::math::students_t(df), std::abs(statistic)));
}

// Autocovariances within chains, from deviations from each chain's own mean, so that differences between
// chains do not increase them.
struct WithinChains {
  std::vector<double> covariance;  // autocovariances up to the end of Geyer's initial positive sequence
  double time = 1;                 // autocorrelation time, in draws
  bool dies_out = false;

  explicit WithinChains(const DrawMatrix& draws) {
    Autocovariances biased(draws);
    const auto n = static_cast<double>(draws.num_draws);
    // The variance of deviations from the chain's mean is smaller than that of deviations from the true mean,
    // by the variance of the chain's mean. The latter depends on the result, so the computation is iterated.
    double of_mean = biased.at(0) / n;
    for (int round = 0; round < 4; ++round) {
      covariance.assign(1, biased.at(0) + of_mean);
      double sum = 0;
      std::size_t t = 0;
      dies_out = false;
      const auto at = [&](std::size_t lag) {
        return biased.at(lag) * n / (n - static_cast<double>(lag)) + of_mean;
      };
      for (; 2 * t + 3 < draws.num_draws; t += 1) {
        const double even = at(2 * t), odd = at(2 * t + 1);
        if (even + odd <= 0) {
          dies_out = true;
          break;
        }
        if (t > 0) covariance.push_back(even);
        covariance.push_back(odd);
        sum += even + odd;
      }
      time = std::max((2 * sum - covariance[0]) / covariance[0], 1 / std::log10(10 + n));
      of_mean = std::min(variance_of_mean(draws.num_draws), covariance[0] / 2);
    }
  }

  // Returns the variance of the mean of `count` consecutive draws of one chain.
  double variance_of_mean(std::size_t count) const {
    const auto n = static_cast<double>(count);
    double sum = covariance[0];
    for (std::size_t t = 1; t < std::min(count, covariance.size()); ++t)
      sum += 2 * (1 - static_cast<double>(t) / n) * covariance[t];
    return std::max(sum, covariance[0] / (1 + std::log10(1 + n))) / n;
  }
};

class Tester {
 public:
  void test_chains(const DrawMatrix& scores, const WithinChains& within) {
    const auto n = static_cast<double>(scores.num_draws), chains = static_cast<double>(scores.num_chains);
    if (!within.dies_out || n < kLongEnough * within.time) return;
    const double df = std::max(2.0, n * chains / within.time / kEssPerDegree);
    // The relative error of autocovariances is about time / n.
    const double allowance = 1 + 4 * within.time / n;
    const std::size_t half = scores.num_draws / 2, skip = scores.num_draws - half;
    std::vector<double> halves, means;
    for (std::size_t c = 0; c < scores.num_chains; ++c) {
      halves.push_back(mean_of(scores.chain(c), half));
      halves.push_back(mean_of(scores.chain(c) + skip, half));
      means.push_back(mean_of(scores.chain(c), scores.num_draws));
    }
    const double of_half = allowance * within.variance_of_mean(half);
    chains_.push_back(upper_f(variance_of(halves) / of_half, static_cast<double>(halves.size() - 1), df));
    if (scores.num_chains < 3) return;
    const double centre = mean_of(means.data(), means.size());
    double furthest = 0;
    for (double mean : means) furthest = std::max(furthest, std::abs(mean - centre));
    const double of_chain = allowance * within.variance_of_mean(scores.num_draws) * (1 - 1 / chains);
    chains_.push_back(std::min(1.0, chains * two_sided_t(furthest / std::sqrt(of_chain), df)));
  }

  // One-way analysis of variance of the chains' means; chains are independent given the start of their
  // superchain.
  void test_superchains(const DrawMatrix& scores, std::size_t per) {
    const std::size_t superchains = scores.num_chains / per;
    if (superchains < 2 || per < 2) return;
    std::vector<double> means;
    double within = 0;
    for (std::size_t s = 0; s < superchains; ++s) {
      std::vector<double> of_chains;
      for (std::size_t c = s * per; c < (s + 1) * per; ++c)
        of_chains.push_back(mean_of(scores.chain(c), scores.num_draws));
      means.push_back(mean_of(of_chains.data(), per));
      within += variance_of(of_chains) / static_cast<double>(superchains);
    }
    chains_.push_back(upper_f(static_cast<double>(per) * variance_of(means) / within,
                              static_cast<double>(superchains - 1),
                              static_cast<double>(superchains * (per - 1))));
  }

  // Compares the mean over all chains of the first half, quarter, eighth, ... of the draws with that of the
  // last half.
  void test_trend(const DrawMatrix& scores, bool of_scale, const WithinChains& half, const WithinChains& most,
                  double least_bias) {
    const std::size_t n = scores.num_draws;
    const auto chains = static_cast<double>(scores.num_chains);
    std::vector<double> mean(n, 0.0);
    for (std::size_t c = 0; c < scores.num_chains; ++c)
      for (std::size_t i = 0; i < n; ++i) mean[i] += scores.chain(c)[i] / chains;
    const std::size_t late = n / 2;
    // The larger time is used because Geyer's sequence may end early in one of the two.
    const double time = std::max(half.time, most.time);
    const auto variance = [&](std::size_t count) {
      return std::max(half.variance_of_mean(count), most.variance_of_mean(count));
    };
    const double df = std::max(2.0, static_cast<double>(late) * chains / time / kEssPerDegree);
    const double allowance = 1 + 4 * time / static_cast<double>(late);
    const double late_mean = mean_of(mean.data() + (n - late), late);
    int windows = 0;
    for (std::size_t early = n / 2; early > 0 && windows < kMostWindows; early /= 2) ++windows;
    for (std::size_t early = n / 2, k = 0; k < static_cast<std::size_t>(windows); early /= 2, ++k) {
      const double difference = mean_of(mean.data(), early) - late_mean;
      const double bias = difference * static_cast<double>(early) / static_cast<double>(n);
      if (std::abs(bias) < least_bias) continue;
      const double error = std::sqrt(allowance * (variance(early) + variance(late)) / chains);
      const double p = std::min(1.0, 2 * windows * two_sided_t(difference / error, df));
      if (p >= tests.p_trend) continue;
      tests.p_trend = p;
      tests.trend_share = static_cast<double>(early) / static_cast<double>(n);
      tests.trend = difference;
      tests.trend_is_of_scale = of_scale;
    }
  }

  MixingTests result() {
    for (double p : chains_)
      tests.p_chains = std::min(tests.p_chains, p * static_cast<double>(chains_.size()));
    return tests;
  }

  MixingTests tests;

 private:
  std::vector<double> chains_;
};

DrawMatrix last_draws(const DrawMatrix& scores, std::size_t count) {
  DrawMatrix last(count, scores.num_chains);
  for (std::size_t c = 0; c < scores.num_chains; ++c)
    std::copy_n(scores.chain(c) + scores.num_draws - last.num_draws, last.num_draws, last.chain(c));
  return last;
}

DrawMatrix ensemble_means(const DrawMatrix& scores) {
  const std::size_t per = scores.per_ensemble;
  DrawMatrix means(scores.num_draws, scores.num_chains / per);
  for (std::size_t c = 0; c < scores.num_chains; ++c)
    for (std::size_t i = 0; i < scores.num_draws; ++i)
      means.chain(c / per)[i] += scores.chain(c)[i] / static_cast<double>(per);
  return means;
}

}  // namespace

namespace {

// Tests whether the mean of `draws` varies more than that of `target` independent draws. The test uses means
// of batches that have `per_batch` effective draws if the ESS equals the target, or of whole chains if these
// have fewer. `excess` is the excess kurtosis of one draw. Returns the p-value.
double test_ess(const DrawMatrix& draws, double target, double per_batch, double excess) {
  const double variance = variance_of(draws.values);
  const DrawMatrix means = draws.per_ensemble > 1 ? ensemble_means(draws) : draws;
  const auto n = static_cast<double>(means.num_draws), series = static_cast<double>(means.num_chains);
  const double wanted = std::ceil(per_batch * n * series / target);
  const auto length = static_cast<std::size_t>(std::min(wanted, n));
  std::vector<double> of_batches;
  for (std::size_t c = 0; c < means.num_chains; ++c)
    for (std::size_t end = means.num_draws; end >= length; end -= length)
      of_batches.push_back(mean_of(means.chain(c) + (end - length), length));
  if (of_batches.size() < 3) return 1;
  const double effective = static_cast<double>(length) * target / (n * series);
  const double df = static_cast<double>(of_batches.size() - 1) * 2 / (2 + std::max(0.0, excess / effective));
  return cdf(complement(boost::math::chi_squared(df), df * variance_of(of_batches) * effective / variance));
}

double test_ess_of_tail(const DrawMatrix& draws, double quantile, double target) {
  const bool is_largest =
      std::none_of(draws.values.begin(), draws.values.end(), [=](double x) { return x > quantile; });
  const DrawMatrix indicator =
      transformed(draws, [=](double x) { return (is_largest ? x < quantile : x <= quantile) ? 1.0 : 0.0; });
  if (is_degenerate(indicator)) return 1;
  const double p = mean_of(indicator.values.data(), indicator.values.size()), pq = p * (1 - p);
  return test_ess(indicator, target, 10, (1 - 6 * pq) / pq);
}

}  // namespace

MixingTests test_mixing(DrawsView view, double target_ess) {
  constexpr double kLeastBias = 0.01;        // in posterior sds
  constexpr double kLeastBiasErrors = 0.25;  // in Monte Carlo standard errors
  Tester tester;
  const DrawMatrix draws(view);
  if (draws.num_draws < kFewestDraws || is_degenerate(draws)) return {};
  if (all_chains_constant(draws)) {
    tester.tests.p_chains = tester.tests.p_ess = 0;
    return tester.tests;
  }
  const SortedDraws sorted = sorted_draws(draws);
  const DrawMatrix bulk = rank_normalized(draws, sorted);
  tester.tests.p_ess = std::min(
      1.0, 3 * std::min({test_ess(bulk, target_ess, 5, 0),
                         test_ess_of_tail(draws, sorted_quantile(sorted.values, 0.05), target_ess),
                         test_ess_of_tail(draws, sorted_quantile(sorted.values, 0.95), target_ess)}));
  const DrawMatrix spread = rank_normalized(draws, folded(sorted, sorted_quantile(sorted.values, 0.5)));
  for (const DrawMatrix* scores : {&bulk, &spread}) {
    if (is_degenerate(*scores)) continue;
    const WithinChains within(*scores);
    if (scores == &bulk)
      tester.tests.ess_within = static_cast<double>(draws.num_draws * draws.num_chains) / within.time;
    if (view.chains_per_superchain > 1)
      tester.test_superchains(*scores, view.chains_per_superchain);
    else
      tester.test_chains(*scores, within);
    const bool together = view.chains_per_ensemble > 1;
    const DrawMatrix means = together ? ensemble_means(*scores) : DrawMatrix(0, 0);
    const DrawMatrix& series = together ? means : *scores;
    if (is_degenerate(series)) continue;
    const WithinChains of_series(series);
    if (together) tester.test_chains(series, of_series);
    const double error =
        std::sqrt(of_series.variance_of_mean(series.num_draws) / static_cast<double>(series.num_chains));
    // Errors are estimated from late draws only, so that early draws from another distribution do not
    // increase them.
    const DrawMatrix half = last_draws(series, series.num_draws / 2);
    const DrawMatrix most = last_draws(series, series.num_draws - series.num_draws / 4);
    if (!is_degenerate(half))
      tester.test_trend(series, scores == &spread, WithinChains(half), WithinChains(most),
                        std::max(kLeastBias, kLeastBiasErrors * error));
  }
  return tester.result();
}

double rhat_of_alike_chains(std::size_t num_chains, std::size_t num_draws, double ess, double level) {
  const std::size_t draws_of_half = num_draws / 2;
  const auto halves = static_cast<double>(2 * num_chains), n = static_cast<double>(draws_of_half);
  const double most =
      quantile(complement(boost::math::fisher_f(halves - 1, std::max(2.0, ess / kEssPerDegree)), level));
  return std::sqrt(1 - 1 / n + halves / ess * most);
}

}  // namespace emomc
