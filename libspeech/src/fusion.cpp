#include "emomc/speech/fusion.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <stdexcept>

namespace emomc {
namespace {

constexpr int kBits = 16;  // precision of a weight

void check_sizes(std::span<const double> first, std::span<const double> second, std::size_t rows,
                 int num_classes) {
  if (first.size() != second.size() || first.size() != rows * static_cast<std::size_t>(num_classes))
    throw std::invalid_argument("fusion: sizes disagree");
}

// Smaller log probabilities, such as that of an impossible class, are replaced by this, so that 0 times them
// is 0.
constexpr double kImpossible = -1e4;

void normalise(std::span<double> row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double x : row) sum += std::exp(x - top);
  for (double& x : row) x -= top + std::log(sum);
}

}  // namespace

std::vector<double> fused_log_probability(const FusionWeights& weights, std::span<const double> first,
                                          std::span<const double> second, int num_classes) {
  const auto classes = static_cast<std::size_t>(num_classes);
  check_sizes(first, second, first.size() / classes, num_classes);
  std::vector<double> fused(first.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    fused[i] =
        weights.first * std::max(first[i], kImpossible) + weights.second * std::max(second[i], kImpossible);
  for (std::size_t at = 0; at < fused.size(); at += classes) normalise({fused.data() + at, classes});
  return fused;
}

FusionWeights learn_fusion(std::span<const double> first, std::span<const double> second,
                           std::span<const int> truth, int num_classes) {
  check_sizes(first, second, truth.size(), num_classes);
  if (truth.empty()) throw std::invalid_argument("learn_fusion: no rows");
  const auto loss_at = [&](double a, double b) {
    const auto fused = fused_log_probability({a, b, 0}, first, second, num_classes);
    double sum = 0;
    for (std::size_t row = 0; row < truth.size(); ++row)
      sum -= fused[row * static_cast<std::size_t>(num_classes) + static_cast<std::size_t>(truth[row])];
    return sum / static_cast<double>(truth.size());
  };
  // The minimum of a convex function of two weights over one weight is a convex function of the other weight.
  const auto best_second = [&](double a) {
    return boost::math::tools::brent_find_minima([&](double b) { return loss_at(a, b); }, 0.0,
                                                 kMostFusionWeight, kBits);
  };
  const double a = boost::math::tools::brent_find_minima([&](double x) { return best_second(x).second; }, 0.0,
                                                         kMostFusionWeight, kBits)
                       .first;
  const auto [b, loss] = best_second(a);
  return {a, b, loss};
}

}  // namespace emomc
