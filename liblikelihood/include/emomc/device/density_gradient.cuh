// The gradient of a likelihood of the user's own (density.hpp) in the form that kernels require
// (gradient_rows.hpp).
#ifndef EMOMC_DEVICE_DENSITY_GRADIENT_CUH
#define EMOMC_DEVICE_DENSITY_GRADIENT_CUH

#include "emomc/device/density_rows.cuh"
#include "emomc/device/gradient_rows.hpp"

namespace emomc::device {

template <class Model>
struct GradientOf<Sized<DensityRows<Model>>> {
  static constexpr int num_columns = Model::num_columns;
  static constexpr int num_numbers = Model::num_adjoints, num_of_tile = 1;
  static constexpr int num_tiles = Model::num_product_tiles, num_plain = Model::num_plain_adjoints;
  static constexpr int num_gathered_sums = Model::num_gathers, num_gathered = Model::num_gathered_sums;
  static constexpr int num_sums = Model::num_gradient_sums, num_work = 0;
  static constexpr bool has_shift = false, has_products = false, has_squares = false;
  static constexpr bool rounds_numbers = false;
  EMOMC_INLINE static constexpr GradientTile tile(int t) { return Model::product_tile(t); }
  EMOMC_INLINE static constexpr PlainSum plain(int p) { return Model::plain_adjoint(p); }
  EMOMC_INLINE static constexpr GatheredSum gathered(int g) { return Model::gather(g); }

  template <int kChains, int R, class Real, class Row>
  static __device__ __forceinline__ void evaluate(const Real* coefficients, int stride, const Row& row,
                                                  const RowsInMemory<Real>& rows, Real* numbers, int step,
                                                  Real (&value)[kChains][R]) {
    constexpr int kSums = num_product_sums();
    Real sums[kSums > 0 ? kSums : 1][kChains][R];
    if constexpr (kSums > 0) Model::sum_products(coefficients, stride, row, sums);
    Real x[Model::num_columns][R];
#pragma unroll
    for (int j = 0; j < Model::num_columns; ++j) row(j, x[j]);
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      Real of_rows[num_numbers][R];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        Real s[kSums > 0 ? kSums : 1], a[num_numbers];
#pragma unroll
        for (int l = 0; l < kSums; ++l) s[l] = sums[l][i][r];
        value[i][r] = Model{}.template log_density_and_adjoints<Real>(
            coefficients + i * stride, DensityRow<Real, Model::num_columns, R>{x, r}, s, a);
#pragma unroll
        for (int m = 0; m < num_numbers; ++m) of_rows[m][r] = r < rows.count ? a[m] : Real(0);
      }
#pragma unroll
      for (int m = 0; m < num_numbers; ++m) store_rows(of_rows[m], numbers + (i * num_numbers + m) * step);
    }
  }

  static __device__ int only_slot(int i) {
    int slot = kNoSum, count = 0;
    for_slots_of(i, [&](int s) {
      slot = s;
      ++count;
    });
    return count == 1 ? slot : kNoSum;
  }

  /// Writes the gradient. One member of the team adds up each sum, in the order of slots.
  template <class Team>
  static __device__ void write(const Team& team, const double* theta, double num_rows, const double* slots,
                               int only_slot, const double*, double* sums, double*, double* gradient) {
    for (int i = team.rank(); i < num_sums; i += team.size()) {
      const bool has_one = only_slot != kNoSum && i == team.rank();
      sums[i] = i + 1 == num_sums ? num_rows : has_one ? 0.0 + slots[only_slot] : sum_of(i, slots);
    }
    team.sync();
#pragma unroll 1
    for (int g = 0; g < num_gathered_sums; ++g) {
      const GatheredSum own = gathered(g);
      const double* slot = slots + num_tiles * kGradientTileColumns + num_plain + own.slot;
      for (int i = team.rank(); i < own.size; i += team.size()) sums[own.first + i] += slot[i];
      team.sync();
    }
    Model{}.prepare_gradient(team, theta, sums, gradient);
  }

 private:
  /// Calls f(s) for each slot s of sum i that is not gathered; the tables are constants.
  template <class F>
  static __device__ __forceinline__ void for_slots_of(int i, F f) {
#pragma unroll
    for (int t = 0; t < num_tiles; ++t)
#pragma unroll
      for (int c = 0; c < kGradientTileColumns; ++c)
        if (tile(t).sum[c] == i) f(t * kGradientTileColumns + c);
#pragma unroll
    for (int p = 0; p < num_plain; ++p)
      if (plain(p).sum == i) f(num_tiles * kGradientTileColumns + p);
  }
  /// Sum i without gathered sums.
  static __device__ double sum_of(int i, const double* slots) {
    double sum = 0;
    for_slots_of(i, [&](int s) { sum += slots[s]; });
    return sum;
  }
  static constexpr int num_product_sums() {
    if constexpr (kSumsProducts<Model>)
      return Model::num_product_sums;
    else
      return 0;
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_DENSITY_GRADIENT_CUH
