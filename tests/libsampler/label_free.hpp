// Computes quantities of a parameter vector that do not depend on the numbering of components: sorted values
// of each parameter that components have, and all other values unchanged.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "emomc/sampler/target.hpp"

namespace emomc::testing {

class LabelFree {
 public:
  explicit LabelFree(const Target& target) : target_(target) {
    std::vector<double> some(static_cast<std::size_t>(target.dim()), 1.0);
    visit(some, [&](const std::string& name, double) { names_.push_back(name); });
  }

  /// Returns the names of the quantities: sorted weights except the smallest; for each column sorted means,
  /// scales, correlations and their squares; sampled arguments; and for mixtures of two or more components
  /// the mixture's mean in each column. Fixed blocks give none.
  const std::vector<std::string>& names() const { return names_; }
  std::vector<double> operator()(std::span<const double> theta) const {
    std::vector<double> values;
    visit(theta, [&](const std::string&, double value) { values.push_back(value); });
    return values;
  }

 private:
  template <class F>
  void visit(std::span<const double> theta, const F& quantity) const {
    const auto& blocks = target_.layout().blocks;
    std::span<const double> weights, means;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const ParameterBlock& block = blocks[b];
      const auto values = theta.subspan(static_cast<std::size_t>(target_.layout().offset(b)),
                                        static_cast<std::size_t>(block.size()));
      if (block.name == "weights") weights = values;
      if (block.name == "means") means = values;
      if (target_.unconstrained_range(b).size == 0) continue;
      if (block.support == Support::covariance)
        visit_covariances(block, values, has_free_correlations(b), quantity);
      else
        visit_block(block, values, quantity);
    }
    for (std::size_t j = 0; weights.size() > 1 && j < means.size() / weights.size(); ++j) {
      double mean = 0;
      for (std::size_t k = 0; k < weights.size(); ++k)
        mean += weights[k] * means[k * means.size() / weights.size() + j];
      quantity("mixture_mean[" + std::to_string(j) + "]", mean);
    }
  }

  bool has_free_correlations(std::size_t b) const {
    const ParameterBlock& block = target_.layout().blocks[b];
    const int d = block.matrix_dim(), num_matrices = block.size() / (d * (d + 1) / 2);
    return target_.unconstrained_range(b).size > num_matrices * target_.free_scales(b);
  }

  template <class F>
  static void visit_block(const ParameterBlock& block, std::span<const double> values, const F& quantity) {
    const std::size_t K =
        block.component_axis == 0 ? static_cast<std::size_t>(block.shape[0]) : std::size_t{1};
    const std::size_t stride = values.size() / K;
    for (std::size_t j = 0; j < stride; ++j) {
      std::vector<double> column;
      for (std::size_t k = 0; k < K; ++k) column.push_back(values[k * stride + j]);
      report(block.name, j, column, quantity, block.support == Support::simplex ? 1 : 0);
    }
  }

  template <class F>
  static void visit_covariances(const ParameterBlock& block, std::span<const double> values,
                                bool has_correlations, const F& quantity) {
    const auto d = static_cast<std::size_t>(block.matrix_dim()), triangle = d * (d + 1) / 2,
               count = values.size() / triangle;
    const auto row = [&](std::size_t k, std::size_t i) { return &values[k * triangle + i * (i + 1) / 2]; };
    const auto product = [&](std::size_t k, std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t m = 0; m <= std::min(i, j); ++m) sum += row(k, i)[m] * row(k, j)[m];
      return sum;
    };
    std::size_t pair = 0;
    for (std::size_t i = 0; i < d; ++i) {
      std::vector<double> scales;
      for (std::size_t k = 0; k < count; ++k) scales.push_back(std::sqrt(product(k, i, i)));
      report("scales", i, scales, quantity);
      for (std::size_t j = 0; has_correlations && j < i; ++j) {
        std::vector<double> correlations, squares;
        for (std::size_t k = 0; k < count; ++k) {
          correlations.push_back(product(k, i, j) / std::sqrt(product(k, i, i) * product(k, j, j)));
          squares.push_back(correlations.back() * correlations.back());
        }
        report("squared_correlations", pair, squares, quantity);
        report("correlations", pair++, correlations, quantity);
      }
    }
  }

  template <class F>
  static void report(const std::string& name, std::size_t column, std::vector<double> values,
                     const F& quantity, std::size_t first = 0) {
    std::sort(values.begin(), values.end());
    for (std::size_t k = first; k < values.size(); ++k)
      quantity(name + "[" + std::to_string(column) + "," + std::to_string(k) + "]", values[k]);
  }

  const Target& target_;
  std::vector<std::string> names_;
};

}  // namespace emomc::testing
