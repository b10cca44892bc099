// Rounding to integers, remainders, roots, the larger and smaller of two numbers, and checks of a density's
// parameters, in float64. The result for a NaN argument is NaN everywhere, also in fmin and fmax.
#ifndef EMOMC_DEVICE_REAL_FUNCTIONS_HPP
#define EMOMC_DEVICE_REAL_FUNCTIONS_HPP

#include "emomc/device/math.hpp"

namespace emomc::device {

inline constexpr double kNotANumber = __builtin_bit_cast(double, u64{0x7ff8000000000000ul});

EMOMC_INLINE double abs(double x) { return double_of(bits_of(x) & 0x7ffffffffffffffful); }

/// Returns the magnitude of `x` with the sign of `y`.
EMOMC_INLINE double copy_sign(double x, double y) {
  return double_of((bits_of(x) & 0x7ffffffffffffffful) | (bits_of(y) & 0x8000000000000000ul));
}

EMOMC_INLINE double square(double x) { return x * x; }

/// The square root; NaN for x < 0.
EMOMC_INLINE double sqrt(double x) { return x >= 0 ? EMOMC_SQRT(x) : kNotANumber; }

/// Returns the largest integer that is not above `x`.
EMOMC_INLINE double floor(double x) {
  const double nearest = EMOMC_RINT(x);
  return nearest > x ? nearest - 1.0 : nearest;
}

/// Returns the smallest integer that is not below `x`.
EMOMC_INLINE double ceil(double x) {
  const double nearest = EMOMC_RINT(x);
  return copy_sign(nearest < x ? nearest + 1.0 : nearest, x);
}

/// Returns `x` without its fraction.
EMOMC_INLINE double trunc(double x) { return x < 0 ? ceil(x) : floor(x); }

/// Returns the nearest integer; halves are rounded away from zero.
EMOMC_INLINE double round(double x) {
  const double whole = trunc(x);
  const double fraction = x - whole;  // exact
  return fraction >= 0.5 ? whole + 1.0 : fraction <= -0.5 ? whole - 1.0 : whole;
}

EMOMC_INLINE double fmin(double a, double b) { return a < b || is_nan(a) ? a : b; }

EMOMC_INLINE double fmax(double a, double b) { return a > b || is_nan(a) ? a : b; }

/// Returns the exact remainder of x / y with the sign of `x`, by long division in base 2, with at most 2098
/// steps each way.
EMOMC_OUTLINE double fmod(double x, double y) {
  const double divisor = abs(y);
  if (!is_finite(x) || is_nan(y) || divisor == 0) return kNotANumber;
  double rest = abs(x);
  if (rest < divisor) return x;
  double multiple = divisor;
  EMOMC_ROLLED
  while (multiple <= 0.5 * rest) multiple += multiple;
  EMOMC_ROLLED
  while (multiple >= divisor) {
    if (rest >= multiple) rest -= multiple;  // exact; half of the smallest number is 0
    multiple *= 0.5;
  }
  return copy_sign(rest, x);
}

/// The cube root, by an estimate from the exponent and Halley's iteration, each step of which triples the
/// number of correct digits.
EMOMC_OUTLINE double cbrt(double x) {
  const double magnitude = abs(x);
  if (!(magnitude > 0 && magnitude < kInfinity)) return x;
  // Subnormal numbers are scaled by 2^54, and their roots by 2^-18. m is in [1, 8), and the number is m 8^k.
  const bool tiny = magnitude < 0x1p-1022;
  const u64 bits = bits_of(tiny ? magnitude * 0x1p54 : magnitude);
  const int exponent = static_cast<int>(bits >> 52) - 1023 + 1200;  // not negative; 1200 = 3 x 400
  const int third = exponent / 3;
  const double m =
      double_of((bits & 0x000ffffffffffffful) | (static_cast<u64>(exponent - 3 * third + 1023) << 52));
  double y = EMOMC_FMA(m, EMOMC_FMA(m, -0.014685, 0.268176), 0.762485);  // within 1.6 %
  for (int i = 0; i < 2; ++i) {
    const double cube = y * y * y;
    y = y * ((cube + 2.0 * m) / (2.0 * cube + m));
  }
  return copy_sign(y * power_of_two(third - 400 - (tiny ? 18 : 0)), x);
}

// Densities pass their parameters through the next functions: an invalid parameter makes the density NaN,
// which the sampler rejects and counts.

/// Returns `x` for 0 < x < infinity, otherwise NaN.
EMOMC_INLINE double check_positive(double x) { return x > 0 && x < kInfinity ? x : kNotANumber; }

/// Returns `x` for 0 <= x < infinity, otherwise NaN.
EMOMC_INLINE double check_nonnegative(double x) { return x >= 0 && x < kInfinity ? x : kNotANumber; }

/// Returns `x` for -infinity < x < infinity, otherwise NaN.
EMOMC_INLINE double check_finite(double x) { return is_finite(x) ? x : kNotANumber; }

/// Returns `x` for 0 <= x <= 1, otherwise NaN.
EMOMC_INLINE double check_unit(double x) { return x >= 0 && x <= 1 ? x : kNotANumber; }

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_REAL_FUNCTIONS_HPP
