// Makes a RowModel of a mixture (models.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cpu_kernel.hpp"
#include "emomc/device/models.hpp"
#include "emomc/device/prepare_mixture.hpp"
#include "emomc/likelihood/models.hpp"
#include "emomc/likelihood/row_model.hpp"
#include "engine_factories.hpp"
#include "gradient_sums.hpp"
#include "mixture_gradient.hpp"
#include "mixture_reference.hpp"
#include "tree_sum.hpp"

namespace emomc {

/// The arithmetic of mixture_sum.hpp, dispatched to the processor's widest SIMD target. The kept numbers are
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

  int num_gradient_sums() const override { return gradient_sums(model_.shape()).size(); }
  std::size_t add_gradient_sums(const Real* coefficients, const Real* tile, int num_rows, double* out,
                                double* sums) const override {
    const GradientSums places = gradient_sums(model_.shape());
    const CacheLines<Real> work(gradient_work(places));
    const CacheLines<double> lanes(gradient_lanes(places));
    tile_gradient(mixture(coefficients, num_rows), tile, work.data(), lanes.data(), out, sums);
    return num_products(num_rows);
  }
  void gradient_of(const double* theta, const double* sums, std::size_t /*num_rows*/,
                   double* gradient) const override {
    write_mixture_gradient(model_, theta, sums, gradient);
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
  std::string why_no_gradient() const override { return {}; }
  void gradients(const double* theta, const double* rows, std::size_t num_rows, double* out,
                 double* gradients) const override {
    const auto d = static_cast<std::size_t>(num_columns()), n = static_cast<std::size_t>(layout_.dim());
    for (std::size_t i = 0; i < num_rows; ++i)
      out[i] = reference_.gradient(theta, rows + i * d, gradients + i * n);
  }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    return std::make_unique<MixtureTiles<Model, float>>(model_);
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    return std::make_unique<MixtureTiles<Model, double>>(model_);
  }
  DeviceModel device() const override { return {}; }  // the kernels of mixtures are compiled ahead of time

 private:
  Model model_;
  ParameterLayout layout_;
  MixtureReference<Model> reference_;
};

}  // namespace emomc
