// Computes the gradient of a posterior at a point, and compares it with differences of the density.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// A posterior's gradient and densities, in the sampler's units, which are the data's units if no column is
/// standardised.
struct PosteriorGradient {
  std::vector<double> theta;  ///< [target.dim()]
  std::vector<double> u;      ///< [target.dim_unconstrained()]
  /// [engine.layout().dim()]: gradient of the log likelihood with respect to theta.
  std::vector<double> likelihood_gradient;
  /// [target.dim_unconstrained()]: gradient of log likelihood, log prior and log Jacobian with respect to u
  std::vector<double> gradient;
  double log_likelihood = 0, log_prior = 0, log_jacobian = 0;
};

/// The gradient at theta [target.dim()], for an engine with gradients. Allocates the engine's memory for one
/// chain. Throws InputError if theta is outside the support.
PosteriorGradient posterior_gradient(const Target& target, LikelihoodEngine& engine,
                                     std::span<const double> theta);
/// The gradient at u [target.dim_unconstrained()].
PosteriorGradient posterior_gradient_at(const Target& target, LikelihoodEngine& engine,
                                        std::span<const double> u);

/// A gradient beside central differences of the log density, which are extrapolated to step 0.
struct GradientCheck {
  bool is_done = false;  ///< false: the engine has no gradients, or the density is not finite
  /// Number of compared coordinates of u: at most 50, fewer if there are many rows.
  std::size_t num_compared = 0;
  /// The coordinate whose derivative differs most, the two derivatives, and a bound on the error of the
  /// differences.
  std::size_t worst = 0;
  double derivative = 0, difference = 0, bound = 0;
  double worst_ratio = 0;  ///< |derivative - difference| / bound
  bool agrees() const { return !is_done || worst_ratio <= 1; }
};
GradientCheck check_gradient(const Target& target, LikelihoodEngine& engine, std::span<const double> theta);

/// A sentence for the log; empty if nothing was compared.
std::string describe(const GradientCheck& check);
nlohmann::ordered_json to_json(const GradientCheck& check);

}  // namespace emomc
