// The interface of a shared library that holds a likelihood of the user's own (density.hpp) and that the
// system's compiler makes at run time. It consists of plain functions and numbers, so that the program and
// the library need agree on nothing else. Rows are evaluated one after the other, in loops that the compiler
// may vectorise.
#ifndef EMOMC_DEVICE_DENSITY_LIBRARY_HPP
#define EMOMC_DEVICE_DENSITY_LIBRARY_HPP

#include "emomc/device/cached_columns.hpp"
#include "emomc/device/density.hpp"

namespace emomc::device {

/// The functions of TileArithmetic (likelihood/row_model.hpp) with numbers of type Real.
template <class Real>
struct DensityFunctions {
  double (*prepare)(const double* theta, Real* coefficients, double* scratch);
  void (*log_densities)(const Real* coefficients, const Real* tile, int num_rows, double* out);
  /// Writes sums of log densities of neighbouring rows to out[chain], and returns how many.
  int (*partial_sums_of_chains)(const Real* const* coefficients, int num_chains, const Real* tile,
                                int num_rows, double* const* out);
  /// Also adds the sums over rows that the gradient needs to sums[chain][num_gradient_sums]; null where there
  /// is no gradient.
  int (*gradient_sums_of_chains)(const Real* const* coefficients, int num_chains, const Real* tile,
                                 int num_rows, double* const* out, double* const* sums);
};

/// The likelihood that the library's function emomc_density_library() returns.
struct DensityLibrary {
  int version;
  int num_columns, num_parameters;
  const ParameterDescription* parameters;  ///< [num_blocks] parameters that the likelihood declares
  int num_blocks;
  bool sums_products;     ///< kSumsProducts of the likelihood
  int num_coefficients;   ///< number of coefficients with padding
  int num_scratch;        ///< doubles of scratch memory for prepare()
  int num_gradient_sums;  ///< sums over rows that the gradient needs; 0: there is no gradient
  /// Writes d log likelihood / d theta from the sums over rows, the last of which is the number of rows.
  void (*gradient)(const double* theta, const double* sums, double* gradient);
  DensityFunctions<float> float32;
  DensityFunctions<double> float64;
};
inline constexpr int kDensityLibraryVersion = 4;

template <class Model, class Real>
double prepare_density(const double* theta, Real* coefficients, double* scratch) {
  return DensityCoefficients<Model>::prepare(HostTeam{}, Model{}, theta, coefficients, scratch);
}

/// One row among rows that are stored column by column.
template <class Real, int kStride>
struct RowOfColumns {
  const Real* first;
  EMOMC_INLINE Real operator[](int column) const { return first[column * kStride]; }
};

/// Writes the log densities of rows whose columns are kStride apart. This is a function of its own so that
/// the compiler can assume that its arguments do not overlap.
template <class Model, int kStride, class Real>
__attribute__((noinline)) void log_densities_of_rows(const Real* __restrict coefficients,
                                                     const Real* __restrict rows, int num_rows,
                                                     double* __restrict out) {
  const Model model{};
  for (int row = 0; row < num_rows; ++row)
    out[row] = static_cast<double>(
        model.template log_density<Real>(coefficients, RowOfColumns<Real, kStride>{rows + row}));
}

/// The sums of products of one of the rows of CachedColumns for one parameter vector; neighbouring sums are
/// kRows apart.
template <class Real, int kRows>
struct SumsOfRow {
  const Real* first;
  EMOMC_INLINE Real operator[](int l) const { return first[l * kRows]; }
};

/// Writes the log densities of rows from their sums of products, [sum][kRows].
template <class Model, int kStride, int kRows, class Real>
__attribute__((noinline)) void log_densities_of_sums(const Real* __restrict coefficients,
                                                     const Real* __restrict rows, const Real* __restrict sums,
                                                     int num_rows, double* __restrict out) {
  const Model model{};
  for (int row = 0; row < num_rows; ++row)
    out[row] = static_cast<double>(model.template log_density_of<Real>(
        coefficients, RowOfColumns<Real, kStride>{rows + row}, SumsOfRow<Real, kRows>{sums + row}));
}

/// A copy of some rows of a tile, [column][kTileRows], which stays in the first-level cache for all parameter
/// vectors.
template <class Model, class Real>
struct ChunkOfTile {
  static constexpr int kRows = Model::num_columns <= 32 ? 128 : 64;
  static constexpr int kStride = kRows + 64 / static_cast<int>(sizeof(Real));
  alignas(64) Real values[Model::num_columns * kStride];

  /// Copies rows from `first` on and prefetches the rows that follow, of this tile or of the next one in
  /// memory: pieces of columns are too short for the processor's own prefetching.
  void load(const Real* tile, int first) {
    constexpr int kLine = 64 / static_cast<int>(sizeof(Real));
    const Real* const next =
        first + kRows < kTileRows ? tile + first + kRows : tile + Model::num_columns * kTileRows;
    for (int j = 0; j < Model::num_columns; ++j) {
      for (int row = 0; row < kRows; row += kLine) __builtin_prefetch(next + j * kTileRows + row, 0, 2);
      for (int row = 0; row < kRows; ++row) values[j * kStride + row] = tile[j * kTileRows + first + row];
    }
  }
};

/// The sum of values[count] in the order of tree_sum() (tree_sum.hpp), for count <= kRows; overwrites the
/// values.
template <int kRows>
EMOMC_INLINE double sum_in_tree(double (&values)[kRows], int count) {
  if (count < kRows) {
    while (count > 1) {
      const int pairs = count / 2;
      for (int i = 0; i < pairs; ++i) values[i] = values[2 * i] + values[2 * i + 1];
      if (count % 2) values[pairs] = values[count - 1] + 0.0;
      count = pairs + count % 2;
    }
    return values[0];
  }
  typedef double Eight __attribute__((vector_size(64), may_alias));
  Eight* const v = reinterpret_cast<Eight*>(values);
  EMOMC_UNROLL
  for (int n = kRows / 16; n > 0; n /= 2) EMOMC_UNROLL
  for (int i = 0; i < n; ++i)
    v[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 2, 4, 6, 8, 10, 12, 14) +
           __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 3, 5, 7, 9, 11, 13, 15);
  const Eight& a = v[0];
  return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
}

/// Calls use(chain, first, count, log densities) for each chunk of the rows of a tile, [column][kTileRows],
/// and each parameter vector. Rows are copied in chunks, so that they are in the first-level cache for all
/// vectors. The copies also avoid the columns' distances, multiples of 4 KiB, of which that cache holds about
/// 12.
template <class Model, class Real, class Use>
EMOMC_INLINE void for_each_chunk(const Real* const* coefficients, int num_chains, const Real* tile,
                                 int num_rows, const Use& use) {
  constexpr int kRows = ChunkOfTile<Model, Real>::kRows, kStride = ChunkOfTile<Model, Real>::kStride;
  constexpr int kCoefficients = DensityCoefficients<Model>::padded;
  ChunkOfTile<Model, Real> chunk;
  alignas(64) double densities[kRows];
  for (int first = 0; first < num_rows; first += kRows) {
    const int count = num_rows - first < kRows ? num_rows - first : kRows;
    chunk.load(tile, first);
    for (int chain = 0; chain < num_chains; ++chain) {
      if constexpr (kSumsProducts<Model>) {
        alignas(64) Real sums[Model::num_product_sums][1][kRows];
        Model::sum_products(coefficients[chain], kCoefficients,
                            CachedColumns<Real, kStride, kRows>{chunk.values}, sums);
        log_densities_of_sums<Model, kStride, kRows>(coefficients[chain], chunk.values, &sums[0][0][0], count,
                                                     densities);
      } else {
        log_densities_of_rows<Model, kStride>(coefficients[chain], chunk.values, count, densities);
      }
      use(chain, first, count, densities);
    }
  }
}

/// Writes the sum of the log densities of each chunk to out[chain], since the densities of all rows and
/// vectors would not fit in the first-level cache. Returns the number of chunks.
template <class Model, class Real>
int partial_sums_of_chains(const Real* const* coefficients, int num_chains, const Real* tile, int num_rows,
                           double* const* out) {
  constexpr int kRows = ChunkOfTile<Model, Real>::kRows;
  for_each_chunk<Model>(coefficients, num_chains, tile, num_rows,
                        [out](int chain, int first, int count, double(&densities)[kRows]) {
                          out[chain][first / kRows] = sum_in_tree(densities, count);
                        });
  return (num_rows + kRows - 1) / kRows;
}

/// Writes the log densities of rows, and the numbers of log_density_and_adjoints(), [number][kRows].
template <class Model, int kStride, int kRows, class Real>
__attribute__((noinline)) void adjoints_of_rows(const Real* __restrict coefficients,
                                                const Real* __restrict rows, const Real* __restrict sums,
                                                int num_rows, double* __restrict out,
                                                Real* __restrict adjoints) {
  const Model model{};
  for (int row = 0; row < num_rows; ++row) {
    Real a[Model::num_adjoints];
    out[row] = static_cast<double>(model.template log_density_and_adjoints<Real>(
        coefficients, RowOfColumns<Real, kStride>{rows + row}, SumsOfRow<Real, kRows>{sums + row}, a));
    for (int m = 0; m < Model::num_adjoints; ++m) adjoints[m * kRows + row] = a[m];
  }
}

template <class Model, class Real>
int gradient_sums_of_chains(const Real* const* coefficients, int num_chains, const Real* tile, int num_rows,
                            double* const* out, double* const* sums) {
  using Chunk = ChunkOfTile<Model, Real>;
  constexpr int kRows = Chunk::kRows, kStride = Chunk::kStride;
  constexpr int kCoefficients = DensityCoefficients<Model>::padded;
  Chunk chunk;
  for (int first = 0; first < num_rows; first += kRows) {
    const int count = num_rows - first < kRows ? num_rows - first : kRows;
    chunk.load(tile, first);
    const CachedColumns<Real, kStride, kRows> columns{chunk.values};
    for (int chain = 0; chain < num_chains; ++chain) {
      alignas(64) double densities[kRows];
      alignas(64) Real adjoints[Model::num_adjoints][kRows] = {};
      if constexpr (kSumsProducts<Model>) {
        alignas(64) Real products[Model::num_product_sums][1][kRows];
        Model::sum_products(coefficients[chain], kCoefficients, columns, products);
        adjoints_of_rows<Model, kStride, kRows>(coefficients[chain], chunk.values, &products[0][0][0], count,
                                                densities, &adjoints[0][0]);
      } else {
        adjoints_of_rows<Model, kStride, kRows, Real>(coefficients[chain], chunk.values, nullptr, count,
                                                      densities, &adjoints[0][0]);
      }
      out[chain][first / kRows] = sum_in_tree(densities, count);
      Model::template add_adjoints<kRows>(columns, adjoints, count, sums[chain]);
    }
  }
  return (num_rows + kRows - 1) / kRows;
}

template <class Model>
void gradient_of_density(const double* theta, const double* sums, double* gradient) {
  Model{}.prepare_gradient(HostTeam{}, theta, sums, gradient);
}

template <class Model, class Real>
void log_densities_of_tile(const Real* coefficients, const Real* tile, int num_rows, double* out) {
  if constexpr (Model::num_columns <= 12)
    log_densities_of_rows<Model, kTileRows>(coefficients, tile, num_rows, out);
  else
    for_each_chunk<Model>(&coefficients, 1, tile, num_rows,
                          [out](int, int first, int count, const double* densities) {
                            for (int row = 0; row < count; ++row) out[first + row] = densities[row];
                          });
}

template <int kCount>
constexpr int num_blocks_of(const ParameterDescription (&)[kCount]) {
  return kCount;
}

template <class Model, class Real>
constexpr DensityFunctions<Real> density_functions() {
  DensityFunctions<Real> functions{prepare_density<Model, Real>, log_densities_of_tile<Model, Real>,
                                   partial_sums_of_chains<Model, Real>, nullptr};
  if constexpr (kHasGradient<Model>) functions.gradient_sums_of_chains = gradient_sums_of_chains<Model, Real>;
  return functions;
}

template <class Model>
constexpr DensityLibrary density_library() {
  DensityLibrary library{kDensityLibraryVersion,
                         Model::num_columns,
                         num_parameters_of<Model>(),
                         Model::parameters,
                         num_blocks_of(Model::parameters),
                         kSumsProducts<Model>,
                         DensityCoefficients<Model>::padded,
                         DensityCoefficients<Model>::used(),
                         0,
                         nullptr,
                         density_functions<Model, float>(),
                         density_functions<Model, double>()};
  if constexpr (kHasGradient<Model>) {
    library.num_gradient_sums = Model::num_gradient_sums;
    library.gradient = gradient_of_density<Model>;
  }
  return library;
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
