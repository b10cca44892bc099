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

/// Minus the squared distances of the rows to component k; out[kTileRows].
void tile_distances(const TileMixture<float>& mixture, const float* tile, int k, float* out);
void tile_distances(const TileMixture<double>& mixture, const double* tile, int k, double* out);

/// As tile_log2_densities, the same bits, from the distances of all components: distances[k][kTileRows].
void tile_log2_densities_of(const TileMixture<float>& mixture, const float* const* distances, double* out);
void tile_log2_densities_of(const TileMixture<double>& mixture, const double* const* distances, double* out);

/// Sum of `values` by the tree of tree_sum.hpp, the same bits; overwrites them.
double tile_sum(double* values, std::size_t count);

/// Name of the SIMD target in use, e.g. "AVX3".
const char* simd_target_name();

}  // namespace emomc
