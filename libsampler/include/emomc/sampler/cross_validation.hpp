// Predictive accuracy of a posterior from pointwise log likelihoods: leave-one-out cross-validation by Pareto
// smoothed importance sampling (PSIS), and WAIC. The definitions are those of R's loo (Vehtari, Gelman and
// Gabry 2017, "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC"; Vehtari,
// Simpson, Gelman, Yao and Gabry 2024, "Pareto smoothed importance sampling").
#pragma once

#include <span>
#include <vector>

namespace emomc {

/// Smoothed importance weights and the diagnostic of their tail.
struct ParetoSmoothed {
  std::vector<double> log_weights;  ///< [draws]; their exponentials sum to one
  double pareto_k;                  ///< estimated shape of the tail; unreliable above 0.7; infinite if there
                                    ///< are too few draws or the tail's values are equal
};
/// Smooths the largest importance ratios; `log_ratios` [draws] are logarithms, not empty. With S draws the
/// tail has ceil(min(S / 5, 3 sqrt(S / relative_efficiency))) ratios, where relative_efficiency is ESS / S.
ParetoSmoothed pareto_smooth(std::span<const double> log_ratios, double relative_efficiency = 1);

/// Result for one observation, or one group of observations, that is left out.
struct LeftOut {
  double elpd;  ///< expected log predictive density
  double p;     ///< effective number of parameters
  double pareto_k;
};
/// Computes PSIS leave-one-out from the log likelihoods [draws] of one observation.
LeftOut leave_out(std::span<const double> log_likelihood, double relative_efficiency = 1);

struct Waic {
  double elpd, p;
};
/// Computes WAIC of one observation from its log likelihoods [draws], of which there must be at least two.
Waic waic(std::span<const double> log_likelihood);

/// A sum over n observations and its standard error, sqrt(n) times the observations' sd.
struct Estimate {
  double value, standard_error;
};
/// Returns the sum of `pointwise`; the standard error needs at least two values.
Estimate total(std::span<const double> pointwise);

}  // namespace emomc
