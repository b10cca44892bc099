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

/// Sums of the terms of a pair of components (mixture_sum.hpp) per row; out[kTileRows].
void tile_pair(const TileMixture<float>& mixture, const float* tile, int pair, float* out);
void tile_pair(const TileMixture<double>& mixture, const double* tile, int pair, double* out);

/// As tile_log2_densities, the same bits, from the sums of all pairs: pairs[pair][kTileRows].
void tile_log2_densities_of(const TileMixture<float>& mixture, const float* tile, const float* const* pairs,
                            double* out);
void tile_log2_densities_of(const TileMixture<double>& mixture, const double* tile,
                            const double* const* pairs, double* out);

/// Sum of `values` by the tree of tree_sum.hpp, the same bits; overwrites them.
double tile_sum(double* values, std::size_t count);

/// Name of the SIMD target in use, e.g. "AVX3".
const char* simd_target_name();

}  // namespace emomc
