// Combines two classifiers' probabilities in a product with learned exponents.
#pragma once

#include <span>
#include <vector>

namespace emomc {

/// Exponents of the two classifiers' probabilities, from 0 to kMostFusionWeight.
struct FusionWeights {
  double first = 0.5, second = 0.5;
  double log_loss = 0;  ///< mean over the rows from which the weights were learned, natural logarithm
};
inline constexpr double kMostFusionWeight = 4;

/// The log probabilities of the combination: `weights.first` * first + `weights.second` * second, normalised
/// in each row. Both arguments are rows x num_classes log probabilities of the same rows. This is a
/// logarithmic opinion pool (Genest and Zidek 1986, "Combining probability distributions"). Throws
/// std::invalid_argument if the sizes disagree.
std::vector<double> fused_log_probability(const FusionWeights& weights, std::span<const double> first,
                                          std::span<const double> second, int num_classes);

/// The weights with the smallest mean log loss over rows with the classes `truth`; the mean log loss is a
/// convex function of the weights. Neither classifier may have been trained on the speakers of these rows.
/// Throws std::invalid_argument if the sizes disagree or there is no row.
FusionWeights learn_fusion(std::span<const double> first, std::span<const double> second,
                           std::span<const int> truth, int num_classes);

}  // namespace emomc
