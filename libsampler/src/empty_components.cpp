#include "emomc/sampler/empty_components.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "emomc/sampler/laplace.hpp"
#include "start_labels.hpp"

namespace emomc {
namespace {

constexpr int kTries = 20, kSimulated = 200;
// Occupancies below this bound are not distinguished from 0, because densities of rows are rounded.
constexpr double kNoRows = 1e-8;
// Number of the first random stream for draws of empty components from the prior; chains have the numbers
// below.
constexpr std::uint32_t kFirstDraw = (1u << 31) + 1024;

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

// Returns the components of `fewer`, which has m of them, followed by those of `drawn` from component m on;
// the total weight of the latter is `weight_of_empty`. Parameters that components share are those of `fewer`.
std::vector<double> combined(const ParameterLayout& layout, int K, int m, std::span<const double> fewer,
                             std::span<const double> drawn, double weight_of_empty) {
  std::vector<double> theta;
  std::size_t at = 0;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    const auto offset = static_cast<std::size_t>(layout.offset(b)),
               size = static_cast<std::size_t>(block.size());
    const bool by_component = block.component_axis == 0;
    const std::size_t each = by_component ? size / static_cast<std::size_t>(K) : size;
    const std::size_t taken = by_component ? each * static_cast<std::size_t>(m) : size;
    const bool weights = by_component && block.support == Support::simplex;
    for (std::size_t i = 0; i < taken; ++i)
      theta.push_back(weights ? fewer[at + i] * (1 - weight_of_empty) : fewer[at + i]);
    for (std::size_t i = taken; i < size; ++i)
      theta.push_back(weights ? weight_of_empty / (K - m) : drawn[offset + i]);
    at += taken;
  }
  return theta;
}

}  // namespace

std::optional<double> concentration_for_empty(const Target& target) {
  const TargetTables& tables = target.tables();
  if (num_components(target.layout()) < 2 || tables.simplices.size() != 1 || !tables.conditionals.empty())
    return {};
  if (!target.components_are_exchangeable() && !target.ordered_block()) return {};
  const device::SimplexBlock& weights = tables.simplices.front();
  const auto element = [&](int i) { return tables.elements[static_cast<std::size_t>(weights.begin + i)]; };
  for (int i = 0; i < weights.size; ++i)
    if (element(i).density != device::Density::power || element(i).a != element(0).a) return {};
  return element(0).a + 1;
}

double log_mass_of_empty(int K, int m, double alpha, double num_rows, bool ordered) {
  const double occupied = m * alpha, empty = (K - m) * alpha;
  return log_beta(occupied + num_rows, empty) - log_beta(occupied, empty) - std::lgamma(K - m + 1.0) +
         (ordered ? std::lgamma(K + 1.0) : 0.0);
}

std::optional<Optimum> with_empty_components(const Target& target, LikelihoodEngine& engine,
                                             const Optimum& fewer, int m, double alpha, double num_rows,
                                             std::uint64_t seed, std::uint32_t index) {
  const ParameterLayout& layout = target.layout();
  const int K = num_components(layout);
  const double factor = num_rows / static_cast<double>(engine.num_rows());
  std::vector<double> sums(engine.num_segments());
  const auto log_likelihood = [&](std::span<const double> theta) {
    engine.sums_by_segment(theta.data(), 1, sums.data());
    double total = 0;
    for (const double sum : sums) total += sum;
    return factor * total;
  };
  const double weight_of_empty = (K - m) * alpha / (K * alpha + num_rows);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const std::vector<double> drawn =
        target.draw_from_prior(seed, kFirstDraw + index, static_cast<std::uint64_t>(attempt));
    Optimum optimum;
    optimum.theta = combined(layout, K, m, fewer.theta, drawn, weight_of_empty);
    target.move_inside(optimum.theta);
    optimum.log_prior = target.log_prior(optimum.theta);
    optimum.log_likelihood = log_likelihood(optimum.theta);
    if (!std::isfinite(optimum.log_prior) || !std::isfinite(optimum.log_likelihood)) continue;
    optimum.log_mass =
        fewer.log_mass + log_mass_of_empty(K, m, alpha, num_rows, target.ordered_block().has_value());
    optimum.num_empty = K - m;
    std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained())),
        at(static_cast<std::size_t>(target.dim()));
    target.unconstrain(optimum.theta, u);
    const auto density = [&](std::span<const double> point) {
      const auto densities = target.constrain_with_prior(point, at);
      return std::isfinite(densities.log_prior)
                 ? log_likelihood(at) + densities.log_prior + densities.log_jacobian
                 : -std::numeric_limits<double>::infinity();
    };
    optimum.sd = laplace_at(density, u, {.curvature = Curvature::diagonal}).sd;
    return optimum;
  }
  return {};
}

EmptyMode::EmptyMode(const Target& target, LikelihoodEngine& engine, const Optimum& optimum, double alpha,
                     double num_rows, std::uint64_t seed)
    : engine_(engine), num_empty_(optimum.num_empty), with_(engine.num_rows()), without_(engine.num_rows()) {
  const ParameterLayout& layout = target.layout();
  int columns = 1;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const ParameterBlock& block = layout.blocks[b];
    if (block.feature_axis >= 0) columns = block.shape[static_cast<std::size_t>(block.feature_axis)];
    if (block.support != Support::simplex || block.component_axis != 0) continue;
    begin_ = static_cast<std::size_t>(layout.offset(b));
    size_ = static_cast<std::size_t>(block.size());
  }
  // The expected number of rows of all empty components is distributed like Gamma(num_empty alpha, 1).
  const double mean = num_empty_ * alpha;
  most_weight_ = std::max(num_empty_ * (columns + 2.0), mean + 3 * std::sqrt(mean)) / num_rows;
  std::vector<double> drawn;
  std::vector<std::size_t> empty;
  total_weight(optimum.theta, empty);
  const int K = num_components(layout), m = K - num_empty_;
  for (int i = 0; i < kSimulated; ++i) {
    std::vector<double> theta = optimum.theta;
    const std::vector<double> prior =
        target.draw_from_prior(seed, kFirstDraw - 1, static_cast<std::uint64_t>(i));
    for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
      const ParameterBlock& block = layout.blocks[b];
      if (block.component_axis != 0 || block.support == Support::simplex) continue;
      const auto offset = static_cast<std::size_t>(layout.offset(b)),
                 each = static_cast<std::size_t>(block.size()) / size_;
      for (std::size_t e = 0; e < empty.size(); ++e)
        for (std::size_t j = 0; j < each; ++j)
          theta[offset + empty[e] * each + j] = prior[offset + (static_cast<std::size_t>(m) + e) * each + j];
    }
    drawn.push_back(occupancy(theta));
  }
  std::sort(drawn.begin(), drawn.end());
  most_occupancy_ = std::max(drawn[drawn.size() / 2], kNoRows);
  recognised_ =
      static_cast<double>(std::upper_bound(drawn.begin(), drawn.end(), most_occupancy_) - drawn.begin()) /
      static_cast<double>(drawn.size());
}

// Finds the components with the smallest weights; returns their total weight.
double EmptyMode::total_weight(std::span<const double> theta, std::vector<std::size_t>& smallest) const {
  smallest.resize(size_);
  std::iota(smallest.begin(), smallest.end(), std::size_t{0});
  std::sort(smallest.begin(), smallest.end(), [&](std::size_t a, std::size_t b) {
    const double x = theta[begin_ + a], y = theta[begin_ + b];
    return x < y || (x == y && a < b);
  });
  smallest.resize(static_cast<std::size_t>(num_empty_));
  double total = 0;
  for (const std::size_t k : smallest) total += theta[begin_ + k];
  return total;
}

// Returns the expected number of rows of these components, divided by the number that their weights imply.
// Let f be the density of a row, g its density without these components, and w their total weight, where the
// other weights in g are divided by 1 - w. The row belongs to these components with probability 1 - (1 - w) g
// / f.
double EmptyMode::occupancy(std::span<const double> theta) {
  const double w = total_weight(theta, smallest_);
  copy_.assign(theta.begin(), theta.end());
  for (std::size_t k = 0; k < size_; ++k) copy_[begin_ + k] /= 1 - w;
  for (const std::size_t k : smallest_) copy_[begin_ + k] = std::numeric_limits<double>::min();
  engine_.evaluate_rows(theta.data(), with_.data());
  engine_.evaluate_rows(copy_.data(), without_.data());
  double rows = 0;
  const double log_rest = std::log1p(-w);
  for (std::size_t i = 0; i < with_.size(); ++i)
    rows += -std::expm1(std::min(0.0, log_rest + without_[i] - with_[i]));
  return rows / (w * static_cast<double>(with_.size()));
}

bool EmptyMode::contains(std::span<const double> theta) {
  return total_weight(theta, smallest_) <= most_weight_ && occupancy(theta) <= most_occupancy_;
}

}  // namespace emomc
