#include "emomc/sampler/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace emomc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double log_sum_exp(std::span<const double> x) {
  const double top = *std::max_element(x.begin(), x.end());
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (double v : x) sum += std::exp(v - top);
  return top + std::log(sum);
}

struct GeneralizedPareto {
  double k, sigma;
};

// Fits exceedances in increasing order by the method of Zhang and Stephens (2009), with loo's weak prior on
// k.
GeneralizedPareto fit(const std::vector<double>& x) {
  constexpr double kPrior = 3, kPriorWeight = 10, kPriorShape = 0.5;
  constexpr int kLeastGrid = 30;
  const auto n = static_cast<double>(x.size());
  const int grid = kLeastGrid + static_cast<int>(std::floor(std::sqrt(n)));
  const double quartile = x[static_cast<std::size_t>(std::floor(n / 4 + 0.5)) - 1];
  const auto mean_log1p = [&](double factor) {
    double sum = 0;
    for (double v : x) sum += std::log1p(factor * v);
    return sum / n;
  };
  std::vector<double> theta, log_likelihood;
  for (int j = 1; j <= grid; ++j) {
    theta.push_back(1 / x.back() + (1 - std::sqrt(grid / (j - 0.5))) / kPrior / quartile);
    const double k = mean_log1p(-theta.back());
    log_likelihood.push_back(n * (std::log(-theta.back() / k) - k - 1));
  }
  const double normalizer = log_sum_exp(log_likelihood);
  double estimate = 0;
  for (std::size_t j = 0; j < theta.size(); ++j)
    estimate += theta[j] * std::exp(log_likelihood[j] - normalizer);
  const double k = mean_log1p(-estimate), sigma = -k / estimate;
  const double shrunk = (k * n + kPriorShape * kPriorWeight) / (n + kPriorWeight);
  return {std::isnan(shrunk) ? kInfinity : shrunk, sigma};
}

double quantile(const GeneralizedPareto& distribution, double p) {
  return distribution.sigma * std::expm1(-distribution.k * std::log1p(-p)) / distribution.k;
}

}  // namespace

ParetoSmoothed pareto_smooth(std::span<const double> log_ratios, double relative_efficiency) {
  constexpr std::size_t kLeastTail = 5;
  const std::size_t S = log_ratios.size();
  const double top = *std::max_element(log_ratios.begin(), log_ratios.end());
  ParetoSmoothed result{std::vector<double>(log_ratios.begin(), log_ratios.end()), kInfinity};
  std::vector<double>& weights = result.log_weights;
  for (double& w : weights) w -= top;
  const auto size = static_cast<double>(S);
  const auto tail =
      static_cast<std::size_t>(std::ceil(std::min(0.2 * size, 3 * std::sqrt(size / relative_efficiency))));
  if (tail >= kLeastTail && tail < S) {
    std::vector<std::size_t> order(S);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] < weights[b]; });
    const std::size_t first = S - tail;
    const double spread = weights[order[S - 1]] - weights[order[first]];
    if (spread >= std::numeric_limits<double>::epsilon() / 100) {
      const double cutoff = std::exp(weights[order[first - 1]]);
      std::vector<double> exceedances;
      for (std::size_t i = first; i < S; ++i) exceedances.push_back(std::exp(weights[order[i]]) - cutoff);
      const GeneralizedPareto pareto = fit(exceedances);
      result.pareto_k = pareto.k;
      if (std::isfinite(pareto.k))
        for (std::size_t i = 0; i < tail; ++i)
          weights[order[first + i]] =
              std::log(quantile(pareto, (static_cast<double>(i) + 0.5) / static_cast<double>(tail)) + cutoff);
    }
  }
  // Smoothed weights are truncated at the largest raw weight.
  for (double& w : weights) w = std::min(w, 0.0);
  const double normalizer = log_sum_exp(weights);
  for (double& w : weights) w -= normalizer;
  return result;
}

LeftOut leave_out(std::span<const double> log_likelihood, double relative_efficiency) {
  std::vector<double> terms(log_likelihood.begin(), log_likelihood.end());
  for (double& x : terms) x = -x;
  const ParetoSmoothed smoothed = pareto_smooth(terms, relative_efficiency);
  for (std::size_t s = 0; s < terms.size(); ++s) terms[s] = log_likelihood[s] + smoothed.log_weights[s];
  const double elpd = log_sum_exp(terms);
  const double density = log_sum_exp(log_likelihood) - std::log(static_cast<double>(log_likelihood.size()));
  return {elpd, density - elpd, smoothed.pareto_k};
}

Waic waic(std::span<const double> log_likelihood) {
  const auto n = static_cast<double>(log_likelihood.size());
  const double mean = std::accumulate(log_likelihood.begin(), log_likelihood.end(), 0.0) / n;
  double variance = 0;
  for (double x : log_likelihood) variance += (x - mean) * (x - mean) / (n - 1);
  return {log_sum_exp(log_likelihood) - std::log(n) - variance, variance};
}

Estimate total(std::span<const double> pointwise) {
  const auto n = static_cast<double>(pointwise.size());
  const double sum = std::accumulate(pointwise.begin(), pointwise.end(), 0.0), mean = sum / n;
  double variance = 0;
  for (double x : pointwise) variance += (x - mean) * (x - mean) / (n - 1);
  return {sum, std::sqrt(n * variance)};
}

}  // namespace emomc
