// Tail probabilities of the skew normal distribution, in float64 with the same bits on host and device.
#ifndef EMOMC_DEVICE_SKEW_NORMAL_HPP
#define EMOMC_DEVICE_SKEW_NORMAL_HPP

#include "emomc/device/incomplete_gamma.hpp"
#include "emomc/device/quadrature.hpp"

namespace emomc::device {

/// Returns the logarithms of the probabilities below and above z of the density 2 phi(t) Phi(alpha t), alpha
/// >= 0 (Azzalini 1985). The smaller probability is integrated numerically, so that nothing cancels. The
/// integrand changes over lengths of 1 and, near 0 and below, of w = 1 / sqrt(1 + alpha^2), as exp(-t^2 / (2
/// w^2)).
EMOMC_OUTLINE LogTails log_skew_normal_tails(double z, double alpha) {
  constexpr double kWidths = 9;                           // where exp(-t^2 / 2) is 2e-18
  constexpr double kTwiceLargest = 80;                    // twice the exponent at the far end
  constexpr double kMeanOfHalf = 0.79788456080286535588;  // sqrt(2 / pi)
  const double w = 1.0 / EMOMC_SQRT(EMOMC_FMA(alpha, alpha, 1.0)), bend = kWidths * w;
  const double log_phi = std_normal_lcdf(alpha * z);
  if (log_phi == -kInfinity) return {-kInfinity, 0.0};
  // The ratio of the density at t to that at z.
  const auto ratio = [&](double t) {
    return exp(EMOMC_FMA(-0.5 * (t - z), t + z, std_normal_lcdf(alpha * t) - log_phi));
  };
  const double log_density = EMOMC_FMA(-0.5 * z, z, kLn2 - 0.5 * kLogTwoPi + log_phi);
  if (z <= kMeanOfHalf * alpha * w) {
    const double end = z < 0 ? -EMOMC_SQRT(EMOMC_FMA(z, z, kTwiceLargest * w * w)) : -bend;
    const double between = fmin(z, bend);
    double sum = z < 0 ? integral(ratio, end, z) : integral(ratio, end, 0.0) + integral(ratio, 0.0, between);
    if (between < z) sum += integral(ratio, between, z);
    return tails_of_lower(log_density + log(sum));
  }
  const double between = fmax(z, bend);
  double sum = integral(ratio, between, EMOMC_SQRT(EMOMC_FMA(between, between, kTwiceLargest)));
  if (between > z) sum += integral(ratio, z, between);
  return tails_of_upper(log_density + log(sum));
}

/// Returns the log probability below z of the skew normal distribution. That above z is
/// log_skew_normal_cdf(-z, -alpha).
EMOMC_OUTLINE double log_skew_normal_cdf(double z, double alpha) {
  if (is_nan(z) || !(abs(alpha) < 1e150)) return kNotANumber;
  if (abs(z) > 1e150) return z < 0 ? -kInfinity : 0.0;
  return alpha >= 0 ? log_skew_normal_tails(z, alpha).lower : log_skew_normal_tails(-z, -alpha).upper;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_SKEW_NORMAL_HPP
