// A mixture in the form that kernels require (row_likelihood.hpp). `Model` defines the parameters,
// Model::shape() how the distances to the components are computed.
#ifndef EMOMC_DEVICE_MIXTURE_ROWS_CUH
#define EMOMC_DEVICE_MIXTURE_ROWS_CUH

#include "emomc/device/kept_sums.cuh"
#include "emomc/device/mixture_logs.cuh"
#include "emomc/device/prepare_neighbour.hpp"

namespace emomc::device {

template <class Model>
struct MixtureRows {
  using Shape = decltype(Model().shape());
  Model model;

  EMOMC_INLINE static MixtureRows sized(int num_components, int dim) {
    MixtureRows rows{};
    rows.model.num_components = num_components;
    rows.model.dim = dim;
    return rows;
  }
  EMOMC_INLINE Shape shape() const { return model.shape(); }
  EMOMC_INLINE int num_parameters() const { return model.num_parameters(); }
  EMOMC_INLINE LikelihoodSizes sizes() const {
    const Shape s = shape();
    return {s.dim,
            s.num_coefficients(),
            s.num_terms(),
            s.num_scratch(),
            s.num_blocks() * kKeptOfBlock<KeptKinds::pairs_and_blocks>,
            s.num_blocks() * kKeptOfBlock<KeptKinds::pairs>};
  }

  // ---- coefficients

  template <class Real, class Team>
  EMOMC_HD double prepare(const Team& team, const double* theta, Real* coefficients, double* scratch) const {
    return prepare_mixture(team, model, theta, coefficients, scratch);
  }
  template <class Real, class Team>
  EMOMC_HD void prepare_near_coefficients(const Team& team, const double* theta,
                                          const ParameterChange& change, const PreparedPoint<Real>& from,
                                          const PreparedPoint<Real>& to, double* scratch) const {
    prepare_neighbour_coefficients(team, model, theta, change, from, to, scratch);
  }
  template <class Real, class Team>
  EMOMC_HD double prepare_near_common(const Team& team, const double* theta, const ParameterChange& change,
                                      const PreparedPoint<Real>& from, const PreparedPoint<Real>& to) const {
    return prepare_neighbour_common(team, model, theta, change, from, to);
  }
  template <class Real, class Team>
  EMOMC_HD double prepare_near(const Team& team, const double* theta, const ParameterChange& change,
                               const PreparedPoint<Real>& from, const PreparedPoint<Real>& to,
                               double* scratch) const {
    return prepare_neighbour(team, model, theta, change, from, to, scratch);
  }

  // ---- rows; the number of a row is the sum over components of the row's density without `common`

  /// Whether registers have room for the sums of two blocks while the sum of a pair is computed.
  static constexpr bool kLeavesRegisters = kHasRoomForKept<Shape>;
  static constexpr bool kCopiesParameters = false;

  /// `kFewWarps`: with 12 warps per multiprocessor, threads wait for exponentials unless these are computed
  /// beside other terms. Shapes that are not axis-aligned keep the larger groups, since a tied covariance
  /// would rotate the rows again for each block.
  template <bool kFewWarps = false, int R, class Real, class Scalar, class Row>
  __device__ __forceinline__ void evaluate(const Scalar* coefficients, const Row& row,
                                           Real (&value)[R]) const {
    constexpr int kGroup = kFewWarps && kIsAxisAligned<Shape> ? 1 : kGroupBlocks;
    add_components<kGroup>(shape(), coefficients, row, value);
  }
  template <int R, class Real>
  __device__ __forceinline__ double sum(const Real* coefficients, const RowsInMemory<Real>& rows,
                                        bool all_count, const Real (&value)[R]) const {
    return log2_sum(shape(), coefficients, rows, all_count, value);
  }
  template <int R, class Real>
  __device__ __forceinline__ void log_densities(const Real* coefficients, const Real* rows, int stride,
                                                const Real (&value)[R], double (&out)[R]) const {
    log2_of_rows(shape(), coefficients, rows, stride, value, out);
  }
  /// The natural logarithm of the likelihood; `common` and `sum` are logarithms to base 2.
  EMOMC_INLINE double log_likelihood(double num_rows, double common, double sum) const {
    return kLn2 * EMOMC_FMA(num_rows, common, sum);
  }

  EMOMC_INLINE double log_density(double of_row, double common) const { return (of_row + common) * kLn2; }

  /// Number of neighbouring rows of a thread, from the number of 32-bit registers that the rows' columns
  /// take: beside these registers, accumulators and coefficients, four blocks of 128 threads share a
  /// multiprocessor without spills. A shape that is not axis-aligned leaves fewer registers, since its loops
  /// over up to 16 columns are unrolled completely; with more than 8 components, or for logarithms in
  /// float64, half as many registers are left. Mixtures with very few components and columns, such as two
  /// Gaussians on a line, have more rows per thread, since the work that is done once for a thread takes as
  /// long as that for the rows.
  EMOMC_INLINE int rows_per_thread(int real_bytes) const {
    constexpr bool kPairs = !kIsAxisAligned<Shape>;
    constexpr int kRowRegisters = 56, kRowRegistersOfPairs = 28, kFewComponents = 8;
    constexpr int kManyRows = 8, kFewestComponents = 2, kRowRegistersOfMany = 16, kMostPairedColumns = 16;
    const int d = shape().dim, K = shape().num_components, registers = d * real_bytes / 4;
    if (!kPairs && K <= kFewestComponents && kManyRows * registers <= kRowRegistersOfMany) return kManyRows;
    if (kPairs && d > kMostPairedColumns) return 0;
    const bool few = (kPairs && K > kFewComponents) || (kTakesLogarithms<Shape> && real_bytes == 8);
    const int most = few ? kRowRegistersOfPairs : kRowRegisters;
    return 4 * registers <= most ? 4 : 2 * registers <= most ? 2 : registers <= most ? 1 : 0;
  }

  // ---- kept sums of components (kept_sums.cuh)

  static constexpr bool kKeeps = true;
  using KeptState = StaleSums;
  EMOMC_INLINE static KeptState nothing_kept() { return {StaleSums::kAll, StaleSums::kAll}; }
  template <class Real>
  using Kept = KeptOfChain<Shape, Real>;

  template <class Real>
  __device__ Kept<Real> kept_of_chain(void* kept, i64 slot_size, int chain, int component,
                                      const void* states) const {
    return Kept<Real>::of(shape(), kept, slot_size, chain, component,
                          static_cast<const StaleSums*>(states)[chain]);
  }
  /// Does the same as evaluate() where one component differs from the current point, for the rows from
  /// `offset` on, with kept sums.
  template <int R, class Real, class Row>
  __device__ __forceinline__ void evaluate_kept(const Kept<Real>& kept, i64 slot_size,
                                                const Real* coefficients, i64 offset, const Row& row,
                                                Real (&value)[R]) const {
    kept.add(shape(), slot_size, coefficients, offset, row, value);
  }
  /// Does the same as evaluate_kept(), whichever sums are stale, with the least code.
  template <int R, class Real, class Row>
  __device__ __forceinline__ void evaluate_stale(Real* first, i64 slot_size, const StaleSums& state,
                                                 int component, const Real* coefficients, const Row& row,
                                                 Real (&value)[R]) const {
    const KeptSums<Shape, Real, KeptKinds::pairs_and_blocks> sums{shape(), first, slot_size, state};
    sums.add_stale(coefficients, component, row, value);
  }
  /// Does the same as evaluate_kept() from sums of pairs alone, since shared memory is scarce.
  template <int R, class Real, class Row>
  __device__ __forceinline__ void evaluate_near(Real* first, int slot_size, const StaleSums& state,
                                                int component, const Real* coefficients, const Row& row,
                                                Real (&value)[R]) const {
    const KeptSums<Shape, Real, KeptKinds::pairs, int> sums{shape(), first, slot_size, state};
    sums.add(coefficients, component, row, value);
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_MIXTURE_ROWS_CUH
