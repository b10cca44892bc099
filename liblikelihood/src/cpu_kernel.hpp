// The cpu engine's arithmetic on one tile, by run-time dispatch to the widest SIMD target there is.
#pragma once

#include <cstddef>

namespace emomc {

enum class TileForm { axis_aligned, full, tied };

/// Shape and coefficients of one parameter vector (mixture_sum.hpp).
template <class Real>
struct TileMixture {
  TileForm form;
  int num_components, dim;
  int num_rows;  ///< of the tile; more may be written, up to kTileRows
  const Real* coefficients;
};

/// log2 density without `common` of the kTileRows rows of `tile`; out[kTileRows].
void tile_log2_densities(const TileMixture<float>& mixture, const float* tile, double* out);
void tile_log2_densities(const TileMixture<double>& mixture, const double* tile, double* out);

/// Rows are taken kProductRows at a time: row i and those kProducts, 2 kProducts, ... on are kFactors whose
/// densities are multiplied. A part of a tile that is a multiple of kProductRows has the bits of the whole.
inline constexpr int kFactors = 8, kProducts = 16, kProductRows = kFactors * kProducts;
constexpr std::size_t num_products(int num_rows) {
  return static_cast<std::size_t>((num_rows + kProductRows - 1) / kProductRows * kProducts);
}
/// log2 of those products without `common`; out[num_products(num_rows)].
void tile_log2_products(const TileMixture<float>& mixture, const float* tile, double* out);
void tile_log2_products(const TileMixture<double>& mixture, const double* tile, double* out);

/// Sums of the terms of a pair of components (mixture_sum.hpp) per row; out[kTileRows].
void tile_pair(const TileMixture<float>& mixture, const float* tile, int pair, float* out);
void tile_pair(const TileMixture<double>& mixture, const double* tile, int pair, double* out);

/// As tile_log2_products, the same bits, from the sums of all pairs: pairs[pair][kTileRows].
void tile_log2_products_of(const TileMixture<float>& mixture, const float* tile, const float* const* pairs,
                           double* out);
void tile_log2_products_of(const TileMixture<double>& mixture, const double* tile, const double* const* pairs,
                           double* out);

/// Sum of `values` by the tree of tree_sum.hpp, the same bits; overwrites them.
double tile_sum(double* values, std::size_t count);

/// Name of the SIMD target in use, e.g. "AVX3".
const char* simd_target_name();

}  // namespace emomc
