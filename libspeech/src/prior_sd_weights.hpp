// Weights of posteriors given different prior sds, from the predictions for training speakers left out in
// turn.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace emomc {

/// Posteriors with a smaller weight are left out of the average.
inline constexpr double kLeastPosteriorWeight = 0.05;

/// Returns the weights of posteriors by pseudo-BMA+ (Yao, Vehtari, Simpson and Gelman 2018, "Using stacking
/// to average Bayesian predictive distributions", section 3.4): the expected value over Bayesian bootstraps
/// (Rubin 1981) of exp(log density) / sum over posteriors. A bootstrap weights speakers, since the recordings
/// of one speaker are not independent. `log_density`, speakers x posteriors: the log predictive density of
/// all recordings of a speaker that was left out. The weights sum to 1; those below kLeastPosteriorWeight are
/// 0. They depend neither on the order of a speaker's recordings nor on any seed. Throws
/// std::invalid_argument if there are no speakers or no posteriors, or a density is not finite.
std::vector<double> posterior_weights(const Eigen::MatrixXd& log_density);

}  // namespace emomc
