// A likelihood of the user's own (density.hpp) as a shared library that the system's compiler makes at run
// time: plain functions and numbers, so that the program and the library need agree on nothing else. Rows
// are evaluated one after the other, in loops that the compiler may vectorise.
#ifndef EMOMC_DEVICE_DENSITY_LIBRARY_HPP
#define EMOMC_DEVICE_DENSITY_LIBRARY_HPP

#include "emomc/device/density.hpp"

namespace emomc::device {

/// Functions of TileArithmetic (likelihood/row_model.hpp) with numbers of type Real.
template <class Real>
struct DensityFunctions {
  double (*prepare)(const double* theta, Real* coefficients, double* scratch);
  void (*log_densities)(const Real* coefficients, const Real* tile, int num_rows, double* out);
};

/// What the library's emomc_density_library() returns.
struct DensityLibrary {
  int version;
  int num_columns, num_parameters;
  int num_coefficients;  ///< padded
  int num_scratch;       ///< doubles that prepare() works in
  DensityFunctions<float> float32;
  DensityFunctions<double> float64;
};
inline constexpr int kDensityLibraryVersion = 1;

template <class Model, class Real>
double prepare_density(const double* theta, Real* coefficients, double* scratch) {
  return DensityCoefficients<Model>::prepare(HostTeam{}, Model{}, theta, coefficients, scratch);
}

/// `tile` is [column][kTileRows].
template <class Model, class Real>
void log_densities_of_tile(const Real* __restrict coefficients, const Real* __restrict tile, int num_rows,
                           double* __restrict out) {
  const Model model{};
  for (int row = 0; row < num_rows; ++row) {
    Real value[1];
    evaluate_density(
        model, coefficients, [=](int j, Real(&x)[1]) { x[0] = tile[j * kTileRows + row]; }, value);
    out[row] = static_cast<double>(value[0]);
  }
}

template <class Model>
constexpr DensityLibrary density_library() {
  return {kDensityLibraryVersion,
          Model::num_columns,
          num_parameters_of<Model>(),
          DensityCoefficients<Model>::padded,
          DensityCoefficients<Model>::used(),
          {prepare_density<Model, float>, log_densities_of_tile<Model, float>},
          {prepare_density<Model, double>, log_densities_of_tile<Model, double>}};
}

}  // namespace emomc::device

/// Defines the library's only visible function.
#define EMOMC_DENSITY_LIBRARY(Model)                                                     \
  extern "C" __attribute__((visibility("default"))) const emomc::device::DensityLibrary* \
  emomc_density_library() {                                                              \
    static constexpr auto kLibrary = emomc::device::density_library<Model>();            \
    return &kLibrary;                                                                    \
  }

#endif  // EMOMC_DEVICE_DENSITY_LIBRARY_HPP
