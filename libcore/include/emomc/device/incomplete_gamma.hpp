// Logarithms of the regularised incomplete gamma functions, in float64 with the same bits on host and device.
#ifndef EMOMC_DEVICE_INCOMPLETE_GAMMA_HPP
#define EMOMC_DEVICE_INCOMPLETE_GAMMA_HPP

#include "emomc/device/error_functions.hpp"
#include "emomc/device/gamma_functions.hpp"

namespace emomc::device {

/// Logarithms of two probabilities whose sum is 1.
struct LogTails {
  double lower, upper;
};

EMOMC_INLINE LogTails tails_of_lower(double lower) { return {lower, log1m_exp(fmin(lower, 0.0))}; }

EMOMC_INLINE LogTails tails_of_upper(double upper) { return {log1m_exp(fmin(upper, 0.0)), upper}; }

/// Returns log P(a, x) and log Q(a, x) for large a and x = a (1 + m) near a, by the uniform expansion of
/// Temme (1979; DLMF 8.12.3-8.12.4): Q(a, x) = erfc(eta sqrt(a/2)) / 2 + exp(-a eta^2 / 2) S(eta) / sqrt(2 pi
/// a) with eta^2 / 2 = m - log(1 + m), m = x/a - 1. S solves eta S - S'/a = f / Gamma*(a) - 1, f = eta / m.
/// The coefficients b of S Gamma* therefore follow from those of f, d, by b[n-1] = d[n] + (n+1)/a b[n+1]
/// downwards, with Gamma* = 1 + b[1] / a (Gil, Segura and Temme 2012, "Efficient and accurate algorithms for
/// the computation and inversion of the incomplete gamma function ratios").
EMOMC_OUTLINE LogTails incomplete_gamma_uniform(double a, double m) {
  constexpr int kTerms = 38;
  static constexpr double kSeries[kTerms] = {
      -0.33333333333333333333,    0.083333333333333333333,    -0.014814814814814814815,
      0.0011574074074074074074,   0.00035273368606701940035,  -0.0001787551440329218107,
      0.000039192631785224377817, -2.1854485106799921615e-6,  -1.8540622107151599607e-6,
      8.296711340953086005e-7,    -1.7665952736826079304e-7,  6.7078535434014985804e-9,
      1.0261809784240308043e-8,   -4.3820360184533531866e-9,  9.1476995822367902342e-10,
      -2.5514193994946249767e-11, -5.8307721325504250675e-11, 2.4361948020667416244e-11,
      -5.0276692801141755891e-12, 1.1004392031956134771e-13,  3.3717632624009853788e-13,
      -1.3923887224181620659e-13, 2.8534893807047443204e-14,  -5.139111834242572619e-16,
      -1.9752288294349442835e-15, 8.0995211567045613341e-16,  -1.6522531216398161819e-16,
      2.5305430097478884233e-18,  1.1686939738559576589e-17,  -4.7700370498204847582e-18,
      9.6991260590562371242e-19,  -1.293256553803817501e-20,  -6.9692302531856933805e-20,
      2.8351454321769365999e-20,  -5.7509821590070475002e-21, 6.7929537834889145646e-23,
      4.1821254261113358578e-22,  -1.6971539620047603732e-22};  // d[1], d[2], ...
  const double half_square = x_less_log1p(m);
  const double eta = copy_sign(EMOMC_SQRT(2.0 * half_square), m);
  double sum = kSeries[kTerms - 1], above = 0, b = kSeries[kTerms - 1];  // b: b[n], above: b[n + 1]
  EMOMC_ROLLED
  for (int n = kTerms - 2; n >= 0; --n) {
    const double next = EMOMC_FMA((n + 2) / a, above, kSeries[n]);
    above = b;
    b = next;
    sum = EMOMC_FMA(sum, eta, b);
  }
  sum = sum / (1.0 + above / a);
  const double root_a = EMOMC_SQRT(a);
  const double rest = (eta < 0 ? -sum : sum) / (root_a * 2.50662827463100050242);
  const double tail = log(EMOMC_FMA(0.5, scaled_erfc(abs(eta) * root_a * kRootHalf), rest)) - a * half_square;
  return eta < 0 ? tails_of_lower(tail) : tails_of_upper(tail);
}

/// Returns log of Gamma(a, x) exp(x) x^-a by Legendre's continued fraction (DLMF 8.9.2) and Lentz's method.
EMOMC_OUTLINE double log_gamma_fraction(double a, double x) {
  double b = x + (1.0 - a), d = 1.0 / b, c = 1e300, value = d;
  EMOMC_ROLLED
  for (int k = 1; k < 500; ++k) {
    const double numerator = k * (a - k);
    b += 2.0;
    d = 1.0 / EMOMC_FMA(numerator, d, b);
    c = b + numerator / c;
    const double factor = c * d;
    value *= factor;
    if (abs(factor - 1.0) < 2e-16) break;
  }
  return log(value);
}

/// Returns the sum of x^n / ((a + 1) ... (a + n)) over n >= 1 (DLMF 8.7.1).
EMOMC_OUTLINE double gamma_power_series(double a, double x) {
  double term = 1, sum = 0;
  EMOMC_ROLLED
  for (int n = 1; n < 500; ++n) {
    term *= x / (a + n);
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return sum;
}

/// Returns the logarithms of P(a, x) and Q(a, x).
EMOMC_OUTLINE LogTails log_incomplete_gamma(double a, double x) {
  constexpr double kLargeShape = 20;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == kInfinity && x == kInfinity))
    return {kNotANumber, kNotANumber};
  if (x == 0 || a == kInfinity) return {-kInfinity, 0.0};
  if (a == 0 || x == kInfinity) return {0.0, -kInfinity};
  if (a >= kLargeShape) {
    const double m = (x - a) / a;
    if (m > -0.7 && m < 1.36) return incomplete_gamma_uniform(a, m);
    // This branch computes x^a exp(-x) / Gamma(a) by Stirling's formula.
    const double distance = m < -0.5 ? m - (log(x) - log(a)) : x_less_log1p(m);
    const double factor = -a * distance + (0.5 * log(a) - kHalfLogTwoPi) - stirling_rest(a);
    if (m < 0) return tails_of_lower(factor - log(a) + log1p(gamma_power_series(a, x)));
    return tails_of_upper(m < kInfinity ? factor + log_gamma_fraction(a, x) : -kInfinity);
  }
  const double log_x = log(x);
  if (x > 1.5 && x > a + 1.0)
    return tails_of_upper(x < 1e300 ? a * log_x - x - lgamma(a) + log_gamma_fraction(a, x) : -x);
  const double of_a = a < 0.5 ? log_gamma_near_one(a) : lgamma(a + 1.0);  // log Gamma(a + 1)
  const double factor = a * log_x - of_a;
  if (a < 1 && x <= 1.5 && factor - x * a > -1.0) {
    // For P near 1: Q = 1 - u + u w, u = x^a / Gamma(a + 1), w = 1 - P / u (DLMF 8.7.1).
    double term = 1, sum = 0;
    EMOMC_ROLLED
    for (int n = 1; n < 60; ++n) {
      term *= -x / n;
      sum -= term / (a + n);
      if (abs(term) < 1e-18) break;
    }
    return tails_of_upper(log(EMOMC_FMA(exp(factor) * a, sum, -expm1(factor))));
  }
  return tails_of_lower(factor - x + log1p(gamma_power_series(a, x)));
}

/// Returns log P(a, x), the log probability below x of the gamma distribution of shape a and rate 1.
EMOMC_OUTLINE double log_gamma_p(double a, double x) { return log_incomplete_gamma(a, x).lower; }

/// Returns log Q(a, x), the log probability above x of the gamma distribution of shape a and rate 1.
EMOMC_OUTLINE double log_gamma_q(double a, double x) { return log_incomplete_gamma(a, x).upper; }

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_INCOMPLETE_GAMMA_HPP
