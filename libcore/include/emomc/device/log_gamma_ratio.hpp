// log(Gamma(x + a) / Gamma(x)) without the cancellation of two large logarithms, and its derivative.
#ifndef EMOMC_DEVICE_LOG_GAMMA_RATIO_HPP
#define EMOMC_DEVICE_LOG_GAMMA_RATIO_HPP

#include "emomc/device/math.hpp"

namespace emomc::device {

inline constexpr double kLogPi = 1.144729885849400174143427351353;

/// The remainder of Stirling's series, log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2 (NIST Handbook of
/// Mathematical Functions, 5.11.1), within 2e-17 for x >= 16.
EMOMC_INLINE double stirling_rest(double x) {
  const double r = 1.0 / x, z = r * r;
  return r * EMOMC_FMA(
                 z,
                 EMOMC_FMA(z,
                           EMOMC_FMA(z, EMOMC_FMA(z, EMOMC_FMA(z, -691.0 / 360360, 1.0 / 1188), -1.0 / 1680),
                                     1.0 / 1260),
                           -1.0 / 360),
                 1.0 / 12);
}

/// Returns log(Gamma(x + a) / Gamma(x)) for x > 0 and a >= 0, within some 1e-15 of the larger of 1 and the
/// result.
EMOMC_OUTLINE double log_gamma_ratio(double x, double a) {
  constexpr double kLargeEnough = 16;
  // The loop uses Gamma(x + 1) = x Gamma(x) until Stirling's series holds for both.
  double below = 0;
  while (x < kLargeEnough) {
    below += log1p(a / x);
    x += 1;
  }
  const double y = x + a;
  // The main term is (y - 1/2) log y - (x - 1/2) log x - a.
  const double main = EMOMC_FMA(x - 0.5, log1p(a / x), EMOMC_FMA(a, log(y), -a));
  return main + (stirling_rest(y) - stirling_rest(x)) - below;
}

/// Returns psi(x) - psi(x + n / 2) + n / (2 x) for x > 0 and n >= 0, where psi is the digamma function. For
/// large x the result is about n (n - 2) / (8 x^2), and no larger terms cancel. Whole steps use psi(x + 1) =
/// psi(x) + 1 / x. A half step uses the asymptotic series of 2 psi(2 x) - 2 psi(x) (NIST Handbook of
/// Mathematical Functions, 5.5.8 and 5.11.2), within 1e-16 for x >= 16.
EMOMC_OUTLINE double digamma_deficit(double x, int n) {
  double sum = 0;
  double y = x;  // x, or x + 1/2 for odd n
  if (n % 2 != 0) {
    y = x + 0.5;
    // The half step psi(x + 1/2) - psi(x) - 1 / (2 x) is computed at an argument for which the series holds.
    double at = x;
    while (at < 16) {
      sum -= 0.25 / (at * (at + 0.5) * (at + 1.0));
      at += 1.0;
    }
    const double r = 1.0 / at, z = r * r;
    sum -=
        z * EMOMC_FMA(
                z,
                EMOMC_FMA(z,
                          EMOMC_FMA(z, EMOMC_FMA(z, EMOMC_FMA(z, -691.0 / 16384, 31.0 / 2048), -17.0 / 2048),
                                    1.0 / 128),
                          -1.0 / 64),
                1.0 / 8);
  }
  EMOMC_ROLLED
  for (int i = 0; i < n / 2; ++i) sum += (y - x + i) / (x * (y + i));
  return sum;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_LOG_GAMMA_RATIO_HPP
