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
  void (*log_densities_of_chains)(const Real* const* coefficients, int num_chains, const Real* tile,
                                  int num_rows, double* const* out);
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

/// Rows whose columns are kStride apart. A function of its own, so that the compiler knows that its arguments
/// do not overlap.
template <class Model, int kStride, class Real>
__attribute__((noinline)) void log_densities_of_rows(const Real* __restrict coefficients,
                                                     const Real* __restrict rows, int num_rows,
                                                     double* __restrict out) {
  const Model model{};
  for (int row = 0; row < num_rows; ++row)
    out[row] = static_cast<double>(
        model.template log_density<Real>(coefficients, RowOfColumns<Real, kStride>{rows + row}));
}

/// kRows rows in the first cache, columns kStride apart.
template <class Real, int kStride>
struct ColumnsInCache {
  const Real* first;
  EMOMC_INLINE const Real* column(int j) const { return first + j * kStride; }
};
/// The sums of products of one of such rows: those of one parameter vector are kRows apart.
template <class Real, int kRows>
struct SumsOfRow {
  const Real* first;
  EMOMC_INLINE Real operator[](int l) const { return first[l * kRows]; }
};

/// The log densities of rows from their sums of products, [sum][kRows].
template <class Model, int kStride, int kRows, class Real>
__attribute__((noinline)) void log_densities_of_sums(const Real* __restrict coefficients,
                                                     const Real* __restrict rows, const Real* __restrict sums,
                                                     int num_rows, double* __restrict out) {
  const Model model{};
  for (int row = 0; row < num_rows; ++row)
    out[row] = static_cast<double>(model.template log_density_of<Real>(
        coefficients, RowOfColumns<Real, kStride>{rows + row}, SumsOfRow<Real, kRows>{sums + row}));
}

/// Rows of a tile, [column][kTileRows], for some parameter vectors: out[chain][row]. They are copied in
/// chunks, so that they are in the first cache for all vectors, and since the columns of a tile lie at
/// multiples of 4 KiB, of which that cache holds about 12.
template <class Model, class Real>
void log_densities_of_chains(const Real* const* coefficients, int num_chains, const Real* tile, int num_rows,
                             double* const* out) {
  constexpr int kChunk = Model::num_columns <= 32 ? 128 : 64;
  constexpr int kStride = kChunk + 64 / static_cast<int>(sizeof(Real));
  constexpr int kCoefficients = DensityCoefficients<Model>::padded;
  alignas(64) Real chunk[Model::num_columns * kStride];
  for (int first = 0; first < num_rows; first += kChunk) {
    const int count = num_rows - first < kChunk ? num_rows - first : kChunk;
    for (int j = 0; j < Model::num_columns; ++j)
      for (int row = 0; row < kChunk; ++row) chunk[j * kStride + row] = tile[j * kTileRows + first + row];
    for (int chain = 0; chain < num_chains; ++chain) {
      if constexpr (kSumsProducts<Model>) {
        constexpr int kSums = Model::num_product_sums;
        alignas(64) Real sums[kSums][1][kChunk];
        Model::sum_products(coefficients[chain], kCoefficients, ColumnsInCache<Real, kStride>{chunk}, sums);
        log_densities_of_sums<Model, kStride, kChunk>(coefficients[chain], chunk, &sums[0][0][0], count,
                                                      out[chain] + first);
      } else {
        log_densities_of_rows<Model, kStride>(coefficients[chain], chunk, count, out[chain] + first);
      }
    }
  }
}

template <class Model, class Real>
void log_densities_of_tile(const Real* coefficients, const Real* tile, int num_rows, double* out) {
  if constexpr (Model::num_columns <= 12)
    log_densities_of_rows<Model, kTileRows>(coefficients, tile, num_rows, out);
  else
    log_densities_of_chains<Model>(&coefficients, 1, tile, num_rows, &out);
}

template <int kCount>
constexpr int num_blocks_of(const ParameterDescription (&)[kCount]) {
  return kCount;
}

template <class Model>
constexpr DensityLibrary density_library() {
  return {kDensityLibraryVersion,
          Model::num_columns,
          num_parameters_of<Model>(),
          Model::parameters,
          num_blocks_of(Model::parameters),
          kSumsProducts<Model>,
          DensityCoefficients<Model>::padded,
          DensityCoefficients<Model>::used(),
          {prepare_density<Model, float>, log_densities_of_tile<Model, float>,
           log_densities_of_chains<Model, float>},
          {prepare_density<Model, double>, log_densities_of_tile<Model, double>,
           log_densities_of_chains<Model, double>}};
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
