// A likelihood of the user's own (density.hpp) in the form that kernels require (row_likelihood.hpp). The
// number of a row is its log density; nothing is kept between evaluations.
#ifndef EMOMC_DEVICE_DENSITY_ROWS_CUH
#define EMOMC_DEVICE_DENSITY_ROWS_CUH

#include "emomc/device/density.hpp"
#include "emomc/device/row_sums.cuh"

namespace emomc::device {

template <class Model>
struct DensityRows {
  using Coefficients = DensityCoefficients<Model>;
  Model model;

  EMOMC_INLINE static DensityRows sized() { return {}; }
  EMOMC_INLINE int num_parameters() const { return num_parameters_of<Model>(); }
  EMOMC_INLINE static constexpr LikelihoodSizes sizes() { return density_sizes<Model>(); }

  // ---- coefficients

  static constexpr bool kCopiesParameters = device::kCopiesParameters<Model>;
  /// The value of coefficient `i` that prepare() would write.
  template <class Real>
  EMOMC_INLINE static Real coefficient(const double* theta, int i) {
    const int parameter = Model::parameter_of(i);
    return parameter < 0 ? Real(0) : static_cast<Real>(theta[parameter]);
  }
  template <class Real, class Team>
  EMOMC_HD double prepare(const Team& team, const double* theta, Real* coefficients, double* scratch) const {
    return Coefficients::prepare(team, model, theta, coefficients, scratch + sizes().num_terms);
  }
  template <class Real, class Team>
  EMOMC_HD void prepare_near_coefficients(const Team& team, const double* theta,
                                          const ParameterChange& change, const PreparedPoint<Real>& from,
                                          const PreparedPoint<Real>& to, double* scratch) const {
    if (change.influence == Influence::nothing) {
      EMOMC_ROLLED
      for (int i = team.rank(); i < Coefficients::padded; i += team.size())
        to.coefficients[i] = from.coefficients[i];
      if (team.rank() == 0) to.terms[0] = from.common;
      return;
    }
    const double common = prepare(team, theta, to.coefficients, scratch);
    if (team.rank() == 0) to.terms[0] = common;
  }
  template <class Real, class Team>
  EMOMC_HD double prepare_near_common(const Team&, const double*, const ParameterChange&,
                                      const PreparedPoint<Real>&, const PreparedPoint<Real>& to) const {
    return to.terms[0];
  }
  template <class Real, class Team>
  EMOMC_HD double prepare_near(const Team& team, const double* theta, const ParameterChange& change,
                               const PreparedPoint<Real>& from, const PreparedPoint<Real>& to,
                               double* scratch) const {
    prepare_near_coefficients(team, theta, change, from, to, scratch);
    team.sync();
    return to.terms[0];
  }

  // ---- rows

  static constexpr bool kLeavesRegisters = true;

  template <bool kFewWarps = false, int R, class Real, class Row>
  __device__ __forceinline__ void evaluate(const Real* coefficients, const Row& row, Real (&value)[R]) const {
    evaluate_density(model, coefficients, row, value);
  }
  /// Does the same as evaluate(), with the same bits, for kChains parameter vectors whose coefficients are
  /// `stride` apart.
  template <int R, int kChains, class Real, class Row>
  __device__ __forceinline__ void evaluate_chains(const Real* coefficients, int stride, const Row& row,
                                                  Real (&value)[kChains][R]) const {
    if constexpr (!kSumsProducts<Model>) {
#pragma unroll
      for (int i = 0; i < kChains; ++i) evaluate(coefficients + i * stride, row, value[i]);
    } else {
      constexpr int kSums = Model::num_product_sums;
      Real sums[kSums][kChains][R];
      Model::sum_products(coefficients, stride, row, sums);
      Real x[Model::num_columns][R];
#pragma unroll
      for (int j = 0; j < Model::num_columns; ++j) row(j, x[j]);
#pragma unroll
      for (int i = 0; i < kChains; ++i) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
          Real s[kSums];
#pragma unroll
          for (int l = 0; l < kSums; ++l) s[l] = sums[l][i][r];
          value[i][r] = model.template log_density_of<Real>(coefficients + i * stride,
                                                            DensityRow<Real, Model::num_columns, R>{x, r}, s);
        }
      }
    }
  }
  template <int R, class Real>
  __device__ __forceinline__ double sum(const Real*, const RowsInMemory<Real>& rows, bool all_count,
                                        const Real (&value)[R]) const {
    double values[R];
    if (all_count) {  // true for nearly all parts
#pragma unroll
      for (int r = 0; r < R; ++r) values[r] = static_cast<double>(value[r]);
    } else {
#pragma unroll
      for (int r = 0; r < R; ++r) values[r] = r < rows.count ? static_cast<double>(value[r]) : 0.0;
    }
    return sum_in_registers(values);
  }
  template <int R, class Real>
  __device__ __forceinline__ void log_densities(const Real*, const Real*, int, const Real (&value)[R],
                                                double (&out)[R]) const {
#pragma unroll
    for (int r = 0; r < R; ++r) out[r] = static_cast<double>(value[r]);
  }
  EMOMC_INLINE double log_likelihood(double num_rows, double common, double sum) const {
    return EMOMC_FMA(num_rows, common, sum);
  }
  EMOMC_INLINE double log_density(double of_row, double common) const { return of_row + common; }

  // ---- nothing is kept

  static constexpr bool kKeeps = false;
  struct KeptState {};
  template <class Real>
  struct Kept {};
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_DENSITY_ROWS_CUH
