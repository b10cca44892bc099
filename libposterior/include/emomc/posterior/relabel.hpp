// Renumbers the components of draws whose model is unknown, such as draws of other programs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

/// The numbering of components in which the draws agree best.
struct MatchedFeatures {
  /// num_draws x num_components: permutation[i * K + k] is the component of draw i that gets number k.
  std::vector<int> permutation;
  double cost = 0;        ///< cost over all draws; the lower, the better the draws agree
  int num_rounds = 0;     ///< number of rounds from the best start
  bool converged = true;  ///< whether the last round changed nothing
};

/// Matches the components of all draws by their features, such as each component's weight, means and scales.
/// `features` is num_draws x num_components x num_features, row-major. The method is that of Stephens (1997,
/// "Bayesian methods for mixtures of normal distributions", chapter 3, with normal working densities). It
/// alternates between finding permutations and finding a mean and a variance for each number and feature, and
/// so maximises the product of the normal densities of the permuted features. least_cost_assignment finds the
/// permutations. The method starts from the order of each feature and returns the best optimum, numbered so
/// that the mean of the first feature increases. The result does not depend on the components' numbering in
/// the input. Throws InputError if a feature is not finite or the sizes do not fit.
MatchedFeatures match_features(std::span<const double> features, std::size_t num_draws, int num_components,
                               std::size_t num_features);

}  // namespace emomc
