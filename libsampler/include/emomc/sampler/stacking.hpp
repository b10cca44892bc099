// Stacking of predictive densities: weights of models, or of chains that have not mixed, by how well their
// mixture predicts what is left out (Yao, Vehtari, Simpson and Gelman 2018, "Using stacking to average
// Bayesian predictive distributions"; Yao, Vehtari and Gelman 2022, "Stacking for non-mixing Bayesian
// computations: the curse and blessing of multimodal posteriors").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

/// The weights have a symmetric Dirichlet prior. Above 1 it makes them unique where models predict the same;
/// so close to 1 it hardly matters otherwise (Yao, Vehtari and Gelman 2022, section 2.2).
inline constexpr double kStackingConcentration = 1.001;

struct StackingWeights {
  std::vector<double> weights;  ///< [num_models] of 0 or more, with a sum of 1
  double elpd = 0;              ///< the sum over points of the log density of the mixture
  /// The objective is concave, and its maximum is above the value that is reached by at most this much.
  double gap = 0;
};

/// The weights w that maximise the sum over points of log(sum over models of w times exp(elpd)), plus
/// (concentration - 1) times the sum of log w. `elpd` [num_points x num_models], row-major, has the log
/// predictive density of each point by each model; -infinity is a density of 0. Throws InputError where there
/// are no points or no models, where a value is not a number or +infinity, where a point has no density by
/// any model, or where `concentration` is below 1.
StackingWeights stacking_weights(std::span<const double> elpd, std::size_t num_models,
                                 double concentration = kStackingConcentration);

}  // namespace emomc
