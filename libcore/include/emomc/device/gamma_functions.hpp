// The gamma function's logarithm, its derivatives, and the logarithms of beta functions and binomial
// coefficients, in float64 with the same bits on host and device. DLMF is the NIST Digital Library of
// Mathematical Functions.
#ifndef EMOMC_DEVICE_GAMMA_FUNCTIONS_HPP
#define EMOMC_DEVICE_GAMMA_FUNCTIONS_HPP

#include "emomc/device/exponentials.hpp"
#include "emomc/device/log_gamma_ratio.hpp"
#include "emomc/device/trigonometric.hpp"

namespace emomc::device {

inline constexpr double kHalfLogTwoPi = 0.918938533204672741780329736406;

/// Returns log Gamma(2 + z) for |z| <= 1/2, exactly 0 at 0 (DLMF 5.7.3).
EMOMC_OUTLINE double log_gamma_near_two(double z) {
  static constexpr double kSeries[] = {
      0.42278433509846713939,     0.32246703342411321824,    -0.067352301053198095133,
      0.020580808427784547879,    -0.0073855510286739852663, 0.0028905103307415232858,
      -0.0011927539117032609771,  0.00050966952474304242234, -0.00022315475845357937976,
      0.000099457512781808533715, -0.0000449262367381331417, 0.000020507212775670691553,
      -9.439488275268395904e-6,   4.3748667899074878042e-6,  -2.0392157538013662368e-6,
      9.5514121304074198329e-7,   -4.4924691987645660433e-7, 2.1207184805554665869e-7,
      -1.0043224823968099609e-7,  4.7698101693639805658e-8,  -2.271109460894316491e-8,
      1.0838659214896954091e-8,   -5.1834750419700466551e-9, 2.4836745438024783172e-9,
      -1.1921401405860912074e-9,  5.7313672416788620133e-10, -2.7595228851242331452e-10,
      1.3304764374244489481e-10,  -6.4229645638381000221e-11};  // 1 - Euler's constant, (-1)^n (zeta(n) - 1)
                                                                // / n
  return z * polynomial(kSeries, z);
}

/// Returns log Gamma(1 + z) for -1/2 <= z <= 1/2, accurate for small |z|.
EMOMC_INLINE double log_gamma_near_one(double z) { return log_gamma_near_two(z) - log1p(z); }

/// Returns log |Gamma(x)|; infinity at 0, -1, -2, ... and at both infinities.
EMOMC_OUTLINE double lgamma(double x) {
  if (is_nan(x)) return x;
  if (!is_finite(x)) return kInfinity;
  const double y = abs(x);
  double value;
  if (y >= 16) {  // Stirling, DLMF 5.11.1
    value = EMOMC_FMA(y - 0.5, log(y) - 1.0, kHalfLogTwoPi - 0.5) + stirling_rest(y);
  } else if (y > 2.5) {
    double z = y, product = 1;
    EMOMC_ROLLED
    while (z > 2.5) {
      z -= 1;
      product *= z;
    }
    value = log(product) + log_gamma_near_two(z - 2.0);
  } else if (y >= 1.5) {
    value = log_gamma_near_two(y - 2.0);
  } else if (y >= 0.5) {
    value = log_gamma_near_one(y - 1.0);
  } else {
    value = log_gamma_near_one(y) - log(y);
  }
  if (x >= 0 || y < 1e-300) return value;
  // Gamma(-y) = -pi / (y sin(pi y) Gamma(y)), DLMF 5.5.3
  const double sine = abs(sincos_pi(y).sine);
  return sine == 0 ? kInfinity : log(kPi / sine) - log(y) - value;
}

/// Returns the derivative of log Gamma for x > 0: by psi(x) = psi(x + 1) - 1/x up to x = 10, then by DLMF
/// 5.11.2.
EMOMC_OUTLINE double digamma_positive(double x) {
  static constexpr double kSeries[] = {-1.0 / 12,  1.0 / 120,     -1.0 / 252, 1.0 / 240,
                                       -1.0 / 132, 691.0 / 32760, -1.0 / 12};
  double below = 0;
  EMOMC_ROLLED
  while (x < 10) {
    below += 1.0 / x;
    x += 1;
  }
  const double r = 1.0 / x, r2 = r * r;
  return (log(x) - below) + EMOMC_FMA(-0.5, r, r2 * polynomial(kSeries, r2));
}

/// Returns the second derivative of log Gamma for x > 0: by psi'(x) = psi'(x + 1) + 1/x^2 up to x = 10, then
/// by DLMF 5.15.8.
EMOMC_OUTLINE double trigamma_positive(double x) {
  static constexpr double kSeries[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                       5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
  double below = 0;
  EMOMC_ROLLED
  while (x < 10) {
    below += square(1.0 / x);
    x += 1;
  }
  const double r = 1.0 / x, r2 = r * r;
  return EMOMC_FMA(0.5, r2, r) + EMOMC_FMA(r * r2, polynomial(kSeries, r2), below);
}

/// Returns the derivative of log Gamma; NaN at 0, -1, -2, ...
EMOMC_OUTLINE double digamma(double x) {
  if (!(x > -kInfinity && x < kInfinity)) return x > 0 ? x : kNotANumber;
  if (x <= 0) {  // psi(1 - x) - psi(x) = pi cot(pi x), DLMF 5.5.4
    const SineAndCosine k = sincos_pi(x);
    if (k.sine == 0) return kNotANumber;
    const double reflected = kPi * k.cosine / k.sine;
    return digamma_positive(1.0 - x) - reflected;
  }
  return digamma_positive(x);
}

/// Returns digamma_positive(x + a) - digamma_positive(x) for x > 0 and a >= 0, accurate for small a too.
EMOMC_OUTLINE double digamma_difference_upwards(double x, double a) {
  // The coefficients are -B_2k / (2k) of DLMF 5.11.2.
  static constexpr double kSeries[] = {-1.0 / 12,  1.0 / 120,     -1.0 / 252, 1.0 / 240,
                                       -1.0 / 132, 691.0 / 32760, -1.0 / 12};
  if (!(x < kInfinity && a < kInfinity)) return x < kInfinity ? a : kNotANumber;
  double below = 0;
  EMOMC_ROLLED
  while (x < 10) {
    below += a / (x * (x + a));
    x += 1;
  }
  // With r = 1/x and s = 1/(x + a) the powers s^2k - r^2k are multiples of s^2 - r^2.
  const double r = 1.0 / x, s = 1.0 / (x + a), r2 = r * r, s2 = s * s;
  const double first = -a * r * s;  // s - r
  double powers = 1, quotient = 1, sum = kSeries[0];
  for (int k = 1; k < 7; ++k) {
    powers *= r2;
    quotient = EMOMC_FMA(quotient, s2, powers);
    sum = EMOMC_FMA(kSeries[k], quotient, sum);
  }
  return log1p(a * r) + EMOMC_FMA(first, EMOMC_FMA(r + s, sum, -0.5), below);
}

/// Returns psi(x + a) - psi(x) for x > 0 and x + a > 0, accurate also if a is small compared with x.
EMOMC_OUTLINE double digamma_difference(double x, double a) {
  if (a < 0) {
    const double y = x + a;
    return y > 0 ? -digamma_difference_upwards(y, -a) : kNotANumber;
  }
  return x > 0 ? digamma_difference_upwards(x, a) : kNotANumber;
}

/// Returns the second derivative of log Gamma; infinity at 0, -1, -2, ...
EMOMC_OUTLINE double trigamma(double x) {
  if (!(x > -kInfinity && x < kInfinity)) return x > 0 ? 0.0 : kNotANumber;
  if (x > 0) return trigamma_positive(x);
  const double sine = sincos_pi(x).sine;  // psi'(1 - x) + psi'(x) = pi^2 / sin(pi x)^2
  return square(kPi / sine) - trigamma_positive(1.0 - x);
}

/// Returns stirling_rest(x + a) - stirling_rest(x) for x >= 16 and a >= 0, accurate for small a too, by s^n -
/// r^n = (s - r) (s^(n-1) + ... + r^(n-1)) with r = 1/x and s = 1/(x + a).
EMOMC_OUTLINE double stirling_rest_difference(double x, double a) {
  static constexpr double kSeries[] = {1.0 / 12,    -1.0 / 360, 1.0 / 1260,
                                       -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
  const double r = 1.0 / x, s = 1.0 / (x + a), r2 = r * r, s2 = s * s;
  double powers = 1, quotient = 1, sum = kSeries[0];  // r^(2k) and the quotient of s^(2k+1) and r^(2k+1)
  for (int k = 1; k < 6; ++k) {
    powers *= r2;
    quotient = EMOMC_FMA(quotient, s2, powers * (1.0 + s * x));
    sum = EMOMC_FMA(kSeries[k], quotient, sum);
  }
  return -(a * s) * r * sum;
}

/// Returns log Gamma(x + a) - log Gamma(x) for x > 0 and a >= 0.
EMOMC_OUTLINE double log_gamma_difference_upwards(double x, double a) {
  if (!(x < kInfinity && a < kInfinity)) return x < kInfinity ? a : kNotANumber;
  double below = 0;
  if (x < 16) {
    if (a >= 1) return lgamma(x + a) - lgamma(x);
    // The loop computes the product of 1 + a/x, 1 + a/(x + 1), ... less 1, which keeps the digits of a small
    // a.
    double product = 0, z = x;
    EMOMC_ROLLED
    while (z < 16) {
      const double term = a / z;
      product = product + EMOMC_FMA(product, term, term);
      z += 1;
    }
    if (!(product < kInfinity)) return lgamma(x + a) - lgamma(x);
    below = log1p(product);
    x = z;
  }
  // The main term is (y - 1/2) log y - (x - 1/2) log x - a with y = x + a; Stirling's series is added for
  // both.
  const double ratio = log1p(a / x);
  const double main = a < x ? EMOMC_FMA(x - 0.5, ratio, a * (log(x + a) - 1.0))
                            : EMOMC_FMA(x - 0.5, ratio, a * (log(0.5 * x + 0.5 * a) - (1.0 - kLn2)));
  return main + (stirling_rest_difference(x, a) - below);
}

/// Returns log Gamma(x + a) - log Gamma(x) for x > 0 and x + a > 0, accurate also if a is below 1 or small
/// compared with x.
EMOMC_OUTLINE double log_gamma_difference(double x, double a) {
  if (a < 0) {
    const double y = x + a;
    return y > 0 ? -log_gamma_difference_upwards(y, -a) : kNotANumber;
  }
  return x > 0 ? log_gamma_difference_upwards(x, a) : kNotANumber;
}

/// Returns log B(a, b) = log Gamma(a) + log Gamma(b) - log Gamma(a + b) for a, b >= 0; infinity if either is
/// 0.
EMOMC_OUTLINE double lbeta(double a, double b) {
  const double low = fmin(a, b), high = fmax(a, b);
  if (!(low >= 0)) return kNotANumber;
  if (high == kInfinity) return low > 0 ? -kInfinity : kNotANumber;
  if (low == 0) return kInfinity;
  if (low >= 16) {
    // All three use Stirling's formula. The logarithms of a / (a + b) and b / (a + b) have the same sign.
    const double both = low + high;
    const double rest = both < kInfinity ? stirling_rest(both) : 0.0;
    return EMOMC_FMA(-(low - 0.5), log1p(high / low), -high * log1p(low / high)) +
           (kHalfLogTwoPi - 0.5 * log(high) + (stirling_rest(low) + stirling_rest(high) - rest));
  }
  if (low + high < 16) return lgamma(low) + (lgamma(high) - lgamma(low + high));
  return lgamma(low) - log_gamma_difference_upwards(high, low);
}

/// Returns the logarithm of the binomial coefficient of n over k for n >= 0, also for real numbers; -infinity
/// for k outside [0, n]. Below n = 1, where the result is of order n k, the error is relative to k.
EMOMC_OUTLINE double lchoose(double n, double k) {
  if (!(n >= 0 && n < kInfinity) || is_nan(k)) return kNotANumber;
  if (k < 0 || k > n) return -kInfinity;
  const double low = fmin(k, n - k), high = n - low;
  if (low >= 16) return -lbeta(high + 1.0, low + 1.0) - log1p(n);
  const double of_low = low < 0.5 ? log_gamma_near_one(low) : lgamma(low + 1.0);
  return log_gamma_difference_upwards(high + 1.0, low) - of_low;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GAMMA_FUNCTIONS_HPP
