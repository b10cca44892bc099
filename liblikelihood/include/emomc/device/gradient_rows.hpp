// The interface between gradient_kernel.cuh and the gradient of a likelihood. The likelihood gives numbers
// for each row of a chain, such as the derivative of the log density with respect to a linear predictor, or
// the responsibility of a component. The sums over rows of
//
//   a number times a column, or the product of two columns (GradientTile), or 1 (PlainSum),
//   a number, separately for each value of an index, which is another number (GatheredSum),
//
// are stored in slots: sums of tiles [num_tiles][num_of_tile][kGradientTileColumns] first, then plain sums,
// then gathered sums. The gradient is computed from the slots.
//
// A likelihood L of row_likelihood.hpp has a gradient where GradientOf<Sized<L, ...>> is defined:
//
//   static constexpr int num_columns, num_numbers, num_of_tile, num_tiles, num_plain, num_gathered_sums
//   static constexpr GradientTile tile(int), PlainSum plain(int), GatheredSum gathered(int)
//   static constexpr int num_gathered       the sum of the sizes of all gathered sums
//   static constexpr int num_sums, num_work
//   static constexpr bool has_shift          the engine's shift is subtracted from each column
//   static constexpr bool has_products       tiles have products of two columns
//   static constexpr bool has_squares        the columns of each second tile are squares of the tile before
//   static constexpr bool rounds_numbers     numbers may be rounded to 11 bits where rows are float32
//   static void evaluate(coefficients, stride, row, rows, numbers, step, value[kChains][R])
//       evaluate() of row_likelihood.hpp for kChains vectors whose coefficients are `stride` apart. Number m
//       of the R rows of vector i is written from numbers[(i * num_numbers + m) * step] on; it is 0 from row
//       rows.count on. All lanes of a warp call it.
//   static int only_slot(int i)
//       The slot of sum i if the sum has one slot; otherwise kNoSum. It does not depend on any value.
//   static void write(team, theta, num_rows, slots, only_slot, shift, sums, work, gradient)
//       The gradient [num_parameters] of the log likelihood from the slots; `only_slot` is only_slot() of the
//       thread's number in the block; `shift` are the numbers [num_columns] that were
//       subtracted from the columns, if has_shift; `sums` and `work` are num_sums and num_work doubles that
//       the team shares.
#ifndef EMOMC_DEVICE_GRADIENT_ROWS_HPP
#define EMOMC_DEVICE_GRADIENT_ROWS_HPP

#include "emomc/device/gradient_layout.hpp"

namespace emomc::device {

inline constexpr int kNoColumn = -1, kNoSum = -1, kPadding = -2;

/// Columns by which num_of_tile numbers, from `number` on, are multiplied.
struct GradientTile {
  int number;
  int first[kGradientTileColumns];   ///< indices of columns; kNoColumn: the factor is 1; kPadding: the sum is
                                     ///< not used
  int second[kGradientTileColumns];  ///< columns by which the first ones are multiplied; kNoColumn: the
                                     ///< factor is 1
  int sum[kGradientTileColumns];     ///< index of the sum to which each product is added, where there is one
                                     ///< number; or kNoSum
};
struct PlainSum {
  int number, sum;
};
/// Number `number` is added to sum first + i, where i, from 0 to size - 1, is number `index`. The slots begin
/// `slot` behind the first slot of gathered sums.
struct GatheredSum {
  int number, index, first, size, slot;
};

template <class SizedL>
struct GradientOf;

template <class G>
EMOMC_INLINE constexpr int num_tile_slots() {
  return G::num_tiles * G::num_of_tile * kGradientTileColumns;
}
template <class G>
EMOMC_INLINE constexpr int num_gradient_slots() {
  return num_tile_slots<G>() + G::num_plain + G::num_gathered;
}
/// Number of columns of all tiles whose sums are used.
template <class G>
EMOMC_INLINE constexpr int num_used_columns() {
  int count = 0;
  for (int t = 0; t < G::num_tiles; ++t)
    for (int c = 0; c < kGradientTileColumns; ++c) count += G::tile(t).first[c] != kPadding ? 1 : 0;
  return count;
}
template <class G>
EMOMC_INLINE constexpr GradientSizes gradient_sizes() {
  return {num_gradient_slots<G>(), G::num_sums,  G::num_work,     G::num_numbers,
          G::num_of_tile,          G::num_tiles, G::num_gathered, num_used_columns<G>()};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_ROWS_HPP
