// Trigonometric functions and their inverses in float64 with the same bits on host and device. Arguments of
// sin, cos and tan are reduced with 159 bits of pi/2 up to |x| = 2^50 (1.1e15); beyond, where neighbouring
// float64 numbers are an eighth or more apart, the result is NaN.
#ifndef EMOMC_DEVICE_TRIGONOMETRIC_HPP
#define EMOMC_DEVICE_TRIGONOMETRIC_HPP

#include "emomc/device/double_double.hpp"
#include "emomc/device/pi.hpp"
#include "emomc/device/real_functions.hpp"

namespace emomc::device {

inline constexpr double kHalfPi = 1.57079632679489661923132169164;

/// Returns sine and cosine of the angle high + low for |high| <= 0.8, by their Taylor series.
EMOMC_INLINE SineAndCosine sincos_kernel(double high, double low) {
  static constexpr double kSine[] = {
      -0.16666666666666666667,    0.0083333333333333333333,  -0.0001984126984126984127,
      2.7557319223985890653e-6,   -2.5052108385441718775e-8, 1.6059043836821614599e-10,
      -7.6471637318198164759e-13, 2.8114572543455207632e-15, -8.220635246624329717e-18};
  static constexpr double kCosine[] = {0.041666666666666666667,    -0.0013888888888888888889,
                                       0.000024801587301587301587, -2.7557319223985890653e-7,
                                       2.0876756987868098979e-9,   -1.1470745597729724714e-11,
                                       4.7794773323873852974e-14,  -1.5619206968586226462e-16};
  const double z = high * high;
  const double half = 0.5 * z, near_one = 1.0 - half;
  const double sine = high + EMOMC_FMA(high * z, polynomial(kSine, z), low * near_one);
  const double cosine =
      near_one + (((1.0 - near_one) - half) + EMOMC_FMA(z * z, polynomial(kCosine, z), -high * low));
  return {sine, cosine};
}

/// Returns sine and cosine of x, by Cody and Waite's reduction (1980, "Software manual for the elementary
/// functions") with pi/2 in three parts of 53 bits. The first product is exact within the fused operation.
EMOMC_OUTLINE SineAndCosine sincos(double x) {
  if (!(abs(x) <= 0x1p50)) return {kNotANumber, kNotANumber};
  const double n = EMOMC_RINT(x * 0x1.45f306dc9c883p-1);
  const double first = EMOMC_FMA(-n, 0x1.921fb54442d18p+0, x);
  const DoubleDouble second = two_product(-n, 0x1.1a62633145c07p-54);
  const double third = EMOMC_FMA(-n, -0x1.f1976b7ed8fbcp-110, second.low);
  const DoubleDouble sum = two_sum(first, second.high);
  const DoubleDouble angle = two_sum(sum.high, sum.low + third);
  const SineAndCosine k = sincos_kernel(angle.high, angle.low);
  switch (static_cast<i64>(n) & 3) {
    case 0:
      return {n == 0 && x == 0 ? x : k.sine, k.cosine};
    case 1:
      return {k.cosine, -k.sine};
    case 2:
      return {-k.sine, -k.cosine};
    default:
      return {-k.cosine, k.sine};
  }
}

EMOMC_INLINE double sin(double x) { return sincos(x).sine; }
EMOMC_INLINE double cos(double x) { return sincos(x).cosine; }

EMOMC_OUTLINE double tan(double x) {
  const SineAndCosine k = sincos(x);
  return k.sine / k.cosine;
}

/// Returns sine and cosine of pi x; the reduction is exact.
EMOMC_OUTLINE SineAndCosine sincos_pi(double x) {
  if (!is_finite(x)) return {kNotANumber, kNotANumber};
  const double turn = x - 2.0 * EMOMC_RINT(0.5 * x);  // in [-1, 1]
  const double n = EMOMC_RINT(2.0 * turn);
  const double part = EMOMC_FMA(-0.5, n, turn);  // in [-1/4, 1/4]
  const DoubleDouble angle = two_product(part, kPi);
  const SineAndCosine k = sincos_kernel(angle.high, EMOMC_FMA(part, 0x1.1a62633145c07p-53, angle.low));
  switch (static_cast<int>(n) & 3) {
    case 0:
      return k;
    case 1:
      return {k.cosine, -k.sine};
    case 2:
      return {-k.sine, -k.cosine};
    default:
      return {-k.cosine, k.sine};
  }
}

/// The arctangent, by its Taylor series (DLMF 4.24.3) for |x| <= tan(pi/8). Other arguments are reduced to
/// that range by atan x = pi/2 - atan(1/x) and atan x = pi/4 + atan((x - 1) / (x + 1)).
EMOMC_OUTLINE double atan(double x) {
  static constexpr double kSeries[] = {-0.33333333333333333333,  0.2,
                                       -0.14285714285714285714,  0.11111111111111111111,
                                       -0.090909090909090909091, 0.076923076923076923077,
                                       -0.066666666666666666667, 0.058823529411764705882,
                                       -0.052631578947368421053, 0.047619047619047619048,
                                       -0.043478260869565217391, 0.04,
                                       -0.037037037037037037037, 0.034482758620689655172,
                                       -0.032258064516129032258, 0.03030303030303030303,
                                       -0.028571428571428571429, 0.027027027027027027027,
                                       -0.025641025641025641026, 0.02439024390243902439,
                                       -0.023255813953488372093};
  if (is_nan(x)) return x;
  const double y = abs(x);
  const bool inverted = y > 1;
  const double z = inverted ? 1.0 / y : y;
  const bool shifted = z > 0.41421356237309504880;
  const double t = shifted ? (z - 1.0) / (z + 1.0) : z, t2 = t * t;
  double angle = EMOMC_FMA(t * t2, polynomial(kSeries, t2), t);
  if (shifted) angle = 0.5 * kHalfPi + (angle + 0.5 * 6.123233995736766036e-17);
  if (inverted) angle = kHalfPi - (angle - 6.123233995736766036e-17);
  return copy_sign(angle, x);
}

/// Returns the angle of the point (x, y), in [-pi, pi]; signs of zeros and infinities are as in C.
EMOMC_OUTLINE double atan2(double y, double x) {
  if (is_nan(x) || is_nan(y)) return kNotANumber;
  const double v = abs(y), u = abs(x);
  const bool left = bits_of(x) >> 63 != 0;
  double angle = 0;
  if (v == kInfinity && u == kInfinity)
    angle = 0.5 * kHalfPi;
  else if (v != 0)
    angle = atan(v / u);
  else if (u == 0)
    return left ? copy_sign(kPi, y) : y;
  return copy_sign(left ? kPi - (angle - 1.2246467991473532e-16) : angle, y);
}

/// The arcsine; NaN for |x| > 1.
EMOMC_OUTLINE double asin(double x) { return atan2(x, sqrt((1.0 - x) * (1.0 + x))); }

/// The arccosine; NaN for |x| > 1.
EMOMC_OUTLINE double acos(double x) { return 2.0 * atan2(sqrt(1.0 - x), sqrt(1.0 + x)); }

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_TRIGONOMETRIC_HPP
