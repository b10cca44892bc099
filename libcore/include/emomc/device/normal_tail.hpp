// Logarithm of the standard normal's upper tail and its derivative, in float64 with the same bits on host and
// device.
#ifndef EMOMC_DEVICE_NORMAL_TAIL_HPP
#define EMOMC_DEVICE_NORMAL_TAIL_HPP

#include "emomc/device/math.hpp"

namespace emomc::device {

/// Returns log erfc(x) - log t + x^2 for x >= 0 and t = 2 / (2 + x), a smooth function on 0 < t <= 1. Its
/// Chebyshev series in 2 t - 1, with coefficients computed with 40 digits, is truncated where terms fall
/// below 1e-17.
EMOMC_INLINE double log_erfc_series(double t) {
  constexpr int kTerms = 28;
  constexpr double kSeries[kTerms] = {
      -1.3026537197817094342,     0.6419697923564902603,       0.019476473204185836312,
      -0.0095615147868086316419,  -0.0009465953444820368663,   0.00036683949785276145187,
      0.000042523324806907771645, -0.000020278578112534243154, -1.6242900046470255135e-6,
      1.3036558355805232018e-6,   1.5626441722066143178e-8,    -8.5238095914926542525e-8,
      6.5290544390988514964e-9,   5.0593434955514689418e-9,    -9.9136415649303308674e-10,
      -2.2736512229318358557e-10, 9.646791102015526802e-11,    2.3940380830391147447e-12,
      -6.8860275264975533984e-12, 8.9448792730907257167e-13,   3.1309213993429580783e-13,
      -1.1270822361367252366e-13, 3.8109052551892320556e-16,   7.1060976136092369877e-15,
      -1.5230282014571043042e-15, -9.4574945712912340047e-17,  1.2102371892242789927e-16,
      -2.816663087747176976e-17};
  const double y = 2.0 * (2.0 * t - 1.0);
  double d = 0, dd = 0;
  for (int k = kTerms - 1; k > 0; --k) {
    const double next = EMOMC_FMA(y, d, kSeries[k] - dd);
    dd = d;
    d = next;
  }
  return EMOMC_FMA(0.5 * y, d, 0.5 * kSeries[0] - dd);
}

/// Returns log erfc(x) for x >= 0.
EMOMC_OUTLINE double log_erfc(double x) {
  const double t = 2.0 / (2.0 + x);
  return log(t) + (log_erfc_series(t) - x * x);
}

/// Returns log P(Z > z) for a standard normal Z.
EMOMC_INLINE double log_normal_tail(double z) {
  constexpr double kRootHalf = 0.70710678118654752440;
  const double tail = log_erfc((z < 0 ? -z : z) * kRootHalf) - kLn2;
  return z < 0 ? log1p(-exp(tail)) : tail;
}

/// Returns the inverse Mills ratio, normal density / P(Z > z), less z, for z >= 0: about 1 / z. For z > 5 the
/// continued fraction of Mills' ratio is used (Abramowitz and Stegun 26.2.14), whose terms from the 28th on
/// change the result by less than 1e-16.
EMOMC_OUTLINE double inverse_mills_excess(double z) {
  if (z > 5.0) {
    double rest = z;
    EMOMC_ROLLED
    for (int k = 28; k > 1; --k) rest = z + k / rest;
    return 1.0 / rest;
  }
  constexpr double kRootTwoByPi = 0.79788456080286535588, kRootHalf = 0.70710678118654752440;
  const double t = 2.0 / (2.0 + z * kRootHalf);
  return kRootTwoByPi / (t * exp(log_erfc_series(t))) - z;
}

/// Returns the inverse Mills ratio, which is minus the derivative of log_normal_tail.
EMOMC_INLINE double inverse_mills_ratio(double z) {
  if (z >= 0) return z + inverse_mills_excess(z);
  return exp(-0.5 * z * z - 0.5 * kLogTwoPi - log_normal_tail(z));
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_NORMAL_TAIL_HPP
