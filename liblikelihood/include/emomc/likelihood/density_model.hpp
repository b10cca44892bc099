// A likelihood of the user's own, a type as device/density.hpp describes it, as a RowModel.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "emomc/device/density.hpp"
#include "emomc/likelihood/row_model.hpp"

namespace emomc {

/// The headers under emomc/device of liblikelihood; empty in a build without CUDA.
const DeviceSources& likelihood_device_sources();
/// A header of the user's own, under the name of its file. Throws InputError where it cannot be read.
DeviceSource read_device_source(const std::string& file);

/// TileArithmetic of a Model; rows are evaluated one after the other, in loops that the compiler may
/// vectorise.
template <class Model, class Real>
class DensityTiles final : public TileArithmetic<Real> {
  using Coefficients = device::DensityCoefficients<Model>;

 public:
  explicit DensityTiles(const Model& model) : model_(model) {}
  int num_coefficients() const override { return Coefficients::padded; }
  int num_scratch() const override { return Coefficients::used(); }
  double prepare(const double* theta, Real* coefficients, double* scratch) const override {
    return Coefficients::prepare(device::HostTeam{}, model_, theta, coefficients, scratch);
  }
  void log_densities(const Real* coefficients, const Real* tile, int num_rows, double* out) const override {
    for (int row = 0; row < num_rows; ++row) {
      Real value[1];
      device::evaluate_density(
          model_, coefficients, [=](int j, Real(&x)[1]) { x[0] = tile[j * kTileRows + row]; }, value);
      out[row] = static_cast<double>(value[0]);
    }
  }
  std::size_t partial_sums(const Real* coefficients, const Real* tile, int num_rows,
                           double* out) const override {
    log_densities(coefficients, tile, num_rows, out);
    return static_cast<std::size_t>(num_rows);
  }
  double log_likelihood(double sum, std::size_t num_rows, double common) const override {
    return num_rows == 0 ? 0 : EMOMC_FMA(static_cast<double>(num_rows), common, sum);
  }
  double log_density(double of_row, double common) const override { return of_row + common; }

 private:
  Model model_;
};

template <class Model>
class DensityModel final : public RowModel {
 public:
  /// `header`: the file that defines Model. Kernels are compiled from its text as it is now, host code was
  /// compiled from what it was: an edited header takes a new build.
  explicit DensityModel(const std::string& header) : sources_{read_device_source(header)} {
    for (const device::ParameterDescription& p : Model::parameters) {
      ParameterBlock block;
      block.name = p.name;
      block.support = p.support;
      if (p.size > 0) block.shape = {p.size};
      layout_.blocks.push_back(std::move(block));
    }
  }

  const ParameterLayout& layout() const override { return layout_; }
  int num_columns() const override { return Model::num_columns; }
  /// Prepares the coefficients for each row, as it is only the reference engine's.
  double log_density(const double* theta, const double* row) const override {
    using Coefficients = device::DensityCoefficients<Model>;
    double exact[Coefficients::padded], coefficients[Coefficients::padded], value[1];
    const double common = Coefficients::prepare(device::HostTeam{}, model_, theta, coefficients, exact);
    device::evaluate_density(
        model_, coefficients, [row](int j, double(&x)[1]) { x[0] = row[j]; }, value);
    return value[0] + common;
  }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    return std::make_unique<DensityTiles<Model, float>>(model_);
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    return std::make_unique<DensityTiles<Model, double>>(model_);
  }
  DeviceModel device() const override {
    constexpr int kRegisters = 28;  // of 32 bits, for the columns of a thread's rows
    constexpr int registers = 2 * Model::num_columns;
    return {{std::string("emomc::device::Sized<emomc::device::DensityRows<") + Model::name + ">>",
             {"emomc/device/density_rows.cuh", sources_.front().name},
             {&likelihood_device_sources(), &sources_}},
            device::density_sizes<Model>(),
            true,
            4 * registers <= kRegisters   ? 4
            : 2 * registers <= kRegisters ? 2
            : registers <= kRegisters     ? 1
                                          : 0};
  }

 private:
  Model model_;
  ParameterLayout layout_;
  DeviceSources sources_;
};

}  // namespace emomc
