// A header with a likelihood of the user's own includes this file (docs/adding-a-model.md). The likelihood is
// a type:
//
//   struct Model {
//     static constexpr const char* name = "Model";  // its qualified C++ name
//     static constexpr int num_columns = 3;         // numbers of a row
//     static constexpr ParameterDescription parameters[] = {{"a"}, {"b", Support::positive, 2}};
//     template <class T, class Coefficients, class Row>
//     EMOMC_HD T log_density(const Coefficients& c, const Row& x) const;
//   };
//
// log_density() returns the natural logarithm of the density of the row whose column j is x[j], in numbers of
// type T, float or double. c[i] is parameter i, in the order of `parameters`; for a likelihood that also has
//
//     static constexpr int num_coefficients = 4;  // at least 1
//     template <class Team>
//     EMOMC_HD double prepare(const Team& team, const double* theta, double* coefficients) const;
//
// c[i] is coefficient i, which prepare() writes once for each parameter vector. The value that prepare()
// returns, which must be the same for every member of the team, is added to the log density of each row;
// constants that all rows share belong into this value, which stays float64 in mixed precision. A likelihood
// that is not defined at theta is NaN.
//
// A likelihood whose rows have sums of products of coefficients and columns, such as linear predictors, may
// define these sums separately, so that a kernel that evaluates several parameter vectors on the same rows
// reads each column once:
//
//     static constexpr int num_product_sums = 1;
//     template <int kChains, int R, class T, class Rows>
//     EMOMC_HD static void sum_products(const T* c, int stride, const Rows& x, T (&s)[1][kChains][R]);
//     template <class T, class Coefficients, class Row, class Sums>
//     EMOMC_HD T log_density_of(const Coefficients& c, const Row& x, const Sums& s) const;
//
// sum_products() writes sum l of vector i, whose coefficients begin at c + i * stride, and row r to
// s[l][i][r], with begin_products() and add_products() below; log_density_of() is the log density with these
// sums, s[l]. The results have the bits of log_density().
//
// The gradient of a likelihood that a configuration names (likelihood.source) is computed with dual numbers
// (dual_numbers.hpp), for which T is instantiated too; prepare() is then a template of the type of numbers:
//
//     template <class Team, class Number>
//     EMOMC_HD Number prepare(const Team& team, const Number* theta, Number* coefficients) const;
//
// A likelihood whose text is generated may define its gradient:
//
//     static constexpr int num_adjoints = 2;       // at least 1
//     static constexpr int num_gradient_sums = 4;  // one more than there are coefficients of rows
//     template <class T, class Coefficients, class Row, class Sums>
//     EMOMC_HD T log_density_and_adjoints(const Coefficients& c, const Row& x, const Sums& s, T* a) const;
//     template <int kRows, class Rows, class T>
//     EMOMC_HD static void add_adjoints(const Rows& rows, const T (*a)[kRows], int num_rows, double* sums);
//     static constexpr int num_product_tiles, num_plain_adjoints, num_gathers, num_gathered_sums;
//     EMOMC_HD static constexpr GradientTile product_tile(int);
//     EMOMC_HD static constexpr PlainSum plain_adjoint(int);
//     EMOMC_HD static constexpr GatheredSum gather(int);
//     template <class Team>
//     EMOMC_HD void prepare_gradient(const Team& team, const double* theta, const double* sums,
//                                    double* gradient) const;
//
// log_density_and_adjoints() returns the bits of log_density() and writes the adjoints of the row; from these
// add_adjoints() adds the derivative with respect to coefficient i, summed over rows, to sums[i]. Kernels
// compute the same sums from the three tables (gradient_rows.hpp). The last of `sums` [num_gradient_sums] is
// the number of rows; prepare_gradient() writes the derivatives of the log likelihood with respect to theta.
//
// Kernels are compiled from the text of the one header that defines Model; it may include headers of
// emomc/device only.
#ifndef EMOMC_DEVICE_DENSITY_HPP
#define EMOMC_DEVICE_DENSITY_HPP

#include "emomc/device/block_description.hpp"
#include "emomc/device/gradient_rows.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/row_likelihood.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// An array of parameters; `size` 0 means one number.
struct ParameterDescription {
  const char* name;
  Support support = Support::real;
  int size = 0;
};

/// a * b + c, rounded once.
EMOMC_INLINE double fused(double a, double b, double c) { return EMOMC_FMA(a, b, c); }
EMOMC_INLINE float fused(float a, float b, float c) { return EMOMC_FMAF(a, b, c); }

EMOMC_INLINE float exp(float x) { return static_cast<float>(exp(static_cast<double>(x))); }
EMOMC_INLINE float log(float x) { return static_cast<float>(log(static_cast<double>(x))); }

template <class Model>
EMOMC_INLINE constexpr int num_parameters_of() {
  int n = 0;
  for (const ParameterDescription& p : Model::parameters) n += p.size == 0 ? 1 : p.size;
  return n;
}

template <class Model>
inline constexpr bool kPreparesCoefficients = requires(const Model& model, const HostTeam& team,
                                                       const double* theta, double* coefficients) {
  model.prepare(team, theta, coefficients);
};

template <class Model>
inline constexpr bool kSumsProducts = requires {
  Model::num_product_sums;
};
template <class Model>
inline constexpr bool kHasGradient = requires {
  Model::num_adjoints;
};

/// Begins sums of products: sets sums[i][r] to coefficient kStart of vector i, or to 0 where kStart is -1.
template <int kStart, int kChains, int R, class T>
EMOMC_INLINE void begin_products(const T* coefficients, int stride, T (&sums)[kChains][R]) {
  EMOMC_UNROLL
  for (int i = 0; i < kChains; ++i) {
    T start = T(0);
    if constexpr (kStart >= 0) start = coefficients[i * stride + kStart];
    EMOMC_UNROLL
    for (int r = 0; r < R; ++r) sums[i][r] = start;
  }
}

/// Adds the products of kCount coefficients from kCoefficient on with as many columns from kColumn on;
/// `rows(j, x)` loads column j of the rows into x[R]. Rows that declare kAddsProducts add the products
/// themselves, one after the other as here (streamed_rows.cuh, cached_columns.hpp).
template <int kCoefficient, int kColumn, int kCount, int kChains, int R, class T, class Rows>
EMOMC_INLINE void add_products(const T* coefficients, int stride, const Rows& rows, T (&sums)[kChains][R]) {
  if constexpr (requires { Rows::kAddsProducts; }) {
    rows.template add_products<kCoefficient, kColumn, kCount>(coefficients, stride, sums);
  } else {
    EMOMC_UNROLL_PRODUCTS
    for (int k = 0; k < kCount; ++k) {
      T x[R];
      rows(kColumn + k, x);
      EMOMC_UNROLL
      for (int i = 0; i < kChains; ++i) {
        const T c = coefficients[i * stride + kCoefficient + k];
        EMOMC_UNROLL
        for (int r = 0; r < R; ++r) sums[i][r] = fused(c, x[r], sums[i][r]);
      }
    }
  }
}

// Sums of generated gradients over the rows in a CPU's first-level cache: each of kSumLanes lanes adds every
// kSumLanes-th row in the type of the rows, and the lanes are added in float64.
inline constexpr int kSumLanes = 16;

/// The sum of the lanes, by halves: one addition after the other would take longer than the loop over the
/// rows.
#if defined(__GNUC__) && !defined(__CUDACC__)
template <class T>
EMOMC_INLINE double sum_of_lanes(const T (&lanes)[kSumLanes]) {
  typedef T Lanes __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T)), may_alias));
  typedef double Eight __attribute__((vector_size(64)));
  typedef double Four __attribute__((vector_size(32)));
  typedef double Two __attribute__((vector_size(16)));
  static_assert(kSumLanes == 16);
  const Eight eight = __builtin_convertvector(*reinterpret_cast<const Lanes*>(lanes), Eight) +
                      __builtin_convertvector(*reinterpret_cast<const Lanes*>(lanes + 8), Eight);
  const Four four =
      Four{eight[0], eight[1], eight[2], eight[3]} + Four{eight[4], eight[5], eight[6], eight[7]};
  const Two two = Two{four[0], four[1]} + Two{four[2], four[3]};
  return two[0] + two[1];
}
#else
template <class T>
EMOMC_HD inline double sum_of_lanes(const T (&lanes)[kSumLanes]) {
  double sums[kSumLanes / 2];
  for (int lane = 0; lane < kSumLanes / 2; ++lane)
    sums[lane] = static_cast<double>(lanes[lane]) + static_cast<double>(lanes[lane + kSumLanes / 2]);
  for (int half = kSumLanes / 4; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}
#endif
/// The sum of a[num_rows].
template <class T>
EMOMC_HD inline double sum_of_rows(const T* a, int num_rows) {
  T lanes[kSumLanes] = {};
  int row = 0;
  for (; row + kSumLanes <= num_rows; row += kSumLanes)
    for (int lane = 0; lane < kSumLanes; ++lane) lanes[lane] += a[row + lane];
  for (int lane = 0; row < num_rows; ++row, ++lane) lanes[lane] += a[row];
  return sum_of_lanes(lanes);
}

/// Adds a[row], row after row, to the sum that index[row] chooses among the kSize sums from kFirst on.
template <int kFirst, int kSize, class T>
EMOMC_HD inline void add_by_index(const T* index, const T* a, int num_rows, double* sums) {
  for (int row = 0; row < num_rows; ++row) {
    const int i = static_cast<int>(index[row]);
    sums[kFirst + (i < 0 ? 0 : i < kSize ? i : kSize - 1)] += static_cast<double>(a[row]);
  }
}

/// The number of coefficients with padding, which lets kernels copy 16 bytes at a time.
EMOMC_INLINE constexpr int padded_coefficients(int used) { return (used + 3) / 4 * 4; }

/// Writes the coefficients with which the rows of `model` are evaluated and returns the part of the log
/// density that all rows share. For a Model without prepare() the coefficients are the parameters. The team
/// may read the coefficients after a sync().
template <class Model, class Team, class Number>
EMOMC_HD Number prepare_of(const Model& model, const Team& team, const Number* theta, Number* coefficients) {
  if constexpr (kPreparesCoefficients<Model>) {
    return model.prepare(team, theta, coefficients);
  } else {
    EMOMC_ROLLED
    for (int i = team.rank(); i < num_parameters_of<Model>(); i += team.size()) coefficients[i] = theta[i];
    return 0;
  }
}

/// Whether coefficient i is a copy of parameter Model::parameter_of(i), or zero where that is negative.
/// `common` is 0 then, and a kernel can read the parameters themselves.
template <class Model>
inline constexpr bool kCopiesParameters = requires {
  Model::parameter_of(0);
};

/// Number and computation of the coefficients of a Model.
template <class Model>
struct DensityCoefficients {
  static constexpr int used() {
    if constexpr (kPreparesCoefficients<Model>)
      return Model::num_coefficients;
    else
      return num_parameters_of<Model>();
  }
  static constexpr int padded = padded_coefficients(used());
  static_assert(
      kPreparesCoefficients<Model> == requires { Model::num_coefficients; },
      "num_coefficients and prepare(team, theta, coefficients) const, with const double* theta, go together");
  static_assert(used() > 0, "a likelihood has parameters");
  static_assert(Model::num_columns > 0 && Model::num_columns <= 256, "a row has 1 to 256 columns");

  /// Writes the coefficients and returns the part of the log density that all rows share; `exact` is used()
  /// doubles that the team shares.
  template <class Real, class Team>
  EMOMC_HD static double prepare(const Team& team, const Model& model, const double* theta,
                                 Real* coefficients, double* exact) {
    double common = 0;
    if constexpr (kPreparesCoefficients<Model>) {
      common = model.prepare(team, theta, exact);
      team.sync();
    }
    const double* const from = kPreparesCoefficients<Model> ? exact : theta;
    EMOMC_ROLLED
    for (int i = team.rank(); i < used(); i += team.size()) coefficients[i] = static_cast<Real>(from[i]);
    // In one loop with a choice, GCC 12 reads whole vectors of `from`, past its end.
    EMOMC_ROLLED
    for (int i = used() + team.rank(); i < padded; i += team.size()) coefficients[i] = Real(0);
    team.sync();
    return common;
  }
};

/// Sizes for kernels of a density with these numbers of columns and coefficients. `common` is the only number
/// that is kept with a prepared vector.
EMOMC_INLINE constexpr LikelihoodSizes sizes_of_density(int num_columns, int num_coefficients) {
  constexpr int kTerms = 1;
  return {num_columns, padded_coefficients(num_coefficients), kTerms, kTerms + num_coefficients, 0, 0};
}
template <class Model>
EMOMC_INLINE constexpr LikelihoodSizes density_sizes() {
  return sizes_of_density(Model::num_columns, DensityCoefficients<Model>::used());
}

/// Row `row` of R rows whose columns are in x[column][row].
template <class Real, int kColumns, int R>
struct DensityRow {
  const Real (&x)[kColumns][R];
  int row;
  EMOMC_INLINE Real operator[](int column) const { return x[column][row]; }
};

/// Writes the log densities of R rows; `row(j, x)` loads column j of the rows into x[R].
template <int R, class Model, class Real, class Row>
EMOMC_INLINE void evaluate_density(const Model& model, const Real* coefficients, const Row& row,
                                   Real (&value)[R]) {
  Real x[Model::num_columns][R];
  EMOMC_UNROLL
  for (int j = 0; j < Model::num_columns; ++j) row(j, x[j]);
  EMOMC_UNROLL
  for (int r = 0; r < R; ++r)
    value[r] = model.template log_density<Real>(coefficients, DensityRow<Real, Model::num_columns, R>{x, r});
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_DENSITY_HPP
