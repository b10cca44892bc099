// The gradient of a posterior at a point, and whether the density's differences agree with it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc {

/// In the sampler's units, which are the data's where no column is standardised.
struct PosteriorGradient {
  std::vector<double> theta;  ///< [target.dim()]
  std::vector<double> u;      ///< [target.dim_unconstrained()]
  std::vector<double>
      likelihood_gradient;  ///< [engine.layout().dim()]: of the log likelihood with respect to theta
  /// [target.dim_unconstrained()]: of log likelihood, log prior and log Jacobian with respect to u
  std::vector<double> gradient;
  double log_likelihood = 0, log_prior = 0, log_jacobian = 0;
};

/// At theta [target.dim()], for an engine with gradients. Allocates the engine's memory for one chain. Throws
/// InputError where theta is outside the support.
PosteriorGradient posterior_gradient(const Target& target, LikelihoodEngine& engine,
                                     std::span<const double> theta);
/// The same at u [target.dim_unconstrained()].
PosteriorGradient posterior_gradient_at(const Target& target, LikelihoodEngine& engine,
                                        std::span<const double> u);

/// A gradient beside central differences of the log density, which are extrapolated to step 0.
struct GradientCheck {
  bool is_done = false;          ///< false: the engine has no gradients, or the density is not finite
  std::size_t num_compared = 0;  ///< coordinates of u, at most 50, fewer where rows are many
  /// The coordinate whose derivative differs most, by how much, and what the differences' own error may be.
  std::size_t worst = 0;
  double derivative = 0, difference = 0, bound = 0;
  double worst_ratio = 0;  ///< |derivative - difference| / bound
  bool agrees() const { return !is_done || worst_ratio <= 1; }
};
GradientCheck check_gradient(const Target& target, LikelihoodEngine& engine, std::span<const double> theta);

/// A sentence for people; empty where nothing was compared.
std::string describe(const GradientCheck& check);
nlohmann::ordered_json to_json(const GradientCheck& check);

}  // namespace emomc
