// Renumbers the components of draws whose model is not known, such as those of other programs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

/// A numbering of components in which draws agree as well as they can.
struct MatchedFeatures {
  /// num_draws x num_components: permutation[i * K + k] is the component of draw i that gets number k.
  std::vector<int> permutation;
  double cost = 0;        ///< of all draws, less where they agree better
  int num_rounds = 0;     ///< of the best start
  bool converged = true;  ///< whether the last round changed nothing
};

/// Matches the components of all draws by what is known of them: `features` is num_draws x num_components x
/// num_features, row-major, such as each component's weight, means and scales. The method is that of Stephens
/// (1997, "Bayesian methods for mixtures of normal distributions", chapter 3, with normal working densities):
/// it finds permutations, and a mean and a variance for each number and feature, that maximise the product of
/// normal densities of the permuted features, by turns; the permutations of a turn are those of
/// least_cost_assignment. It starts from the order of each feature, and ends at the best of the optima, in
/// which numbers increase with the mean of the first feature. The result does not depend on the numbering
/// that draws had. Throws InputError where a feature is not finite or the sizes do not fit.
MatchedFeatures match_features(std::span<const double> features, std::size_t num_draws, int num_components,
                               std::size_t num_features);

}  // namespace emomc
