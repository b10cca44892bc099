// The product of two classifiers' probabilities, with weights that are learned.
#pragma once

#include <span>
#include <vector>

namespace emomc {

/// Exponents of the two classifiers' probabilities, from 0 to kMostFusionWeight.
struct FusionWeights {
  double first = 0.5, second = 0.5;
  double log_loss = 0;  ///< of the rows that they were learned on, mean, natural logarithm
};
inline constexpr double kMostFusionWeight = 4;

/// The normalised log probabilities: each row's `weights.first` * first + `weights.second` * second. Both are
/// rows x num_classes log probabilities of the same rows. This is a logarithmic opinion pool (Genest and
/// Zidek 1986, "Combining probability distributions"). Throws std::invalid_argument where sizes disagree.
std::vector<double> fused_log_probability(const FusionWeights& weights, std::span<const double> first,
                                          std::span<const double> second, int num_classes);

/// The weights with the smallest mean log loss, which is a convex function of them, over rows with the
/// classes `truth`, of speakers that neither classifier was trained on. Throws std::invalid_argument where
/// sizes disagree or there is no row.
FusionWeights learn_fusion(std::span<const double> first, std::span<const double> second,
                           std::span<const int> truth, int num_classes);

}  // namespace emomc
