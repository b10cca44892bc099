// Log prior density of a constrained parameter vector, by a team.
#ifndef EMOMC_DEVICE_LOG_PRIOR_HPP
#define EMOMC_DEVICE_LOG_PRIOR_HPP

#include "emomc/device/math.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// Log density of one element without its constant.
EMOMC_INLINE double log_density_term(const Element& e, double x) {
  switch (e.density) {
    case Density::flat:
      return 0.0;
    case Density::normal: {
      const double z = (x - e.a) * e.b;
      return -0.5 * z * z;
    }
    case Density::student_t: {
      const double z = (x - e.a) * e.b;
      return -e.c * log1p(z * z);
    }
    case Density::lognormal: {
      if (!(x > 0)) return -kInfinity;
      const double l = log(x);
      const double z = (l - e.a) * e.b;
      return -0.5 * z * z - l;
    }
    case Density::gamma:
      return (e.a == 0 ? 0.0 : e.a * log(x)) - e.b * x;
    case Density::inverse_gamma:
      return x > 0 ? -e.a * log(x) - e.b / x : -kInfinity;
    case Density::uniform:
      return x >= e.a && x <= e.b ? 0.0 : -kInfinity;
    case Density::beta:
      return (e.a == 0 ? 0.0 : e.a * log(x)) + (e.b == 0 ? 0.0 : e.b * log1p(-x));
    case Density::power:
      return e.a == 0 ? 0.0 : e.a * log(x);
  }
  return 0.0;
}

/// Log prior density in the units the prior is stated in, all constants kept.
template <class Team>
EMOMC_HD double log_prior(const Team& team, const ParameterTable& table, const double* theta) {
  return table.log_prior_constant +
         team.sum(table.dim, [=](int i) { return log_density_term(table.elements[i], theta[i]); });
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_LOG_PRIOR_HPP
