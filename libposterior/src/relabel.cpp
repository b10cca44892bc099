#include "emomc/posterior/relabel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/mixture_labels.hpp"

namespace emomc {
namespace {

constexpr int kMostRounds = 100;
// A variance is at least this share of the feature's variance over all draws and components. Otherwise a
// component whose feature is constant would determine the permutations alone.
constexpr double kLeastShare = 1e-6;

/// The features of all draws, and the alternating optimisation of permutations and normal densities.
class FeatureMatcher {
 public:
  FeatureMatcher(std::span<const double> x, std::size_t n, int K, std::size_t F)
      : x_(x), n_(n), K_(static_cast<std::size_t>(K)), F_(F), least_(F), mean_(K_ * F), variance_(K_ * F) {
    const auto count = static_cast<double>(n * K_);
    for (std::size_t f = 0; f < F; ++f) {
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i < n * K_; ++i) sum += x_[i * F + f];
      for (std::size_t i = 0; i < n * K_; ++i) squares += std::pow(x_[i * F + f] - sum / count, 2);
      least_[f] = std::max(kLeastShare * squares / count, std::numeric_limits<double>::min());
    }
  }

  /// Orders the components of each draw by one feature; the next features break ties.
  std::vector<int> ordered_by(std::size_t feature) const {
    std::vector<int> permutation(n_ * K_);
    for (std::size_t i = 0; i < n_; ++i) {
      int* const p = permutation.data() + i * K_;
      std::iota(p, p + K_, 0);
      std::sort(p, p + K_, [&](int a, int b) {
        for (std::size_t f = 0; f < F_; ++f) {
          const double u = at(i, a, (feature + f) % F_), v = at(i, b, (feature + f) % F_);
          if (u != v) return u < v;
        }
        return false;
      });
    }
    return permutation;
  }

  MatchedFeatures improve(std::vector<int> permutation) {
    MatchedFeatures result;
    result.converged = false;
    for (result.num_rounds = 1; result.num_rounds <= kMostRounds && !result.converged; ++result.num_rounds) {
      set_moments(permutation);
      result.converged = !assign(permutation, result.cost);
    }
    --result.num_rounds;
    result.permutation = std::move(permutation);
    return result;
  }

  /// Numbers the components by the mean of the first feature; the next features break ties.
  void sort(std::vector<int>& permutation) {
    set_moments(permutation);
    std::vector<std::size_t> order(K_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::lexicographical_compare(mean_.begin() + static_cast<std::ptrdiff_t>(a * F_),
                                          mean_.begin() + static_cast<std::ptrdiff_t>((a + 1) * F_),
                                          mean_.begin() + static_cast<std::ptrdiff_t>(b * F_),
                                          mean_.begin() + static_cast<std::ptrdiff_t>((b + 1) * F_));
    });
    std::vector<int> old(K_);
    for (std::size_t i = 0; i < n_; ++i) {
      int* const p = permutation.data() + i * K_;
      std::copy(p, p + K_, old.begin());
      for (std::size_t k = 0; k < K_; ++k) p[k] = old[order[k]];
    }
  }

 private:
  double at(std::size_t draw, int component, std::size_t feature) const {
    return x_[(draw * K_ + static_cast<std::size_t>(component)) * F_ + feature];
  }

  void set_moments(const std::vector<int>& permutation) {
    std::fill(mean_.begin(), mean_.end(), 0.0);
    std::fill(variance_.begin(), variance_.end(), 0.0);
    const auto each = [&](auto use) {
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t k = 0; k < K_; ++k)
          for (std::size_t f = 0; f < F_; ++f) use(k * F_ + f, at(i, permutation[i * K_ + k], f));
    };
    each([&](std::size_t to, double x) { mean_[to] += x / static_cast<double>(n_); });
    each([&](std::size_t to, double x) {
      variance_[to] += (x - mean_[to]) * (x - mean_[to]) / static_cast<double>(n_);
    });
    for (std::size_t to = 0; to < variance_.size(); ++to)
      variance_[to] = std::max(variance_[to], least_[to % F_]);
  }

  /// Computes the best permutation of each draw and the total cost. Returns whether a permutation has
  /// changed.
  bool assign(std::vector<int>& permutation, double& total) const {
    std::vector<double> cost(K_ * K_);
    bool changed = false;
    total = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < K_; ++k)
        for (std::size_t j = 0; j < K_; ++j) {
          double sum = 0;
          for (std::size_t f = 0; f < F_; ++f) {
            const double z = at(i, static_cast<int>(j), f) - mean_[k * F_ + f], v = variance_[k * F_ + f];
            sum += 0.5 * (z * z / v + std::log(v));
          }
          cost[k * K_ + j] = sum;
        }
      int* const p = permutation.data() + i * K_;
      const auto of = [&](const int* assigned) {
        double sum = 0;
        for (std::size_t k = 0; k < K_; ++k) sum += cost[k * K_ + static_cast<std::size_t>(assigned[k])];
        return sum;
      };
      const std::vector<int> best = least_cost_assignment(cost, static_cast<int>(K_));
      const double before = of(p), after = of(best.data());
      // If costs are equal up to rounding, the permutation is kept, so that the rounds end.
      if (after < before - 1e-12 * (std::abs(before) + 1)) {
        std::copy(best.begin(), best.end(), p);
        changed = true;
      }
      total += std::min(before, after);
    }
    return changed;
  }

  std::span<const double> x_;
  std::size_t n_, K_, F_;
  std::vector<double> least_, mean_, variance_;
};

}  // namespace

MatchedFeatures match_features(std::span<const double> features, std::size_t num_draws, int num_components,
                               std::size_t num_features) {
  if (num_draws == 0 || num_components < 1 || num_features == 0 ||
      features.size() != num_draws * static_cast<std::size_t>(num_components) * num_features)
    throw InputError(std::to_string(features.size()) +
                     " features; allowed: draws x components x features, at least one of each");
  if (!std::all_of(features.begin(), features.end(), [](double x) { return std::isfinite(x); }))
    throw InputError("features: a number is not finite");
  FeatureMatcher matcher(features, num_draws, num_components, num_features);
  MatchedFeatures best;
  best.cost = std::numeric_limits<double>::infinity();
  for (std::size_t f = 0; f < num_features; ++f) {
    MatchedFeatures found = matcher.improve(matcher.ordered_by(f));
    if (found.cost < best.cost) best = std::move(found);
  }
  matcher.sort(best.permutation);
  return best;
}

}  // namespace emomc
