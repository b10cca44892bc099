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
  const ParameterDescription* parameters;  ///< [num_blocks] what the likelihood declares
  int num_blocks;
  bool sums_products;    ///< kSumsProducts
  int num_coefficients;  ///< padded
  int num_scratch;       ///< doubles that prepare() works in
  DensityFunctions<float> float32;
  DensityFunctions<double> float64;
};
inline constexpr int kDensityLibraryVersion = 2;

template <class Model, class Real>
double prepare_density(const double* theta, Real* coefficients, double* scratch) {
  return DensityCoefficients<Model>::prepare(HostTeam{}, Model{}, theta, coefficients, scratch);
}

/// One row of rows that are stored column by column.
template <class Real, int kStride>
struct RowOfColumns {
  const Real* first;
  EMOMC_INLINE Real operator[](int column) const { return first[column * kStride]; }
};

/// `tile` is [column][kTileRows].
template <class Model, class Real>
void log_densities_of_tile(const Real* __restrict coefficients, const Real* __restrict tile, int num_rows,
                           double* __restrict out) {
  const Model model{};
  // The columns of a tile lie at multiples of 4 KiB, of which a processor's first cache holds about 12. More
  // are copied, some rows at a time, to places that do not collide.
  constexpr int kFewColumns = 12, kChunk = 64, kStride = kChunk + 64 / static_cast<int>(sizeof(Real));
  if constexpr (Model::num_columns <= kFewColumns) {
    for (int row = 0; row < num_rows; ++row)
      out[row] = static_cast<double>(
          model.template log_density<Real>(coefficients, RowOfColumns<Real, kTileRows>{tile + row}));
  } else {
    Real chunk[Model::num_columns * kStride];
    for (int first = 0; first < num_rows; first += kChunk) {
      const int count = num_rows - first < kChunk ? num_rows - first : kChunk;
      for (int j = 0; j < Model::num_columns; ++j)
        for (int row = 0; row < kChunk; ++row) chunk[j * kStride + row] = tile[j * kTileRows + first + row];
      for (int row = 0; row < count; ++row)
        out[first + row] = static_cast<double>(
            model.template log_density<Real>(coefficients, RowOfColumns<Real, kStride>{chunk + row}));
    }
  }
}

template <class Model>
constexpr DensityLibrary density_library() {
  return {kDensityLibraryVersion,
          Model::num_columns,
          num_parameters_of<Model>(),
          Model::parameters,
          static_cast<int>(sizeof(Model::parameters) / sizeof(Model::parameters[0])),
          kSumsProducts<Model>,
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
