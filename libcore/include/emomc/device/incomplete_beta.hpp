// Logarithm of the regularised incomplete beta function, in float64 with the same bits on host and device.
#ifndef EMOMC_DEVICE_INCOMPLETE_BETA_HPP
#define EMOMC_DEVICE_INCOMPLETE_BETA_HPP

#include "emomc/device/incomplete_gamma.hpp"
#include "emomc/device/quadrature.hpp"

namespace emomc::device {

/// Returns log(x^a (1 - x)^b / B(a, b)) with y = 1 - x. For large a and b the factorials and the powers are
/// each far from 1 and are therefore combined: with p = a / (a + b) the power is -a f(x/p - 1) - b f(y/(1 -
/// p) - 1), f(m) = m - log(1 + m).
EMOMC_OUTLINE double log_beta_power(double a, double b, double x, double y) {
  const double log_x = x < 0.5 ? log(x) : log1p(-y), log_y = y < 0.5 ? log(y) : log1p(-x);
  const double low = fmin(a, b);
  if (low >= 16) {
    const double shift = EMOMC_FMA(x, b, -a * y);  // (a + b) (x - p)
    const double of_x = shift / a, of_y = -shift / b;
    const double first = of_x < -0.5 ? of_x - (log(x) - log(a / (a + b))) : x_less_log1p(of_x);
    const double second = of_y < -0.5 ? of_y - (log(y) - log(b / (a + b))) : x_less_log1p(of_y);
    return EMOMC_FMA(-a, first, -b * second) + 0.5 * (log(low) - log1p(low / fmax(a, b))) - kHalfLogTwoPi -
           (stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b));
  }
  if (a + b < 32) return EMOMC_FMA(a, log_x, b * log_y) - lbeta(a, b);
  // Here only one of a and b is large: Gamma(a + b) / Gamma(b) is b^a times a factor near 1 for the larger b.
  const double high = fmax(a, b);
  const double ratio =
      EMOMC_FMA(low + high - 0.5, log1p(low / high), stirling_rest_difference(high, low) - low);
  const double of_low = low < 0.5 ? log_gamma_near_one(low) - log(low) : lgamma(low);
  const double small = a < b ? x : y, log_small = a < b ? log_x : log_y, log_large = a < b ? log_y : log_x;
  const double product = small * high;
  const double log_product = product > 1e-290 && product < 1e290 ? log(product) : log_small + log(high);
  return EMOMC_FMA(low, log_product, high * log_large) + ratio - of_low;
}

/// Returns log of I B / (x^a y^b), by the even part of the continued fraction DLMF 8.17.22 and Lentz's
/// method. The form is that of Didonato and Morris (1992, "Significant digit computation of the incomplete
/// beta function ratios", section 2), which keeps the digits of y and of a - (a + b) x if x is near 1.
EMOMC_OUTLINE double log_beta_fraction(double a, double b, double x, double y) {
  const double slope = EMOMC_FMA(a, y, -b * x);  // a - (a + b) x
  double d = (a + 1.0) / (a * (slope + 1.0)), c = 1e300, value = d;
  EMOMC_ROLLED
  for (int n = 1; n < 1000; ++n) {
    const double middle = a + (2 * n - 1);
    const double part = n * (b - n) * x / middle;
    const double numerator = (a + (n - 1)) / middle * (a + b + (n - 1)) * part * x;
    const double denominator = n + part + (a + n) / (middle + 2.0) * (slope + 1.0 + n * (1.0 + y));
    d = 1.0 / EMOMC_FMA(numerator, d, denominator);
    c = denominator + numerator / c;
    const double factor = c * d;
    value *= factor;
    if (abs(factor - 1.0) < 2e-16) break;
  }
  return log(value);
}

/// Returns the logarithm of the integral over s >= 0 of exp(-(a + b) g(s)), for large a and b and x <= a / (a
/// + b), where t / (1 - t) = exp(-s) x / y. Gauss and Legendre's rule with 32 nodes is used up to the s at
/// which the exponent is -40. g is convex and written so that nothing cancels: g(s) = (p - x) s + v (|e| -
/// |s|) - f(v e), where v is the smaller of x and y, e = exp(-s) - 1 if v = x and exp(s) - 1 otherwise, p = a
/// / (a + b), f(m) = m - log(1 + m).
EMOMC_OUTLINE double log_beta_integral(double a, double b, double x, double y) {
  constexpr double kLargest = 40;
  const double both = a + b;
  const double slope = fmax(0.0, EMOMC_FMA(-x, b, a * y));  // (a + b) (p - x)
  const bool x_is_smaller = x <= y;
  const double v = x_is_smaller ? x : y;
  const auto exponent = [&](double s) {
    const double u = x_is_smaller ? -s : s;
    const double curved = expm1_less_x(u);
    return EMOMC_FMA(slope, s, both * (v * curved - x_less_log1p(v * (curved + u))));
  };
  double end = 2.0 * kLargest / (slope + EMOMC_SQRT(EMOMC_FMA(2.0 * kLargest * both * x, y, slope * slope)));
  for (int i = 0; i < 4; ++i) {  // Newton's method
    const double tilt = expm1(-end);
    // (a + b) (p - t), t = x exp(-s) / (1 + x (exp(-s) - 1)); x - t = -x y e / (1 + x e)
    const double steepness = slope - both * x * y * tilt / EMOMC_FMA(x, tilt, 1.0);
    end -= (exponent(end) - kLargest) / steepness;
  }
  return log(integral([&](double s) { return exp(-exponent(s)); }, 0.0, end));
}

/// Returns log I_x(a, b) for x at most near a / (a + b), with y = 1 - x.
EMOMC_OUTLINE double log_inc_beta_below(double a, double b, double x, double y) {
  constexpr double kLarge = 100;
  if (a >= kLarge && b >= kLarge) return log_beta_power(a, b, x, y) + log_beta_integral(a, b, x, y);
  if (a < 1 && x * b <= 1.5) {
    // The result x^a Gamma(a + b) / (Gamma(a + 1) Gamma(b)) (1 + a sum), DLMF 8.17.7, is accurate for a near
    // 0 too.
    double term = 1, sum = 0;
    EMOMC_ROLLED
    for (int n = 1; n < 500; ++n) {
      term *= (n - b) / n * x;
      sum += term / (a + n);
      if (abs(term) < 1e-18) break;
    }
    const double of_a = a < 0.5 ? log_gamma_near_one(a) : lgamma(a + 1.0);
    const double log_x = x < 0.5 ? log(x) : log1p(-y);
    return a * log_x + (log_gamma_difference_upwards(b, a) - of_a) + log1p(a * sum);
  }
  return log_beta_power(a, b, x, y) + log_beta_fraction(a, b, x, y);
}

/// Returns log I_x(a, b) for a, b > 0; y = 1 - x is passed too, which keeps the digits of an x near 1.
EMOMC_OUTLINE double log_inc_beta_of_pair(double a, double b, double x, double y) {
  if (!(a > 0 && b > 0 && a + b < kInfinity && x >= 0 && y >= 0 && x <= 1 && y <= 1)) return kNotANumber;
  if (x == 0) return -kInfinity;
  if (y == 0) return 0.0;
  // The limit is the mean if both are large, so that the integral's exponent falls from its start.
  const bool large = a >= 100 && b >= 100;
  const double limit = large ? a / (a + b) : (a + 1.0) / (a + b + 2.0);
  if (large ? b * x <= a * y : x <= limit) return fmin(0.0, log_inc_beta_below(a, b, x, y));
  return log1m_exp(fmin(0.0, log_inc_beta_below(b, a, y, x)));
}

/// Returns log I_x(a, b), the log probability below x of the beta distribution, for a, b > 0 and 0 <= x <= 1.
EMOMC_OUTLINE double log_inc_beta(double a, double b, double x) {
  return log_inc_beta_of_pair(a, b, x, 1.0 - x);
}

/// Returns log(1 - I_x(a, b)), accurate also if the difference is below the last digit of 1.
EMOMC_OUTLINE double log_inc_beta_complement(double a, double b, double x) {
  return log_inc_beta_of_pair(b, a, 1.0 - x, x);
}

/// Returns log P(T > t) for a Student's t variate T with `nu` degrees of freedom, accurate in both tails: P(T
/// > t) = I_x(nu/2, 1/2) / 2 with x = nu / (nu + t^2) for t >= 0 (DLMF 8.17.1 with t^2 / nu as the variable).
EMOMC_OUTLINE double log_student_t_tail(double t, double nu) {
  if (!(nu > 0 && nu < kInfinity) || is_nan(t)) return kNotANumber;
  const double r = abs(t) / EMOMC_SQRT(nu);
  double tail;
  if (r > 1e8) {  // I_x = x^a / (a B(a, 1/2)) up to terms of relative size x, at most 1e-16
    const double a = 0.5 * nu;
    tail = nu * (0.5 * log(nu) - log(abs(t))) - log(a) - lbeta(a, 0.5);
  } else {
    const double r2 = r * r;
    tail = log_inc_beta_of_pair(0.5 * nu, 0.5, 1.0 / (1.0 + r2), r2 / (1.0 + r2));
  }
  tail -= kLn2;
  return t < 0 ? log1p(-exp(tail)) : tail;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_INCOMPLETE_BETA_HPP
