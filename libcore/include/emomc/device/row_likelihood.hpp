// The interface between kernels and a likelihood that is a product over rows. Kernels compute the sum over
// rows; the likelihood computes the density of one row.
//
// A kernel has the likelihood as a type parameter L (DensityRows for a user's own model, MixtureRows for a
// mixture) with the members below. `coefficients` are num_coefficients numbers of the type of rows, aligned
// to 16 bytes.
//
//   static L sized(sizes...)
//       Returns the likelihood with these sizes, which are integers (Sized).
//   LikelihoodSizes sizes() const, int num_parameters() const
//   double prepare(team, theta, coefficients, scratch) const
//       Called once for each parameter vector, in float64: writes the coefficients and returns `common`, the
//       part of a row's log density that all rows share, or NaN if the density is not defined at theta. All
//       members of the team may read the coefficients afterwards.
//   prepare_near_coefficients, prepare_near_common, prepare_near
//       Compute the same bits from what was prepared for a vector that differs in one block
//       (ParameterChange): the first writes the coefficients, the second, after a sync, returns `common`, the
//       third does both.
//   void evaluate<kFewWarps = false>(coefficients, row, value[R]) const
//       Computes a number for each of R rows; `row(j, x)` loads column j of the rows into x[R]. kFewWarps:
//       the multiprocessor has so few warps that instructions should be interleaved.
//   double sum(coefficients, RowsInMemory, all_count, value[R]) const
//       Returns the sum of the log densities of a thread's rows without `common`, from the numbers of
//       evaluate(). All lanes of a warp must call it together, because a likelihood may multiply densities of
//       neighbouring lanes.
//   void log_densities(coefficients, rows, stride, value[R], out[R]) const
//       Writes the log density of each of the R rows without `common`, from the numbers of evaluate().
//   double log_likelihood(num_rows, common, sum) const, double log_density(of_row, common) const
//       Return the natural logarithms of the likelihood of num_rows rows and of the density of one row.
//   kLeavesRegisters, kCopiesParameters
//       Whether evaluate() leaves registers for other work; whether coefficient(theta, i) returns the value
//       that prepare() writes.
//   evaluate_chains<R, kChains>(coefficients, stride, row, value[kChains][R])
//       Does the work of evaluate() for kChains vectors whose coefficients are `stride` apart. Needed only if
//       DeviceLikelihood::chains_together may be more than 1.
//   kKeeps, KeptState, Kept<Real>
//       Whether numbers of rows may be kept while one component changes at a time (kept_sums.cuh). If they
//       may be kept, L also has nothing_kept(), kept_of_chain(), evaluate_kept(), evaluate_stale(),
//       evaluate_near(), and KeptState::after().
#ifndef EMOMC_DEVICE_ROW_LIKELIHOOD_HPP
#define EMOMC_DEVICE_ROW_LIKELIHOOD_HPP

#include "emomc/device/block_description.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

/// Number of rows in a tile of the data. Column j of row i of tile t is at [(t * num_columns + j) * kTileRows
/// + i].
inline constexpr int kTileRows = 1024;

/// Sizes of the arrays that a kernel needs for a likelihood.
struct LikelihoodSizes {
  int num_columns;       ///< numbers per row
  int num_coefficients;  ///< numbers per parameter vector with which rows are evaluated
  int num_terms;         ///< float64 numbers that are stored with a prepared vector for prepare_near
  int num_scratch;       ///< float64 numbers of scratch memory for prepare(), including the terms
  int num_kept;          ///< numbers per row that component caches keep in device memory; 0: no caches
  int num_kept_near;     ///< numbers per row that component caches keep in shared memory, which has room for
                         ///< fewer
};

/// The difference between a parameter vector and another one that has been prepared.
struct ParameterChange {
  Influence influence;
  int component;       ///< changed component, if influence is Influence::component
  bool keeps_heights;  ///< whether only parameters of DataUnit::location differ
};

/// Value in place of a component's number if several components or the weights differ, so that all components
/// are evaluated.
inline constexpr int kAllComponents = -1;

/// The results of prepare() for a parameter vector.
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
