// What kernels know of a likelihood that is a product over rows. The sum over rows is the kernels', the
// density of one row the likelihood's.
//
// A kernel takes the likelihood as a type L (for a model of the user's own DensityRows, for a mixture
// MixtureRows) with these members; `coefficients` are num_coefficients numbers of the type of rows, aligned
// to 16 bytes:
//
//   static L sized(sizes...)
//       The likelihood of these sizes, integers (Sized).
//   LikelihoodSizes sizes() const, int num_parameters() const
//   double prepare(team, theta, coefficients, scratch) const
//       Once for each parameter vector, in float64: writes the coefficients and returns `common`, the part of
//       a row's log density that all rows share; NaN where the density is not defined at theta. All members
//       of the team may read the coefficients afterwards.
//   prepare_near_coefficients, prepare_near_common, prepare_near
//       The same bits, from what was prepared for a vector that differs in one block (ParameterChange): the
//       first writes the coefficients, the second, after a sync, returns `common`, the third does both.
//   void evaluate<kFewWarps = false>(coefficients, row, value[R]) const
//       A number for each of R rows; `row(j, x)` loads column j of the rows into x[R]. kFewWarps: the
//       multiprocessor has so few warps that instructions should be interleaved.
//   double sum(coefficients, RowsInMemory, all_count, value[R]) const
//       The sum of the log densities of a thread's rows without `common`, from the numbers of evaluate(). All
//       lanes of a warp call it together, since a likelihood may multiply densities of neighbouring lanes.
//   void log_densities(coefficients, rows, stride, value[R], out[R]) const
//       The log density of each of the R rows without `common`, from the numbers of evaluate().
//   double log_likelihood(num_rows, common, sum) const, double log_density(of_row, common) const
//       The natural logarithms of the likelihood of num_rows rows and of the density of one.
//   kLeavesRegisters, kCopiesParameters
//       Whether evaluate() leaves registers for other work; whether coefficient(theta, i) says what prepare()
//       writes.
//   evaluate_chains<R, kChains>(coefficients, stride, row, value[kChains][R])
//       As evaluate() for kChains vectors whose coefficients are `stride` apart; only where
//       DeviceLikelihood::chains_together may be more than 1.
//   kKeeps, KeptState, Kept<Real>
//       Whether numbers of rows may be kept while one component changes at a time (kept_sums.cuh). Only where
//       they may: nothing_kept(), kept_of_chain(), evaluate_kept(), evaluate_stale(), evaluate_near(), and
//       KeptState::after().
#ifndef EMOMC_DEVICE_ROW_LIKELIHOOD_HPP
#define EMOMC_DEVICE_ROW_LIKELIHOOD_HPP

#include "emomc/device/block_description.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

/// Number of rows of a tile of the data. Column j of row i of tile t is at [(t * num_columns + j) * kTileRows
/// + i].
inline constexpr int kTileRows = 1024;

/// Sizes of the arrays that a kernel has for a likelihood.
struct LikelihoodSizes {
  int num_columns;       ///< numbers of a row
  int num_coefficients;  ///< numbers that rows are evaluated with
  int num_terms;         ///< float64 numbers that are kept with a prepared vector for prepare_near
  int num_scratch;       ///< float64 numbers that prepare() uses, the terms among them
  int num_kept;       ///< numbers of each row that component caches keep in device memory; 0: there are none
  int num_kept_near;  ///< the same in shared memory, where there is room for fewer
};

/// Which parameters of a vector differ from those of a vector that has been prepared.
struct ParameterChange {
  Influence influence;
  int component;       ///< with Influence::component
  bool keeps_heights;  ///< only parameters of DataUnit::location differ
};

/// In place of a component's number: not one component differs, but several of them or the weights, so that
/// all are evaluated.
inline constexpr int kAllComponents = -1;

/// What prepare() makes of a parameter vector.
template <class Real>
struct PreparedPoint {
  Real* coefficients;
  double* terms;
  double common;
};

/// A likelihood L whose sizes are known when the kernel is compiled.
template <class L, int... kSizes>
struct Sized {
  using Likelihood = L;
  EMOMC_INLINE static Likelihood likelihood() { return Likelihood::sized(kSizes...); }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ROW_LIKELIHOOD_HPP
