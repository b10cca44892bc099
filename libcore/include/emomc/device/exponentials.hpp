// Powers, exponentials, logarithms and combinations of them that densities need, in float64 with the same
// bits on host and device. Names and meaning are those of C and of Stan's functions reference. If a result is
// below the smallest normal number, 2.2e-308, these functions return 0 or that number, as exp in math.hpp
// does.
#ifndef EMOMC_DEVICE_EXPONENTIALS_HPP
#define EMOMC_DEVICE_EXPONENTIALS_HPP

#include "emomc/device/double_double.hpp"
#include "emomc/device/real_functions.hpp"

namespace emomc::device {

/// Returns exp(x) - 1 - x without cancellation.
EMOMC_OUTLINE double expm1_less_x(double x) {
  static constexpr double kSeries[] = {0.5,
                                       0.16666666666666666667,
                                       0.041666666666666666667,
                                       0.0083333333333333333333,
                                       0.0013888888888888888889,
                                       0.0001984126984126984127,
                                       0.000024801587301587301587,
                                       2.7557319223985890653e-6,
                                       2.7557319223985890653e-7,
                                       2.5052108385441718775e-8,
                                       2.0876756987868098979e-9,
                                       1.6059043836821614599e-10,
                                       1.1470745597729724714e-11,
                                       7.6471637318198164759e-13};  // 1/n!
  if (x > -0.5 && x < 0.5) return x * x * polynomial(kSeries, x);
  const double e = exp(x);
  return e < kInfinity ? (e - 1.0) - x : e;
}

/// Returns exp(x) - 1 without cancellation.
EMOMC_OUTLINE double expm1(double x) {
  if (x > -0.5 && x < 0.5) return x + expm1_less_x(x);
  return exp(x) - 1.0;
}

/// Returns log(1 - x): -infinity at 1, NaN for x > 1.
EMOMC_INLINE double log1m(double x) { return log1p(-x); }

/// Returns x - log(1 + x) >= 0 without cancellation. For small x, the function uses log(1 + x) = 2 artanh(s),
/// s = x / (2 + x) (NIST Handbook of Mathematical Functions, DLMF, 4.6.4).
EMOMC_OUTLINE double x_less_log1p(double x) {
  if (!(x > -0.5 && x < 0.5)) return x < kInfinity ? x - log1p(x) : x;
  static constexpr double kSeries[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                       1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25,
                                       1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33};
  const double s = x / (2.0 + x), s2 = s * s;
  return EMOMC_FMA(x, s, -2.0 * s * s2 * polynomial(kSeries, s2));
}

// The next functions have no branches and half the operations of exp() and log(), for the rows of a
// likelihood on a GPU; their error is below 2 ulp instead of 1. Coefficients of high powers are rounded to 21
// bits, so that they fit into instructions as immediate operands.

/// exp(x) as mantissa * 2^exponent, for |x| < 745, by a table (Tang 1989): x = (32 k + j) log(2) / 32 + r,
/// |r| <= log(2) / 64, exp(r) by its series to r^6.
struct ScaledExponential {
  double mantissa;
  int exponent;
};
EMOMC_INLINE ScaledExponential exp_scaled(double x) {
  constexpr double kShift = 0x1.8p52, kHigh = 0x1.62e42fefa0000p-6, kLow = 0x1.cf79abc9e3b3ap-45;
  const double shifted = EMOMC_FMA(x, 0x1.71547652b82fep+5, kShift);
  const double n = shifted - kShift;
  const int m = static_cast<int>(bits_of(shifted));
  const double power = EMOMC_TABLE(kPowerTable)[m & (kPowerTableSize - 1)];
  const double r = EMOMC_FMA(-n, kLow, EMOMC_FMA(-n, kHigh, x));
  const double r2 = r * r;
  const double p0 = EMOMC_FMA(r, 1.0 / 6, 0.5);
  const double p1 = EMOMC_FMA(r2, 0x1.6c16cp-10, EMOMC_FMA(r, 0x1.11111p-7, 1.0 / 24));
  const double p = EMOMC_FMA(r2, EMOMC_FMA(r2, p1, p0), r);
  return {EMOMC_FMA(power, p, power), m >> 5};
}

/// Returns exp(x) for x <= 0. Below 2^-1021, twice the smallest normal number, the result may be 0.
EMOMC_INLINE double exp_of_negative(double x) {
  constexpr double kSmallest = -709;  // gives an exponent of -1023, for which power_of_two() returns 0
  const ScaledExponential e = exp_scaled(x < kSmallest ? kSmallest : x);
  return e.mantissa * power_of_two(e.exponent);
}

/// Returns exp(x) for any x, with the accuracy of exp_of_negative().
EMOMC_INLINE double exp_by_table(double x) {
  constexpr double kSmallest = -709, kLargest = 710;
  const ScaledExponential e = exp_scaled(x < kSmallest ? kSmallest : x > kLargest ? kLargest : x);
  const bool is_last = e.exponent > 1023;  // 2^1024 is not a float64 number
  return e.mantissa * power_of_two(is_last ? 1023 : e.exponent) * (is_last ? 2.0 : 1.0);
}

/// Returns log(1 + e) for 0 <= e <= 1. With i/32 nearest to e, log(1 + e) = log(1 + i/32) + log(1 + r); the
/// last term is computed by its series to r^9.
EMOMC_INLINE double log1p_of_fraction(double e) {
  constexpr double kShift = 0x1.8p52;
  const double shifted = EMOMC_FMA(e, 32.0, kShift);
  const int i = static_cast<int>(bits_of(shifted));
  // The index is kept in range for NaN too.
  const LogTableEntry entry = EMOMC_TABLE(kLog1pTable)[i >= 0 && i < kLog1pTableSize ? i : 0];
  const double r = EMOMC_FMA(shifted - kShift, -1.0 / 32, e) * entry.reciprocal;
  const double r2 = r * r, r4 = r2 * r2;
  const double p0 = EMOMC_FMA(r2, EMOMC_FMA(r, 1.0 / 5, -1.0 / 4), EMOMC_FMA(r, 1.0 / 3, -1.0 / 2));
  const double p1 = EMOMC_FMA(r2, EMOMC_FMA(r, 0x1.c71c7p-4, -1.0 / 8), EMOMC_FMA(r, 0x1.24925p-3, -1.0 / 6));
  return entry.log_c + EMOMC_FMA(r2, EMOMC_FMA(r4, p1, p0), r);
}

/// Returns log(1 + exp(x)).
EMOMC_INLINE double log1p_exp(double x) {
  const double rest = log1p_of_fraction(exp_of_negative(-abs(x)));
  return x > 0 ? x + rest : rest;
}

/// Returns log(1 - exp(x)) for x <= 0 (Maechler 2012, "Accurately computing log(1 - exp(-|a|))"); NaN for x >
/// 0.
EMOMC_OUTLINE double log1m_exp(double x) {
  if (x > 0) return kNotANumber;
  return x > -kLn2 ? log(-expm1(x)) : log1p(-exp(x));
}

/// Returns 1 / (1 + exp(-x)).
EMOMC_INLINE double inv_logit(double x) {
  const double e = exp_of_negative(-abs(x));
  return (x < 0 ? e : is_nan(x) ? x : 1.0) / (1.0 + e);
}

/// Returns log(x / (1 - x)) for 0 <= x <= 1.
EMOMC_OUTLINE double logit(double x) {
  if (!(x >= 0 && x <= 1)) return kNotANumber;
  if (x > 0.25 && x < 0.75) return log1p((2.0 * x - 1.0) / (1.0 - x));
  return log(x) - log1m(x);
}

/// Returns log inv_logit(x).
EMOMC_INLINE double log_inv_logit(double x) { return -log1p_exp(-x); }

/// Returns log(1 - inv_logit(x)).
EMOMC_INLINE double log1m_inv_logit(double x) { return -log1p_exp(x); }

/// Returns log(exp(a) + exp(b)).
EMOMC_INLINE double log_sum_exp(double a, double b) {
  const double difference = a == b ? 0.0 : a - b;  // 0 also for equal infinities
  return (a > b ? a : b) + log1p_of_fraction(exp_of_negative(-abs(difference)));
}

/// Returns log(exp(a) - exp(b)) for a >= b; -infinity for a = b, NaN for a < b.
EMOMC_OUTLINE double log_diff_exp(double a, double b) {
  if (!(a > b)) return a == b && a < kInfinity ? -kInfinity : kNotANumber;
  return a < kInfinity ? a + log1m_exp(b - a) : a;
}

/// Returns log(theta exp(a) + (1 - theta) exp(b)) for 0 <= theta <= 1; b itself for theta = 0 and a for theta
/// = 1.
EMOMC_OUTLINE double log_mix(double theta, double a, double b) {
  if (!(theta >= 0 && theta <= 1) || is_nan(a) || is_nan(b)) return kNotANumber;
  if (theta == 0) return b;
  if (theta == 1) return a;
  return log_sum_exp(log(theta) + a, log1m(theta) + b);
}

/// Returns a log(b), and 0 if both are 0.
EMOMC_INLINE double multiply_log(double a, double b) { return a == 0 && b == 0 ? 0.0 : a * log(b); }

/// Returns a log(1 - b), and 0 if a is 0 and b is 1.
EMOMC_INLINE double multiply_log1m(double a, double b) { return a == 0 && b == 1 ? 0.0 : a * log1m(b); }

/// Returns 2^x.
EMOMC_OUTLINE double exp2(double x) {
  if (!(x < 1024 && x >= -1022)) return x > 0 ? kInfinity : is_nan(x) ? x : 0.0;
  const double n = EMOMC_RINT(x);
  const double y = exp((x - n) * kLn2);
  const int k = static_cast<int>(n);
  return k > 1000    ? y * power_of_two(k - 1000) * power_of_two(1000)
         : k < -1000 ? y * power_of_two(k + 1000) * power_of_two(-1000)
                     : y * power_of_two(k);
}

/// Returns log x times the constant high + low.
EMOMC_INLINE double scaled_log(double x, double high, double low) {
  if (!(x > 0 && x < kInfinity)) return log(x);
  const DoubleDouble l = log_double_double(x);
  const DoubleDouble product = two_product(l.high, high);
  return product.high + (product.low + EMOMC_FMA(l.high, low, l.low * high));
}

/// Logarithm to base 2; exact for powers of 2.
EMOMC_OUTLINE double log2(double x) { return scaled_log(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); }

/// Logarithm to base 10; exact for the powers of 10 that are float64 numbers.
EMOMC_OUTLINE double log10(double x) { return scaled_log(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); }

/// Returns x^y, with C's special cases: pow(x, 0) = pow(1, y) = 1 also for NaN. If x is negative, the result
/// is NaN unless y is an integer.
EMOMC_OUTLINE double pow(double x, double y) {
  if (y == 0 || x == 1) return 1.0;
  if (is_nan(x) || is_nan(y)) return kNotANumber;
  const double magnitude = abs(x);
  const bool whole = floor(y) == y;  // true for infinite y too
  const bool odd = whole && abs(y) < 0x1p53 && 2.0 * floor(0.5 * y) != y;
  if (x < 0 && !whole && magnitude < kInfinity) return kNotANumber;
  const double sign = odd ? copy_sign(1.0, x) : 1.0;
  if (magnitude == 1) return sign;
  if (magnitude == 0 || magnitude == kInfinity)
    return (magnitude == 0) == (y > 0) ? sign * 0.0 : sign * kInfinity;
  if (!is_finite(y)) return (magnitude > 1) == (y > 0) ? kInfinity : 0.0;
  const DoubleDouble l = log_double_double(magnitude);
  const DoubleDouble exponent = two_product(y, l.high);
  if (!(abs(exponent.high) < 800)) return exponent.high > 0 ? sign * kInfinity : sign * 0.0;
  const double result = exp(exponent.high);
  return sign * (result < kInfinity ? EMOMC_FMA(result, EMOMC_FMA(y, l.low, exponent.low), result) : result);
}

EMOMC_OUTLINE double sinh(double x) {
  const double y = abs(x);
  if (y > 20) {
    const double e = exp(0.5 * y);
    return copy_sign(0.5 * e * e, x);
  }
  const double e = expm1(y);
  return is_nan(x) ? x : copy_sign(0.5 * (e + e / (e + 1.0)), x);
}

EMOMC_OUTLINE double cosh(double x) {
  const double e = exp(0.5 * abs(x));
  const double square_of_e = e * e;
  return e < 0x1p500 ? 0.5 * square_of_e + 0.5 / square_of_e : 0.5 * e * e;
}

EMOMC_OUTLINE double tanh(double x) {
  const double e = expm1(-2.0 * abs(x));
  return is_nan(x) ? x : copy_sign(e / (2.0 + e), x);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_EXPONENTIALS_HPP
