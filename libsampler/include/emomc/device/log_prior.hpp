// Log prior density of a constrained parameter vector, by a team.
#ifndef EMOMC_DEVICE_LOG_PRIOR_HPP
#define EMOMC_DEVICE_LOG_PRIOR_HPP

#include "emomc/device/angle.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/normal_tail.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// Returns the log density of one element without its constant.
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
    case Density::von_mises:
#if !EMOMC_PLAIN_TABLE
      return e.b * from_mean(x, e.a).cosine_less_1;
#else
      break;
#endif
  }
  return 0.0;
}

/// Returns the standard deviation of a covariance's row: the norm of the row of the Cholesky factor.
EMOMC_INLINE double scale_of_row(const CovarianceRow& row, const double* theta) {
  double squares = 0;
  for (int j = 0; j <= row.row; ++j) squares = EMOMC_FMA(theta[row.begin + j], theta[row.begin + j], squares);
  return EMOMC_SQRT(squares);
}

EMOMC_INLINE double location_of(const ConditionalElement& e, const double* theta) {
  return e.from_location == kConstant ? e.location : theta[e.from_location];
}
EMOMC_INLINE double scale_of(const ConditionalElement& e, const double* theta) {
  return e.from_scale == kConstant ? e.scale : theta[e.from_scale];
}

/// Returns the log density of an element whose distribution has parameters among theta.
EMOMC_INLINE double conditional_log_density(const ParameterTable& table, const ConditionalElement& e,
                                            const double* theta) {
  const double x = e.is_row ? scale_of_row(table.covariance_rows[e.element], theta) : theta[e.element];
  const double location = location_of(e, theta), scale = scale_of(e, theta);
  const bool truncated = e.lower > -kInfinity;
  switch (e.density) {
    case ConditionalDensity::normal: {
      const double z = (x - location) / scale;
      const double mass = truncated ? log_normal_tail((e.lower - location) / scale) : 0.0;
      return e.constant - 0.5 * z * z - log(scale) - mass;
    }
    case ConditionalDensity::student_t: {
      const double z = (x - location) / scale;
      return e.constant - 0.5 * (e.df + 1) * log1p(z * z / e.df) - log(scale);
    }
    case ConditionalDensity::lognormal: {
      if (!(x > 0)) return -kInfinity;
      const double log_x = log(x);
      const double z = (log_x - location) / scale;
      const double mass = e.lower > 0 ? log_normal_tail((log(e.lower) - location) / scale) : 0.0;
      return e.constant - 0.5 * z * z - log_x - log(scale) - mass;
    }
    case ConditionalDensity::exponential:
      return log(scale) - scale * (x - e.lower);
  }
  return 0.0;
}

/// Returns the part of the log prior density whose distributions have parameters among theta.
template <class Team>
EMOMC_HD double conditional_log_prior(const Team& team, const ParameterTable& table, const double* theta) {
  return team.sum(table.num_conditionals,
                  [=](int i) { return conditional_log_density(table, table.conditionals[i], theta); });
}

/// Returns the log prior density in the units in which the prior is stated, including all constants.
template <class Team>
EMOMC_HD double log_prior(const Team& team, const ParameterTable& table, const double* theta) {
  double sum = table.log_prior_constant + team.sum(table.dim, [=](int i) {
    const Element& e = table.elements[i];
    return e.transform == Transform::covariance ? 0.0 : log_density_term(e, theta[i]);
  });
  if (table.num_covariance_rows > 0)
    sum += team.sum(table.num_covariance_rows, [=](int i) {
      const CovarianceRow& row = table.covariance_rows[i];
      const double scale = scale_of_row(row, theta);
      return log_density_term(row.scale, scale) +
             (row.lkj == 0 ? 0.0 : row.lkj * log(theta[row.begin + row.row] / scale));
    });
  return table.num_conditionals > 0 ? sum + conditional_log_prior(team, table, theta) : sum;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_LOG_PRIOR_HPP
