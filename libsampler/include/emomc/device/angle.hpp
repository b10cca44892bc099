// An angle as two coordinates u on the plane: the direction of u is the angle, and its length r has a density
// of its own that keeps it near 1, log r ~ normal(0, kSpread). A posterior at the angle pi thus has one mode
// instead of two ends.
#ifndef EMOMC_DEVICE_ANGLE_HPP
#define EMOMC_DEVICE_ANGLE_HPP

#include "emomc/device/math.hpp"
#include "emomc/device/pi.hpp"

namespace emomc::device {

/// Returns the arc tangent of z for |z| <= tan(pi / 8), by a polynomial whose largest relative error (3e-17)
/// is minimal.
EMOMC_INLINE double arc_tangent_near_0(double z) {
  constexpr double kSeries[] = {-0.019175404711104935, 0.039230447784793095, -0.050854078345894844,
                                0.05858140904866328,   -0.06664510525508936, 0.07692183125376892,
                                -0.0909090457530649,   0.11111111015187018,  -0.14285714284665682,
                                0.19999999999995516,   -0.3333333333333333};
  const double s = z * z;
  double p = kSeries[0];
  for (int i = 1; i < 11; ++i) p = EMOMC_FMA(p, s, kSeries[i]);
  return EMOMC_FMA(z * s, p, z);
}

/// Returns the angle of (x, y) in (-pi, pi], like atan2(y, x), with a relative error of 4e-16; 0 for (0, 0).
EMOMC_OUTLINE double angle_of(double x, double y) {
  const double ax = x < 0 ? -x : x, ay = y < 0 ? -y : y;
  const double most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
  if (!(most > 0)) return 0.0;
  const double ratio = least / most;
  double a = ratio > 0.41421356237309503 ? 0.25 * kPi + arc_tangent_near_0((least - most) / (least + most))
                                         : arc_tangent_near_0(ratio);
  if (ay > ax) a = 0.5 * kPi - a;
  if (x < 0) a = kPi - a;
  return y < 0 ? (a < kPi ? -a : kPi) : a;
}

/// A point in the plane: direction_of() returns the point of length 1 in the direction of an angle in [-pi,
/// pi].
struct Direction {
  double x, y;
};
EMOMC_INLINE Direction direction_of(double angle) {
  const double turn = (angle < 0 ? -angle : angle) * (0.5 / kPi);
  const SineAndCosine of = sincos_two_pi(turn);
  return {of.cosine, angle < 0 ? -of.sine : of.sine};
}

/// The sd of log r. If the angle has an sd of s, steps across the direction have length r s, so that the
/// spread must be small; but a broad posterior is a ring, which is the harder to walk along the narrower it
/// is.
inline constexpr double kSpread = 0.25;
inline constexpr double kLogSpreadConstant = 0.46735582791521796;  // -log(kSpread sqrt(2 pi))

/// Returns log |d (angle, log r) / d u|, which is log(1 / r^2), plus the log density of log r.
EMOMC_OUTLINE double angle_log_jacobian(double x, double y) {
  const double log_r = 0.5 * log(EMOMC_FMA(x, x, y * y));
  // A product is used so that the result is minus infinity at r = 0 and where r overflows.
  return kLogSpreadConstant - log_r * EMOMC_FMA(log_r, 0.5 / (kSpread * kSpread), 2.0);
}

/// Returns the derivatives with respect to x and y of the log density of the angle plus the log Jacobian;
/// `slope` is the derivative of the log density with respect to the angle.
EMOMC_OUTLINE Direction angle_gradient(double x, double y, double slope) {
  const double squares = EMOMC_FMA(x, x, y * y);
  const double along = -EMOMC_FMA(0.5 * log(squares), 1.0 / (kSpread * kSpread), 2.0);
  return {EMOMC_FMA(along, x, -slope * y) / squares, EMOMC_FMA(along, y, slope * x) / squares};
}

/// Holds -2 sin^2((angle - mean) / 2), which is cos(angle - mean) - 1 without loss of digits, and sin(angle -
/// mean).
struct FromMean {
  double cosine_less_1, sine;
};
EMOMC_OUTLINE FromMean from_mean(double angle, double mean) {
  const double d = angle - mean;
  double turns = (d < 0 ? -d : d) * (0.25 / kPi);  // half the difference, in turns
  turns = turns > 1.0 ? 1.0 : turns;
  const SineAndCosine half = sincos_two_pi(turns);
  const double sine = 2.0 * half.sine * half.cosine;
  return {-2.0 * half.sine * half.sine, d < 0 ? -sine : sine};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ANGLE_HPP
