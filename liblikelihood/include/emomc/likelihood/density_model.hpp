// Makes a RowModel of a likelihood of the user's own, a type as described in device/density.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emomc/core/host_compiler.hpp"
#include "emomc/device/density_library.hpp"
#include "emomc/likelihood/row_model.hpp"

namespace emomc {

/// The sources of liblikelihood's headers under emomc/device; empty in a build without CUDA.
const DeviceSources& likelihood_device_sources();
/// The text of a header of the user's own, under the name of its file. Throws InputError where the file
/// cannot be read.
DeviceSource read_device_source(const std::string& file);

/// The layout of the parameters that a density declares.
ParameterLayout layout_of(std::span<const device::ParameterDescription> declared);

/// TileArithmetic by the functions of a DensityLibrary.
template <class Real>
class DensityTiles final : public TileArithmetic<Real> {
 public:
  /// `owner` keeps the functions' code loaded; null where the code is part of the program.
  DensityTiles(const device::DensityLibrary& library, const device::DensityFunctions<Real>& functions,
               std::shared_ptr<const void> owner = nullptr)
      : library_(library), functions_(functions), owner_(std::move(owner)) {}
  int num_coefficients() const override { return library_.num_coefficients; }
  int num_scratch() const override { return library_.num_scratch; }
  double prepare(const double* theta, Real* coefficients, double* scratch) const override {
    return functions_.prepare(theta, coefficients, scratch);
  }
  void log_densities(const Real* coefficients, const Real* tile, int num_rows, double* out) const override {
    functions_.log_densities(coefficients, tile, num_rows, out);
  }
  std::size_t partial_sums(const Real* coefficients, const Real* tile, int num_rows,
                           double* out) const override {
    log_densities(coefficients, tile, num_rows, out);
    return static_cast<std::size_t>(num_rows);
  }
  int chains_at_once() const override { return 16; }
  std::size_t partial_sums_of_chains(const Real* const* coefficients, int num_chains, const Real* tile,
                                     int num_rows, double* const* out) const override {
    return static_cast<std::size_t>(
        functions_.partial_sums_of_chains(coefficients, num_chains, tile, num_rows, out));
  }
  int num_gradient_sums() const override { return library_.num_gradient_sums; }
  std::size_t add_gradient_sums_of_chains(const Real* const* coefficients, int num_chains, const Real* tile,
                                          int num_rows, double* const* out,
                                          double* const* sums) const override {
    return static_cast<std::size_t>(
        functions_.gradient_sums_of_chains(coefficients, num_chains, tile, num_rows, out, sums));
  }
  void gradient_of(const double* theta, const double* sums, std::size_t num_rows,
                   double* gradient) const override {
    std::vector<double> with_rows(sums, sums + library_.num_gradient_sums);
    with_rows.back() = static_cast<double>(num_rows);
    library_.gradient(theta, with_rows.data(), gradient);
  }
  double log_likelihood(double sum, std::size_t num_rows, double common) const override {
    return num_rows == 0 ? 0 : EMOMC_FMA(static_cast<double>(num_rows), common, sum);
  }
  double log_density(double of_row, double common) const override { return of_row + common; }

 private:
  device::DensityLibrary library_;
  device::DensityFunctions<Real> functions_;
  std::shared_ptr<const void> owner_;
};

/// Describes how kernels evaluate a density of type `type`, which the header `header` among `sources`
/// defines. `sources` must outlive the result.
DeviceModel device_model_of(const std::string& type, const std::string& header, const DeviceSources& sources,
                            const device::LikelihoodSizes& sizes, bool sums_products,
                            const device::GradientSizes& gradient = {});

/// The likelihood that `type` of the file `header` defines, with a gradient: this function compiles the
/// header with the system's compiler (and keeps the result in emomc's cache), once for numbers and once for
/// dual numbers (emomc/device/dual_numbers.hpp). The data have the columns of the type, in the same order.
/// Where the header cannot be differentiated, why_no_gradient() of the result returns the reason; a
/// likelihood with more than 64 parameters has no gradient. Throws InputError where the header cannot be read
/// or compiled, MachineError where there is no compiler or the compiler is killed.
std::shared_ptr<const RowModel> compile_density(const std::string& header, const std::string& type,
                                                HostBuild build = HostBuild::release);

template <class Model>
class DensityModel final : public RowModel {
 public:
  /// `header`: the file that defines Model. Kernels are compiled from the file's present text, host code was
  /// compiled when the program was built; so an edited header requires a new build.
  explicit DensityModel(const std::string& header) : sources_{read_device_source(header)} {
    layout_ = layout_of(Model::parameters);
  }

  const ParameterLayout& layout() const override { return layout_; }
  int num_columns() const override { return Model::num_columns; }
  /// Prepares the coefficients anew for each row, which is slow; only the reference engine calls this
  /// function.
  double log_density(const double* theta, const double* row) const override {
    using Coefficients = device::DensityCoefficients<Model>;
    double exact[Coefficients::padded], coefficients[Coefficients::padded], value[1];
    const double common = Coefficients::prepare(device::HostTeam{}, model_, theta, coefficients, exact);
    device::evaluate_density(
        model_, coefficients, [row](int j, double(&x)[1]) { x[0] = row[j]; }, value);
    return value[0] + common;
  }
  std::unique_ptr<TileArithmetic<float>> float32() const override {
    constexpr auto library = device::density_library<Model>();
    return std::make_unique<DensityTiles<float>>(library, library.float32);
  }
  std::unique_ptr<TileArithmetic<double>> float64() const override {
    constexpr auto library = device::density_library<Model>();
    return std::make_unique<DensityTiles<double>>(library, library.float64);
  }
  DeviceModel device() const override {
    return device_model_of(Model::name, sources_.front().name, sources_, device::density_sizes<Model>(),
                           device::kSumsProducts<Model>);
  }

 private:
  Model model_;
  ParameterLayout layout_;
  DeviceSources sources_;
};

}  // namespace emomc
