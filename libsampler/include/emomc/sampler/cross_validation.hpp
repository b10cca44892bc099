// Predictive accuracy of a posterior from pointwise log likelihoods: leave-one-out cross-validation by Pareto
// smoothed importance sampling (PSIS), and WAIC. The definitions are those of R's loo (Vehtari, Gelman and
// Gabry 2017, "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC"; Vehtari,
// Simpson, Gelman, Yao and Gabry 2024, "Pareto smoothed importance sampling").
#pragma once

#include <span>
#include <vector>

namespace emomc {

/// Smoothed importance weights.
struct ParetoSmoothed {
  std::vector<double> log_weights;  ///< [draws]; their exponentials sum to one
  double pareto_k;                  ///< unreliable above 0.7; infinite: too few draws, or an equal tail
};
/// Smooths the largest of the importance ratios, given as logarithms [draws], not empty. With S draws the
/// tail has ceil(min(S / 5, 3 sqrt(S / relative_efficiency))) of them, relative_efficiency being ESS / S.
ParetoSmoothed pareto_smooth(std::span<const double> log_ratios, double relative_efficiency = 1);

/// Result for one observation, or one group of them, that is left out.
struct LeftOut {
  double elpd;  ///< expected log predictive density
  double p;     ///< effective number of parameters
  double pareto_k;
};
/// PSIS leave-one-out from the log likelihoods [draws] of one observation.
LeftOut leave_out(std::span<const double> log_likelihood, double relative_efficiency = 1);

struct Waic {
  double elpd, p;
};
/// WAIC of one observation from its log likelihoods [draws], at least two.
Waic waic(std::span<const double> log_likelihood);

/// A sum over n observations and its standard error, sqrt(n) times their sd.
struct Estimate {
  double value, standard_error;
};
/// The sum of `pointwise`, with at least two values for a standard error.
Estimate total(std::span<const double> pointwise);

}  // namespace emomc
