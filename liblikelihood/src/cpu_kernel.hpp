// The cpu engine's arithmetic on one tile. Each call is dispatched at run time to the processor's widest SIMD
// target.
#pragma once

#include <cstddef>
#include <type_traits>

#include "emomc/device/models.hpp"

namespace emomc {

/// The models; a call selects the shape by the model.
enum class TileForm {
#define EMOMC_FORM(Model, Shape) Model,
  EMOMC_MODELS(EMOMC_FORM)
#undef EMOMC_FORM
};
template <class Model>
constexpr TileForm tile_form() {
#define EMOMC_FORM(M, Shape) \
  if (std::is_same_v<Model, device::M>) return TileForm::M;
  EMOMC_MODELS(EMOMC_FORM)
#undef EMOMC_FORM
  return {};
}

/// Shape and coefficients of one parameter vector (mixture_sum.hpp).
template <class Real>
struct TileMixture {
  TileForm form;
  int num_components, dim;
  int num_rows;  ///< rows of the tile that count; up to kTileRows results may be written
  const Real* coefficients;
};

/// Computes the log2 density of each row of `tile`, without `common`; out[kTileRows].
void tile_log2_densities(const TileMixture<float>& mixture, const float* tile, double* out);
void tile_log2_densities(const TileMixture<double>& mixture, const double* tile, double* out);

/// Rows are processed in groups of kProductRows. In a group, row i and the rows at distances of kProducts
/// from it are kFactors rows whose densities are multiplied. A part of a tile that starts and ends at
/// multiples of kProductRows gets the same bits as in the whole tile.
inline constexpr int kFactors = 8, kProducts = 16, kProductRows = kFactors * kProducts;
constexpr std::size_t num_products(int num_rows) {
  return static_cast<std::size_t>((num_rows + kProductRows - 1) / kProductRows * kProducts);
}
/// Computes log2 of these products, without `common`; out[num_products(num_rows)].
void tile_log2_products(const TileMixture<float>& mixture, const float* tile, double* out);
void tile_log2_products(const TileMixture<double>& mixture, const double* tile, double* out);

/// Computes the sum of the terms of a pair of components (mixture_sum.hpp) for each row; out[kTileRows].
void tile_pair(const TileMixture<float>& mixture, const float* tile, int pair, float* out);
void tile_pair(const TileMixture<double>& mixture, const double* tile, int pair, double* out);

/// Computes the results of tile_log2_products, bit for bit, from the sums of all pairs,
/// pairs[pair][kTileRows].
void tile_log2_products_of(const TileMixture<float>& mixture, const float* tile, const float* const* pairs,
                           double* out);
void tile_log2_products_of(const TileMixture<double>& mixture, const double* tile, const double* const* pairs,
                           double* out);

/// Computes the results of tile_log2_products, bit for bit, and adds the sums over rows that the gradient
/// needs to `sums` (gradient_sums.hpp). `work`: gradient_work(...) numbers of the type of the rows, `lanes`:
/// gradient_lanes(...) doubles.
void tile_gradient(const TileMixture<float>& mixture, const float* tile, float* work, double* lanes,
                   double* out, double* sums);
void tile_gradient(const TileMixture<double>& mixture, const double* tile, double* work, double* lanes,
                   double* out, double* sums);

/// The result of tree_sum for `values`, bit for bit; overwrites them.
double tile_sum(double* values, std::size_t count);

/// Name of the SIMD target in use, e.g. "AVX3".
const char* simd_target_name();

}  // namespace emomc
