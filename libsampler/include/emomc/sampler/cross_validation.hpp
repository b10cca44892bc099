// How well a posterior predicts what it has not seen: leave-one-out cross-validation by Pareto smoothed
// importance sampling, and WAIC, from pointwise log likelihoods; after R's loo (Vehtari, Gelman and Gabry
// 2017, "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC"; Vehtari,
// Simpson, Gelman, Yao and Gabry 2024, "Pareto smoothed importance sampling").
#pragma once

#include <span>
#include <vector>

namespace emomc {

struct ParetoSmoothed {
  std::vector<double> log_weights;  ///< [draws], their exponentials sum to one
  double pareto_k;                  ///< above 0.7: not to be relied on; infinite: too few draws, or all equal
};
/// Of log ratios [draws]. The tail has min(S / 5, 3 sqrt(S / relative_efficiency)) draws.
ParetoSmoothed pareto_smooth(std::span<const double> log_ratios, double relative_efficiency = 1);

/// One observation, or one group of them, left out.
struct LeftOut {
  double elpd;  ///< expected log predictive density
  double p;     ///< its effective number of parameters
  double pareto_k;
};
/// From the log likelihoods [draws] of one observation.
LeftOut leave_out(std::span<const double> log_likelihood, double relative_efficiency = 1);

struct Waic {
  double elpd, p;
};
Waic waic(std::span<const double> log_likelihood);

/// A sum over observations and its standard error, sqrt(n) sd.
struct Estimate {
  double value, standard_error;
};
Estimate total(std::span<const double> pointwise);

}  // namespace emomc
