// Stacking of predictive densities: computes weights of models, or of chains that have not mixed, such that
// the weighted mixture predicts left-out data best (Yao, Vehtari, Simpson and Gelman 2018, "Using stacking to
// average Bayesian predictive distributions"; Yao, Vehtari and Gelman 2022, "Stacking for non-mixing Bayesian
// computations: the curse and blessing of multimodal posteriors").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

/// Concentration of the symmetric Dirichlet prior of the weights. A value above 1 makes the weights unique if
/// models predict the same; so close to 1 it has little other influence (Yao, Vehtari and Gelman 2022,
/// section 2.2).
inline constexpr double kStackingConcentration = 1.001;

struct StackingWeights {
  std::vector<double> weights;  ///< [num_models] non-negative weights with a sum of 1
  double elpd = 0;              ///< sum over points of the log density of the mixture
  /// Upper bound of the distance between the reached value of the objective, which is concave, and its
  /// maximum.
  double gap = 0;
};

/// Returns the weights w that maximise the sum over points of log(sum over models of w times exp(elpd)), plus
/// (concentration - 1) times the sum of log w. `elpd` [num_points x num_models], row-major, has the log
/// predictive density of each point under each model; -infinity is a density of 0. Throws InputError if there
/// are no points or no models, if a value is NaN or +infinity, if a point has no density under any model, or
/// if `concentration` is below 1.
StackingWeights stacking_weights(std::span<const double> elpd, std::size_t num_models,
                                 double concentration = kStackingConcentration);

}  // namespace emomc
