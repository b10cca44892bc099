// A mixture (models.hpp) as a RowModel.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "cpu_kernel.hpp"
#include "emomc/device/models.hpp"
#include "emomc/device/prepare_mixture.hpp"
#include "emomc/likelihood/models.hpp"
#include "emomc/likelihood/row_model.hpp"
#include "engine_factories.hpp"
#include "tree_sum.hpp"

namespace emomc {

/// Textbook formulas, in float64.
template <class Model>
class MixtureReference {
 public:
  explicit MixtureReference(const Model& model) : model_(model) {}

  double log_density(const double* theta, const double* x) const {
    const int K = model_.shape().num_components;
    std::vector<double> terms(static_cast<std::size_t>(K));
    for (int k = 0; k < K; ++k) {
      const double term = std::log(model_.weight(theta, k)) + log_component(theta, k, x);
      if (std::isnan(term)) return term;
      terms[static_cast<std::size_t>(k)] = term;
    }
    const double largest = *std::max_element(terms.begin(), terms.end());
    if (!std::isfinite(largest)) return largest;
    double sum = 0;
    for (double term : terms) sum += std::exp(term - largest);
    return largest + std::log(sum);
  }

 private:
  // Log density of one component: a Gaussian, or where the model has degrees of freedom a t distribution.
  double log_component(const double* theta, int k, const double* x) const {
    const int d = model_.shape().dim;
    if constexpr (requires { model_.degrees_of_freedom(theta, k); }) {
      const double freedom = model_.degrees_of_freedom(theta, k);
      // In 64 bits or more, since the two logarithms cancel where there are many degrees of freedom.
      const long double half = 0.5L * static_cast<long double>(freedom);
      double sum = static_cast<double>(std::lgamma(half + 0.5L * d) - std::lgamma(half)) -
                   0.5 * d * std::log(freedom * std::numbers::pi);
      double square = 0;
      for (int j = 0; j < d; ++j) {
        const double scale = model_.scale(theta, k, j), z = (x[j] - model_.mean(theta, k, j)) / scale;
        sum -= std::log(scale);
        square += z * z;
      }
      return sum - 0.5 * (freedom + d) * std::log1p(square / freedom);
    } else {
      static_assert(Model::has_gaussian_components, "the textbook density of the components belongs here");
      return log_gaussian(theta, k, x);
    }
  }

  double log_gaussian(const double* theta, int k, const double* x) const {
    const int d = model_.shape().dim;
    double sum = -0.5 * d * std::log(2 * std::numbers::pi);
    if constexpr (has_factor<Model>) {
      // Forward substitution: z = L^-1 (x - mean), row by row.
      std::vector<double> z(static_cast<std::size_t>(d));
      for (int i = 0; i < d; ++i) {
        double rest = x[i] - model_.mean(theta, k, i);
        for (int j = 0; j < i; ++j) rest -= model_.factor(theta, k, i, j) * z[static_cast<std::size_t>(j)];
        const double diagonal = model_.factor(theta, k, i, i);
        z[static_cast<std::size_t>(i)] = rest / diagonal;
        sum += -0.5 * z[static_cast<std::size_t>(i)] * z[static_cast<std::size_t>(i)] - std::log(diagonal);
      }
    } else {
      for (int j = 0; j < d; ++j) {
        const double sd = model_.scale(theta, k, j);
        const double z = (x[j] - model_.mean(theta, k, j)) / sd;
        sum += -0.5 * z * z - std::log(sd);
      }
    }
    return sum;
  }

  Model model_;
};

/// The arithmetic of mixture_sum.hpp, dispatched to the widest SIMD target of the processor. What is kept are
/// the sums of pairs of components.
template <class Model, class Real>
class MixtureTiles final : public TileArithmetic<Real> {
 public:
  explicit MixtureTiles(const Model& model) : model_(model) {}

  int num_coefficients() const override { return model_.shape().num_coefficients(); }
  int num_scratch() const override { return model_.shape().num_scratch(); }
  double prepare(const double* theta, Real* coefficients, double* scratch) const override {
    return device::prepare_mixture(device::HostTeam{}, model_, theta, coefficients, scratch);
  }

  void log_densities(const Real* coefficients, const Real* tile, int num_rows, double* out) const override {
    tile_log2_densities(mixture(coefficients, num_rows), tile, out);
  }
  std::size_t partial_sums(const Real* coefficients, const Real* tile, int num_rows,
                           double* out) const override {
    tile_log2_products(mixture(coefficients, num_rows), tile, out);
    return num_products(num_rows);
  }
  double log_likelihood(double sum, std::size_t num_rows, double common) const override {
    return log_likelihood_of(sum, num_rows, common);
  }
  double log_density(double of_row, double common) const override { return (of_row + common) * device::kLn2; }

  int num_kept() const override { return model_.shape().num_pairs(); }
  int slot_of(int component) const override { return component / device::kPair; }
  void keep(const Real* coefficients, const Real* tile, int num_rows, int slot, Real* out) const override {
    tile_pair(mixture(coefficients, num_rows), tile, slot, out);
  }
  std::size_t partial_sums_of_kept(const Real* coefficients, const Real* tile, const Real* const* kept,
                                   int num_rows, double* out) const override {
    tile_log2_products_of(mixture(coefficients, num_rows), tile, kept, out);
    return num_products(num_rows);
  }

 private:
  TileMixture<Real> mixture(const Real* coefficients, int num_rows) const {
    const auto shape = model_.shape();
    return {tile_form<Model>(), shape.num_components, shape.dim, num_rows, coefficients};
  }

  Model model_;
};

template <class Model>
class MixtureModel final : public RowModel {
 public:
  explicit MixtureModel(const Model& model) : model_(model), layout_(layout_of(model)), reference_(model) {}

  const ParameterLayout& layout() const override { return layout_; }
  int num_columns() const override { return model_.shape().dim; }
  double log_density(const double* theta, const double* row) const override {
    return reference_.log_density(theta, row);
  }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    return std::make_unique<MixtureTiles<Model, float>>(model_);
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    return std::make_unique<MixtureTiles<Model, double>>(model_);
  }
  DeviceModel device() const override { return {}; }  // its kernels are compiled ahead of time

 private:
  Model model_;
  ParameterLayout layout_;
  MixtureReference<Model> reference_;
};

}  // namespace emomc
