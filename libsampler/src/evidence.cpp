#include "emomc/sampler/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

constexpr std::size_t kFewestDraws = 100;
// Below these bounds, neighbouring rungs hardly exchange points, or a mean of weights rests on few draws.
constexpr double kLeastSwapRate = 0.1, kFewestEffective = 50;
// The two estimates are only partly independent of each other; they differ by more than this if a rule is too
// coarse or a rung has not mixed.
constexpr double kFarApart = 4;

// The sum of functions of the draws of all rungs, at each draw [num_chains x num_draws].
class Series {
 public:
  explicit Series(const RungDraws& draws) : draws_(draws), values_(draws.num_chains * draws.num_draws) {}
  template <class F>
  void add(std::size_t rung, const F& f) {
    const std::span<const double> x = of(rung);
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += f(x[i]);
  }
  std::span<const double> of(std::size_t rung) const {
    return {draws_.log_likelihood.data() + rung * values_.size(), values_.size()};
  }
  DrawsView view(const double* values) const {
    return {values, draws_.num_draws, draws_.num_chains, 1, static_cast<std::ptrdiff_t>(draws_.num_draws)};
  }
  // Returns the standard error of the mean of the sums. Rungs exchange points, so their draws are not
  // independent; the autocorrelation of the sums includes the effect of this dependence.
  double standard_error() const {
    const double error = mcse_mean(view(values_.data()));
    return std::isfinite(error) ? error : 0;  // all draws are equal
  }

 private:
  const RungDraws& draws_;
  std::vector<double> values_;
};

double mean_of(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

EvidenceEstimate stepping_stones(const RungDraws& draws) {
  Series series(draws);
  EvidenceEstimate estimate;
  for (std::size_t k = 0; k + 1 < draws.betas.size(); ++k) {
    const double power = draws.betas[k] - draws.betas[k + 1];
    const std::span<const double> hot = series.of(k + 1);
    const double top = power * *std::max_element(hot.begin(), hot.end());
    double mean = 0;
    for (const double x : hot) mean += std::exp(power * x - top);
    mean /= static_cast<double>(hot.size());
    estimate.value += top + std::log(mean);
    series.add(k + 1, [&](double x) { return std::exp(power * x - top) / mean; });
  }
  estimate.standard_error = series.standard_error();
  return estimate;
}

// Mean and variance of a rung's log likelihood.
struct RungMoments {
  double mean = 0, variance = 0;
};

// The weights of a rung's moments in a quadrature rule.
struct Weights {
  double of_mean = 0, of_variance = 0;
};

RungMoments moments_of(std::span<const double> x) {
  RungMoments moments{mean_of(x), 0};
  for (const double value : x) moments.variance += (value - moments.mean) * (value - moments.mean);
  moments.variance /= static_cast<double>(x.size() - 1);
  return moments;
}

// Returns the weights of the trapezoidal rule, corrected by the derivatives at the ends of each interval,
// which are variances: the integral over an interval of length h is h (m_0 + m_1) / 2 - h^2 (v_0 - v_1) / 12,
// where v_0 belongs to the colder end. `error` is set to the possible error of the rule. The mean rises with
// beta, so that no interval's integral differs from the trapezium by more than half of the rise times h; if
// the correction is larger than that, it is omitted.
std::vector<Weights> weights_of(const std::vector<double>& betas, const std::vector<RungMoments>& moments,
                                double& error) {
  std::vector<Weights> weights(betas.size());
  error = 0;
  for (std::size_t k = 0; k + 1 < betas.size(); ++k) {
    const double stretch = betas[k] - betas[k + 1];
    weights[k].of_mean += 0.5 * stretch;
    weights[k + 1].of_mean += 0.5 * stretch;
    const double room = 0.5 * stretch * std::abs(moments[k].mean - moments[k + 1].mean),
                 of_variance = stretch * stretch / 12,
                 correction = of_variance * std::abs(moments[k].variance - moments[k + 1].variance);
    // Next to the prior there is no correction, because the likelihood's variance over the prior may be
    // infinite.
    const bool is_corrected = betas[k + 1] > 0 && correction <= room;
    error += is_corrected ? correction : room;
    if (!is_corrected) continue;
    weights[k].of_variance -= of_variance;
    weights[k + 1].of_variance += of_variance;
  }
  return weights;
}

void integrate(const RungDraws& draws, Evidence& evidence) {
  Series series(draws);
  std::vector<RungMoments> moments;
  for (std::size_t k = 0; k < draws.betas.size(); ++k) moments.push_back(moments_of(series.of(k)));
  const std::vector<Weights> weights = weights_of(draws.betas, moments, evidence.rule_error);
  for (std::size_t k = 0; k < draws.betas.size(); ++k) {
    const Weights w = weights[k];
    const double mean = moments[k].mean;
    evidence.thermodynamic.value += w.of_mean * mean + w.of_variance * moments[k].variance;
    series.add(k, [&](double x) { return w.of_mean * x + w.of_variance * (x - mean) * (x - mean); });
    if (k > 0) evidence.lower += (draws.betas[k - 1] - draws.betas[k]) * mean;
    if (k + 1 < draws.betas.size()) evidence.upper += (draws.betas[k] - draws.betas[k + 1]) * mean;
    evidence.mean_log_likelihood.push_back(mean);
    evidence.ess.push_back(ess_mean(series.view(series.of(k).data())));
  }
  evidence.thermodynamic.standard_error = series.standard_error();
}

std::string text(const char* format, double a, double b = 0) {
  std::string out(200, '\0');
  out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), format, a, b)));
  return out;
}

void look_for_doubts(const RungDraws& draws, Evidence& evidence) {
  const auto& rates = draws.exchanges.swap_rates;
  for (std::size_t k = 0; k < rates.size(); ++k)
    if (rates[k] < kLeastSwapRate)
      evidence.doubts.push_back("rungs " + std::to_string(k) + " and " + std::to_string(k + 1) +
                                text(" exchange points with a probability of %.2f only; more rungs "
                                     "(sampler.tempering.rungs) would help",
                                     rates[k]));
  for (std::size_t k = 0; k < evidence.ess.size(); ++k)
    if (evidence.ess[k] < kFewestEffective)
      evidence.doubts.push_back("rung " + std::to_string(k) +
                                text(" has %.0f effective draws; run longer", evidence.ess[k]));
  if (draws.exchanges.round_trips < draws.num_chains)
    evidence.doubts.push_back("points have gone from the cold rung to the prior and back " +
                              std::to_string(draws.exchanges.round_trips) +
                              " times, in all chains; run longer");
  const double error =
      std::hypot(evidence.stepping_stones.standard_error, evidence.thermodynamic.standard_error);
  const double apart = std::abs(evidence.stepping_stones.value - evidence.thermodynamic.value);
  if (apart > kFarApart * error + evidence.rule_error)
    evidence.doubts.push_back(text(
        "thermodynamic integration and stepping stones differ by %.2f, %.1f standard errors and more than "
        "the error of the rule: rungs have not mixed; run longer",
        apart, apart / error));
}

}  // namespace

Evidence estimate_evidence(const RungDraws& draws) {
  if (draws.betas.empty() || draws.betas.back() != 0)
    throw InputError("evidence: the last rung has the power " +
                     std::to_string(draws.betas.empty() ? 1.0 : draws.betas.back()) +
                     ", not 0; allowed: ladders that end at the prior");
  if (draws.num_draws < kFewestDraws)
    throw InputError("evidence: " + std::to_string(draws.num_draws) +
                     " draws of each chain are too few; allowed: " + std::to_string(kFewestDraws) +
                     " or more");
  Evidence evidence;
  evidence.stepping_stones = stepping_stones(draws);
  integrate(draws, evidence);
  const auto all = static_cast<double>(draws.exchanges.prior_draws),
             finite = static_cast<double>(draws.exchanges.finite_prior_draws);
  if (finite > 0 && finite < all) {
    evidence.finite_share = finite / all;
    const double error = std::sqrt((1 - evidence.finite_share) / finite);
    for (EvidenceEstimate* estimate : {&evidence.stepping_stones, &evidence.thermodynamic}) {
      estimate->value += std::log(evidence.finite_share);
      estimate->standard_error = std::hypot(estimate->standard_error, error);
    }
    evidence.lower += std::log(evidence.finite_share);
    evidence.upper += std::log(evidence.finite_share);
  }
  look_for_doubts(draws, evidence);
  return evidence;
}

std::vector<double> model_probabilities(const std::vector<double>& log_evidence,
                                        const std::vector<double>& prior) {
  std::vector<double> probability;
  const double top = *std::max_element(log_evidence.begin(), log_evidence.end());
  for (std::size_t i = 0; i < log_evidence.size(); ++i)
    probability.push_back(prior.at(i) * std::exp(log_evidence[i] - top));
  const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
  for (double& p : probability) p /= sum;
  return probability;
}

}  // namespace emomc
