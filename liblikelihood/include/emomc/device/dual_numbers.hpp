// Computes gradients of a likelihood that a user has written in C++, by instantiating its templates with dual
// numbers: a dual number is a value and its derivatives with respect to some parameters, and arithmetic with
// dual numbers is the chain rule (forward accumulation; Griewank and Walther 2008, "Evaluating Derivatives",
// chapter 3). Functions of dual numbers are generated from the derivatives of the language of expressions
// (expression/dual_functions.hpp).
#ifndef EMOMC_DEVICE_DUAL_NUMBERS_HPP
#define EMOMC_DEVICE_DUAL_NUMBERS_HPP

#include "emomc/device/density.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

namespace duals {

/// The type T in a function's parameter from which no template argument is deduced.
template <class T>
struct NotDeduced {
  using Type = T;
};

/// A value with kSlopes derivatives. Numbers of other types become constants of type T.
template <class T, int kSlopes>
struct Dual {
  T value = T(0);
  T slope[kSlopes] = {};

  EMOMC_HD Dual() {}
  EMOMC_HD Dual(double constant) : value(static_cast<T>(constant)) {}
  EMOMC_HD Dual(float constant) : value(static_cast<T>(constant)) {}
  EMOMC_HD Dual(int constant) : value(static_cast<T>(constant)) {}
  EMOMC_HD Dual(unsigned constant) : value(static_cast<T>(constant)) {}
  EMOMC_HD Dual(long constant) : value(static_cast<T>(constant)) {}
  EMOMC_HD Dual(unsigned long constant) : value(static_cast<T>(constant)) {}

  /// A number with the value `of_value` whose derivatives are by_a times those of a.
  EMOMC_INLINE static Dual chained(T of_value, T by_a, const Dual& a) {
    Dual result;
    result.value = of_value;
    EMOMC_UNROLL
    for (int i = 0; i < kSlopes; ++i) result.slope[i] = by_a * a.slope[i];
    return result;
  }
  /// Adds by_a times the derivatives of a.
  EMOMC_INLINE Dual& chain(T by_a, const Dual& a) {
    EMOMC_UNROLL
    for (int i = 0; i < kSlopes; ++i) slope[i] += by_a * a.slope[i];
    return *this;
  }

  EMOMC_INLINE friend Dual operator+(const Dual& a) { return a; }
  EMOMC_INLINE friend Dual operator-(const Dual& a) { return chained(-a.value, T(-1), a); }

  EMOMC_INLINE friend Dual operator+(const Dual& a, const Dual& b) {
    return chained(a.value + b.value, T(1), a).chain(T(1), b);
  }
  EMOMC_INLINE friend Dual operator+(const Dual& a, T b) { return chained(a.value + b, T(1), a); }
  EMOMC_INLINE friend Dual operator+(T a, const Dual& b) { return chained(a + b.value, T(1), b); }
  EMOMC_INLINE friend Dual operator-(const Dual& a, const Dual& b) {
    return chained(a.value - b.value, T(1), a).chain(T(-1), b);
  }
  EMOMC_INLINE friend Dual operator-(const Dual& a, T b) { return chained(a.value - b, T(1), a); }
  EMOMC_INLINE friend Dual operator-(T a, const Dual& b) { return chained(a - b.value, T(-1), b); }
  EMOMC_INLINE friend Dual operator*(const Dual& a, const Dual& b) {
    return chained(a.value * b.value, b.value, a).chain(a.value, b);
  }
  EMOMC_INLINE friend Dual operator*(const Dual& a, T b) { return chained(a.value * b, b, a); }
  EMOMC_INLINE friend Dual operator*(T a, const Dual& b) { return chained(a * b.value, a, b); }
  EMOMC_INLINE friend Dual operator/(const Dual& a, const Dual& b) {
    const T quotient = a.value / b.value, by_a = T(1) / b.value;
    return chained(quotient, by_a, a).chain(-quotient * by_a, b);
  }
  EMOMC_INLINE friend Dual operator/(const Dual& a, T b) { return chained(a.value / b, T(1) / b, a); }
  EMOMC_INLINE friend Dual operator/(T a, const Dual& b) {
    const T quotient = a / b.value;
    return chained(quotient, -quotient / b.value, b);
  }
  template <class Other>
  EMOMC_INLINE Dual& operator+=(const Other& other) {
    return *this = *this + other;
  }
  template <class Other>
  EMOMC_INLINE Dual& operator-=(const Other& other) {
    return *this = *this - other;
  }
  template <class Other>
  EMOMC_INLINE Dual& operator*=(const Other& other) {
    return *this = *this * other;
  }
  template <class Other>
  EMOMC_INLINE Dual& operator/=(const Other& other) {
    return *this = *this / other;
  }

#define EMOMC_COMPARISON(symbol)                                                                            \
  EMOMC_INLINE friend bool operator symbol(const Dual& a, const Dual& b) { return a.value symbol b.value; } \
  EMOMC_INLINE friend bool operator symbol(const Dual& a, T b) { return a.value symbol b; }                 \
  EMOMC_INLINE friend bool operator symbol(T a, const Dual& b) { return a symbol b.value; }
  EMOMC_COMPARISON(<)
  EMOMC_COMPARISON(<=)
  EMOMC_COMPARISON(>)
  EMOMC_COMPARISON(>=)
  EMOMC_COMPARISON(==)
  EMOMC_COMPARISON(!=)
#undef EMOMC_COMPARISON
};

/// Coefficients as dual numbers; the kSlopes coefficients from `first` on are the variables.
template <class T, int kSlopes, class Coefficients>
struct Variables {
  const Coefficients& of;
  int first;
  EMOMC_INLINE Dual<T, kSlopes> operator[](int i) const {
    Dual<T, kSlopes> variable(of[i]);
    EMOMC_UNROLL
    for (int j = 0; j < kSlopes; ++j) variable.slope[j] = i == first + j ? T(1) : T(0);
    return variable;
  }
};

/// A team of one member, for prepare() with dual numbers.
struct LoneTeam {
  EMOMC_HD static constexpr int size() { return 1; }
  EMOMC_HD static constexpr int rank() { return 0; }
  EMOMC_HD void sync() const {}
};

}  // namespace duals

/// Whether prepare() of a Model accepts dual numbers, that is, whether it is a template of the type of
/// numbers.
template <class Model>
inline constexpr bool kPreparesDuals = requires(const Model& model, const duals::Dual<double, 1>* theta,
                                                duals::Dual<double, 1>* coefficients) {
  model.prepare(duals::LoneTeam{}, theta, coefficients);
};

/// A Model with the gradient of density.hpp if `Own`, the part that the user has written, can be
/// differentiated. Derivatives are those with respect to at most kMostSlopes coefficients at a time.
template <class Model, class Own, bool = !kPreparesCoefficients<Own> || kPreparesDuals<Own>>
struct DualGradient : Model {};

template <class Model, class Own>
struct DualGradient<Model, Own, true> : Model {
  static constexpr int kMostSlopes = 8, kUsed = DensityCoefficients<Model>::used();
  static constexpr int kDim = num_parameters_of<Model>();
  static constexpr int num_adjoints = kUsed, num_gradient_sums = kUsed + 1;
  static constexpr int num_product_tiles = 0, num_plain_adjoints = kUsed;
  static constexpr int num_gathers = 0, num_gathered_sums = 0;
  EMOMC_HD static constexpr GradientTile product_tile(int) { return {}; }
  EMOMC_HD static constexpr PlainSum plain_adjoint(int i) { return {i, i}; }
  EMOMC_HD static constexpr GatheredSum gather(int) { return {}; }

  template <class T, class Coefficients, class Row, class Sums>
  EMOMC_HD T log_density_and_adjoints(const Coefficients& c, const Row& x, const Sums&, T* a) const {
    constexpr int kSlopes = kUsed < kMostSlopes ? kUsed : kMostSlopes;
    EMOMC_UNROLL
    for (int first = 0; first < kUsed; first += kSlopes) {
      const duals::Dual<T, kSlopes> value = Model::template log_density<duals::Dual<T, kSlopes>>(
          duals::Variables<T, kSlopes, Coefficients>{c, first}, x);
      EMOMC_UNROLL
      for (int j = 0; j < kSlopes; ++j)
        if (first + j < kUsed) a[first + j] = value.slope[j];
    }
    return Model::template log_density<T>(c, x);
  }

  template <int kRows, class Rows, class T>
  EMOMC_HD static void add_adjoints(const Rows&, const T (*a)[kRows], int num_rows, double* sums) {
    for (int i = 0; i < kUsed; ++i) sums[i] += sum_of_rows(a[i], num_rows);
  }

  template <class Team>
  EMOMC_HD void prepare_gradient(const Team& team, const double* theta, const double* sums,
                                 double* gradient) const {
    if constexpr (kPreparesCoefficients<Model>) {
      constexpr int kSlopes = kDim < kMostSlopes ? kDim : kMostSlopes;
      using Number = duals::Dual<double, kSlopes>;
      for (int first = team.rank() * kSlopes; first < kDim; first += team.size() * kSlopes) {
        const duals::Variables<double, kSlopes, const double*> variables{theta, first};
        Number point[kDim], coefficients[kUsed];
        for (int i = 0; i < kDim; ++i) point[i] = variables[i];
        const Number common = Model::prepare(duals::LoneTeam{}, point, coefficients);
        for (int j = 0; j < kSlopes && first + j < kDim; ++j) {
          double sum = sums[kUsed] * common.slope[j];
          for (int i = 0; i < kUsed; ++i) sum += sums[i] * coefficients[i].slope[j];
          gradient[first + j] = sum;
        }
      }
    } else {
      for (int i = team.rank(); i < kDim; i += team.size()) gradient[i] = sums[i];
    }
    team.sync();
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_DUAL_NUMBERS_HPP
