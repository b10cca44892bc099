// Derivatives of the densities of log_prior.hpp, each simplified by hand so that no digits cancel.
#ifndef EMOMC_DEVICE_PRIOR_SLOPES_HPP
#define EMOMC_DEVICE_PRIOR_SLOPES_HPP

#include "emomc/device/angle.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/normal_tail.hpp"
#include "emomc/device/parameter_table.hpp"

namespace emomc::device {

/// The derivative of a log density, `plain` + `by_x` / x. The second part grows without bound at 0.
struct Slope {
  double plain, by_x;
};

/// Returns the derivative with respect to x; log_slope_of() returns that with respect to log x.
EMOMC_INLINE double slope_of(const Slope& s, double x) {
  return s.by_x == 0 ? s.plain : s.plain + s.by_x / x;
}
EMOMC_INLINE double log_slope_of(const Slope& s, double x) { return EMOMC_FMA(s.plain, x, s.by_x); }

/// Returns z / (c + z^2), also if the square overflows.
EMOMC_INLINE double over_square(double z, double c) {
  return z * z > c ? 1.0 / (z + c / z) : z / (c + z * z);
}

/// Returns the derivative of log_density_term(e, x); `log_x` is read only for a lognormal density.
EMOMC_INLINE Slope density_slope_at(const Element& e, double x, double log_x) {
  switch (e.density) {
    case Density::flat:
    case Density::uniform:
      return {0, 0};
    case Density::normal:
      return {-(x - e.a) * e.b * e.b, 0};
    case Density::student_t:
      return {-2.0 * e.c * e.b * over_square((x - e.a) * e.b, 1.0), 0};
    case Density::lognormal:
      return {0, -(log_x - e.a) * e.b * e.b - 1.0};
    case Density::gamma:
      return {-e.b, e.a};
    case Density::inverse_gamma:
      return {0, e.b / x - e.a};
    case Density::beta:
      return {e.b == 0 ? 0.0 : -e.b / (1.0 - x), e.a};
    case Density::power:
      return {0, e.a};
    case Density::von_mises:
      return {-e.b * from_mean(x, e.a).sine, 0};
  }
  return {0, 0};
}
EMOMC_INLINE Slope density_slope(const Element& e, double x) {
  return density_slope_at(e, x, e.density == Density::lognormal ? log(x) : 0.0);
}

/// Derivatives of conditional_log_density() with respect to the element, the location, and the logarithm of
/// the scale or rate.
struct ConditionalSlopes {
  Slope element;
  double location, log_scale;
};

/// Derivatives of -z^2 / 2 - log scale - log_normal_tail(least) with respect to location and log scale, where
/// z is (x - location) / scale.
struct NormalSlopes {
  double location, log_scale;
};

/// Computes the derivatives. `least` is z at the lower bound, minus infinity if there is none, and `above` is
/// z - least.
EMOMC_INLINE NormalSlopes normal_slopes(double z, double least, double above, double scale) {
  if (least > 0) {
    // z and the ratio are close to each other, so their difference is computed from the excess of each above
    // `least`.
    const double excess = inverse_mills_excess(least);
    return {(above - excess) / scale, EMOMC_FMA(least, 2.0 * above - excess, EMOMC_FMA(above, above, -1.0))};
  }
  const double ratio = least > -kInfinity ? inverse_mills_ratio(least) : 0.0;
  return {(z - ratio) / scale, EMOMC_FMA(z, z, -1.0) - (ratio == 0 ? 0.0 : least * ratio)};
}

EMOMC_INLINE ConditionalSlopes conditional_slopes(const ConditionalElement& e, double x, double location,
                                                  double scale) {
  switch (e.density) {
    case ConditionalDensity::normal: {
      const double z = (x - location) / scale;
      const NormalSlopes s = normal_slopes(z, (e.lower - location) / scale, (x - e.lower) / scale, scale);
      return {{-z / scale, 0}, s.location, s.log_scale};
    }
    case ConditionalDensity::student_t: {
      const double z = (x - location) / scale;
      const double slope = (e.df + 1) * over_square(z, e.df);
      return {{-slope / scale, 0}, slope / scale, EMOMC_FMA(slope, z, -1.0)};
    }
    case ConditionalDensity::lognormal: {
      const double z = (log(x) - location) / scale;
      const bool is_truncated = e.lower > 0;
      const NormalSlopes s = normal_slopes(z, is_truncated ? (log(e.lower) - location) / scale : -kInfinity,
                                           is_truncated ? log_ratio(x, e.lower) / scale : 0.0, scale);
      return {{0, -z / scale - 1.0}, s.location, s.log_scale};
    }
    case ConditionalDensity::exponential:
      return {{-scale, 0}, 0, 1.0 - scale * (x - e.lower)};
  }
  return {{0, 0}, 0, 0};
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_PRIOR_SLOPES_HPP
