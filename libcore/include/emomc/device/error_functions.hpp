// The error function, the standard normal distribution and its inverse, in float64 with the same bits on host
// and device.
#ifndef EMOMC_DEVICE_ERROR_FUNCTIONS_HPP
#define EMOMC_DEVICE_ERROR_FUNCTIONS_HPP

#include "emomc/device/exponentials.hpp"
#include "emomc/device/normal_tail.hpp"

namespace emomc::device {

inline constexpr double kRootHalf = 0.70710678118654752440;

/// Returns log(exp(x^2) erfc(x)) for x >= 0.
EMOMC_INLINE double log_scaled_erfc(double x) {
  const double t = 2.0 / (2.0 + x);
  return log(t) + log_erfc_series(t);
}

/// Returns exp(x^2) erfc(x) for x >= 0.
EMOMC_INLINE double scaled_erfc(double x) {
  const double t = 2.0 / (2.0 + x);
  return t * exp(log_erfc_series(t));
}

/// Returns exp(-x^2), corrected for the rounding error of x^2.
EMOMC_INLINE double exp_minus_square(double x) {
  const DoubleDouble s = two_product(x, x);
  const double e = exp(-s.high);
  return e > 0 ? EMOMC_FMA(-e, s.low, e) : e;
}

/// Returns exp(-x^2 / 2), corrected for the rounding error of x^2.
EMOMC_INLINE double exp_minus_half_square(double x) {
  const DoubleDouble s = two_product(x, x);
  const double e = exp(-0.5 * s.high);
  return e > 0 ? EMOMC_FMA(-0.5 * e, s.low, e) : e;
}

/// The error function, by its Taylor series (DLMF 7.6.1) for |x| < 1 and by erfc beyond.
EMOMC_OUTLINE double erf(double x) {
  static constexpr double kSeries[] = {
      1.1283791670955125739,      -0.37612638903183752463,     0.11283791670955125739,
      -0.026866170645131251759,   0.0052239776254421878421,    -0.00085483270234508528325,
      0.00012055332981789664251,  -0.000014925650358406250977, 1.6462114365889247402e-6,
      -1.6365844691234924317e-7,  1.480719281587921724e-8,     -1.2290555301717927353e-9,
      9.4227590646504109706e-11,  -6.7113668551641103779e-12,  4.4632242632864773449e-13,
      -2.7835162072109213549e-14, 1.6342614095367151894e-15,   -9.0639708428086724792e-17,
      4.7633480405150681197e-18,  -2.3784598852774294255e-19,  1.1312187259246310682e-20};
  const double y = abs(x);
  if (y < 1) return x * polynomial(kSeries, x * x);
  return is_nan(x) ? x : copy_sign(1.0 - exp_minus_square(y) * scaled_erfc(y), x);
}

/// Returns 1 - erf(x) without cancellation.
EMOMC_OUTLINE double erfc(double x) {
  if (x < 0.5) return 1.0 - erf(x);
  return exp_minus_square(x) * scaled_erfc(x);
}

/// The probability below z of the standard normal distribution.
EMOMC_OUTLINE double Phi(double z) {
  if (z > -0.5) return EMOMC_FMA(0.5, erf(z * kRootHalf), 0.5);
  return 0.5 * exp_minus_half_square(z) * scaled_erfc(abs(z) * kRootHalf);
}

/// Returns log Phi(z), accurate in both tails.
EMOMC_OUTLINE double std_normal_lcdf(double z) {
  if (z < 0) return log_scaled_erfc(-z * kRootHalf) - EMOMC_FMA(0.5 * z, z, kLn2);
  return log1p(-Phi(-z));
}

/// Returns log(1 - Phi(z)), accurate in both tails.
EMOMC_INLINE double std_normal_lccdf(double z) { return std_normal_lcdf(-z); }

/// Returns the z with Phi(z) = p for 0 <= p <= 1; infinite at the ends. Two steps of Halley's method are
/// made. Around the middle they solve for erf(z / sqrt 2), from the series of the inverse error function
/// (DLMF 7.17.2); elsewhere they solve for log Phi, from Abramowitz and Stegun's 26.2.23.
EMOMC_OUTLINE double inv_Phi(double p) {
  if (!(p >= 0 && p <= 1)) return kNotANumber;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  if (p > 0.3 && p < 0.7) {
    constexpr double kTwoByRootPi = 1.12837916709551257390, kPiBy4 = 0.785398163397448309616;
    const double d = 2.0 * p - 1.0;  // exact
    const double s = d * d * kPiBy4;
    static constexpr double kSeries[] = {1.0, 1.0 / 3, 7.0 / 30, 127.0 / 630, 4369.0 / 22680};
    double w = d / kTwoByRootPi * polynomial(kSeries, s);
    for (int i = 0; i < 2; ++i) {
      const double step = (erf(w) - d) / (kTwoByRootPi * exp(-w * w));
      w -= step / EMOMC_FMA(w, step, 1.0);
    }
    return w / kRootHalf;
  }
  const double tail = p < 0.5 ? p : 1.0 - p;  // exact
  const double log_tail = log(tail);
  const double t = EMOMC_SQRT(-2.0 * log_tail);
  double z =
      (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int i = 0; i < 2; ++i) {
    const double log_phi = std_normal_lcdf(z);
    const double slope = exp(-0.5 * z * z - 0.91893853320467274178 - log_phi);
    const double step = (log_phi - log_tail) / slope;
    z -= step / EMOMC_FMA(0.5 * step, z + slope, 1.0);
  }
  return p < 0.5 ? z : -z;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ERROR_FUNCTIONS_HPP
