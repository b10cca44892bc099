// log(Gamma(x + a) / Gamma(x)) without the cancellation of two large logarithms.
#ifndef EMOMC_DEVICE_LOG_GAMMA_RATIO_HPP
#define EMOMC_DEVICE_LOG_GAMMA_RATIO_HPP

#include "emomc/device/math.hpp"

namespace emomc::device {

inline constexpr double kLogPi = 1.144729885849400174143427351353;

/// Stirling's series: log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2 (NIST Handbook of Mathematical
/// Functions, 5.11.1), within 2e-17 for x >= 16.
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

/// For x > 0 and a >= 0, within some 1e-15 of the larger of 1 and the result.
EMOMC_OUTLINE double log_gamma_ratio(double x, double a) {
  constexpr double kLargeEnough = 16;
  // Gamma(x + 1) = x Gamma(x), until Stirling's series holds for both.
  double below = 0;
  while (x < kLargeEnough) {
    below += log1p(a / x);
    x += 1;
  }
  const double y = x + a;
  // (y - 1/2) log y - (x - 1/2) log x - a, with y = x + a.
  const double main = EMOMC_FMA(x - 0.5, log1p(a / x), EMOMC_FMA(a, log(y), -a));
  return main + (stirling_rest(y) - stirling_rest(x)) - below;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_LOG_GAMMA_RATIO_HPP
