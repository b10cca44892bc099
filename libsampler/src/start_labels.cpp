// Numberings of the components of a starting point.
#include "start_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emomc/sampler/mixture_labels.hpp"
#include "emomc/sampler/starts.hpp"

namespace emomc {
namespace {

// The cost of an assignment with a prior density of zero.
constexpr double kImpossible = 1e12;

// Returns theta with its component `to` replaced by component `from` of `source`.
std::vector<double> with_component(const ParameterLayout& layout, std::vector<double> theta, int to,
                                   std::span<const double> source, int from) {
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    if (block.component_axis != 0) continue;
    const int size = block.size() / block.shape[0], begin = layout.offset(b);
    for (int i = 0; i < size; ++i)
      theta[static_cast<std::size_t>(begin + to * size + i)] =
          source[static_cast<std::size_t>(begin + from * size + i)];
  }
  return theta;
}

}  // namespace

int num_components(const ParameterLayout& layout) {
  for (const ParameterBlock& block : layout.blocks)
    if (block.component_axis == 0) return block.shape[0];
  return 0;
}

std::vector<int> order_like(const ParameterLayout& layout, std::span<const double> reference,
                            std::span<const double> theta) {
  std::vector<int> order(static_cast<std::size_t>(num_components(layout)));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    if (block.unit != DataUnit::location || block.component_axis != 0 || block.feature_axis != 1) continue;
    const auto K = static_cast<std::size_t>(block.shape[0]), d = static_cast<std::size_t>(block.shape[1]);
    const double* ours = theta.data() + layout.offset(b);
    const double* theirs = reference.data() + layout.offset(b);
    std::vector<double> cost(K * K, 0.0);
    for (std::size_t to = 0; to < K; ++to)
      for (std::size_t from = 0; from < K; ++from)
        for (std::size_t j = 0; j < d; ++j)
          cost[to * K + from] += std::pow(ours[from * d + j] - theirs[to * d + j], 2);
    return least_cost_assignment(cost, block.shape[0]);
  }
  return order;
}

std::vector<double> aligned(const Target& target, std::span<const double> reference,
                            std::span<const double> theta) {
  std::vector<double> same(theta.begin(), theta.end());
  if (!target.components_are_exchangeable()) return same;
  return permute_components(target.layout(), order_like(target.layout(), reference, theta), theta);
}

// If the arguments of the prior are numbers, the log prior is a sum over components, so that the best order
// solves an assignment problem. The components of a block share its sampled arguments, which therefore do not
// change with the order.
std::vector<int> order_of_prior(const Target& target, std::span<const double> theta) {
  const ParameterLayout& layout = target.layout();
  const int K = num_components(layout);
  std::vector<int> order(static_cast<std::size_t>(K));
  std::iota(order.begin(), order.end(), 0);
  if (K < 2 || target.components_are_exchangeable() || target.ordered_block()) return order;
  const std::vector<double> base(theta.begin(), theta.end());
  std::vector<double> cost;
  for (int to = 0; to < K; ++to)
    for (int from = 0; from < K; ++from) {
      const double log_prior = target.log_prior(with_component(layout, base, to, theta, from));
      cost.push_back(std::isfinite(log_prior) ? -log_prior : kImpossible);
    }
  const std::vector<int> best = least_cost_assignment(cost, K);
  const bool rises = target.log_prior(permute_components(layout, best, theta)) > target.log_prior(theta);
  return rises ? best : order;
}

std::vector<LabelImage> label_images(const Target& target, std::span<const double> theta, double depth) {
  constexpr int kMostComponents = 6;
  constexpr std::size_t kMostImages = 4;
  const ParameterLayout& layout = target.layout();
  const int K = num_components(layout);
  const std::vector<double> same(theta.begin(), theta.end());
  if (K < 2 || target.components_are_exchangeable() || target.ordered_block()) return {{same, 1}};
  if (K > kMostComponents) return {{permute_components(layout, order_of_prior(target, theta), theta), 1}};
  std::vector<int> order(static_cast<std::size_t>(K));
  std::iota(order.begin(), order.end(), 0);
  struct Image {
    double log_prior;
    LabelImage image;
  };
  std::vector<Image> images;
  do {
    std::vector<double> permuted = permute_components(layout, order, theta);
    const double log_prior = target.log_prior(permuted);
    const auto equal = std::find_if(images.begin(), images.end(), [&](const Image& i) {
      return i.log_prior == log_prior || std::abs(i.log_prior - log_prior) < 1e-9 * (1 + std::abs(log_prior));
    });
    if (equal != images.end())
      ++equal->image.times;
    else
      images.push_back({log_prior, {std::move(permuted), 1}});
  } while (std::next_permutation(order.begin(), order.end()));
  std::stable_sort(images.begin(), images.end(),
                   [](const Image& a, const Image& b) { return a.log_prior > b.log_prior; });
  std::vector<LabelImage> result;
  for (Image& image : images)
    if (result.empty() || (result.size() < kMostImages && image.log_prior > images.front().log_prior - depth))
      result.push_back(std::move(image.image));
  return result;
}

}  // namespace emomc
