// The gradient of the log density of u, by a team: the adjoint of constrain.hpp and log_prior.hpp. Every sum
// is either added by one member in an order given by the table, or is a team's sum, so that the bits do not
// depend on the team.
#ifndef EMOMC_DEVICE_GRADIENT_HPP
#define EMOMC_DEVICE_GRADIENT_HPP

#include "emomc/device/log_prior.hpp"
#include "emomc/device/math.hpp"
#include "emomc/device/ordered_values.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/device/prior_slopes.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// Arrays in the scratch memory of gradient_of_density().
struct GradientScratch {
  /// Derivatives of beta log L + log prior with respect to the elements of theta. For transforms with
  /// has_log_slope() they are with respect to the logarithms of the elements, and for is_interval() with
  /// respect to the logits, including the log Jacobian.
  double* elements;
  double* row_scales;  ///< derivative of conditional densities with respect to the log scale of each
                       ///< covariance row
  double* locations;   ///< derivative of each conditional density with respect to its location
  double* log_scales;  ///< derivative of each conditional density with respect to the logarithm of its scale
                       ///< or rate
};

/// Number of doubles that gradient_of_density() needs.
EMOMC_INLINE int gradient_scratch(const ParameterTable& table) {
  return table.dim + num_covariance_rows(table) + 2 * num_conditionals(table);
}

EMOMC_INLINE GradientScratch scratch_arrays(const ParameterTable& table, double* scratch) {
  double* rows = scratch + table.dim;
  double* locations = rows + num_covariance_rows(table);
  return {scratch, rows, locations, locations + num_conditionals(table)};
}

/// Whether the derivative with respect to the logarithm is stored, which is finite even if the value
/// underflows.
constexpr bool has_log_slope(Transform t) { return is_bounded_below(t) || t == Transform::simplex; }

/// Returns the derivative of beta log L, `likelihood_slope`, plus that of the element's own density, in the
/// units of GradientScratch; for an interval's element, without its own density.
EMOMC_INLINE double element_slope(const Element& e, const double* u, double x, double likelihood_slope) {
  switch (e.transform) {
    case Transform::fixed:
      return 0.0;
    case Transform::covariance:
    case Transform::interval:
    case Transform::ordered_interval:
      return likelihood_slope;
    case Transform::identity:
    case Transform::ordered:
    case Transform::angle:
      return likelihood_slope + slope_of(density_slope(e, x), x);
    case Transform::lower_bound:
      // The coordinate u is used for the logarithm because x may have underflowed.
      return likelihood_slope * x +
             log_slope_of(e.bound == 0 ? density_slope_at(e, x, u[e.source]) : density_slope(e, x), x);
    case Transform::ordered_above:
    case Transform::simplex:
      return likelihood_slope * x + log_slope_of(density_slope(e, x), x);
  }
  return 0.0;
}

/// Stores the derivatives of conditional density i; an element or a row's scale has at most one such density.
EMOMC_INLINE void place_conditional_slopes(const ParameterTable& table, int i, const double* theta,
                                           const GradientScratch& scratch) {
  const ConditionalElement e = table.conditionals[i];
  const double x = e.is_row ? scale_of_row(table.covariance_rows[e.element], theta) : theta[e.element];
  const ConditionalSlopes slopes = conditional_slopes(e, x, location_of(e, theta), scale_of(e, theta));
  scratch.locations[i] = slopes.location;
  scratch.log_scales[i] = slopes.log_scale;
  if (e.is_row)
    scratch.row_scales[e.element] = log_slope_of(slopes.element, x);
  else if (has_log_slope(table.elements[e.element].transform))
    scratch.elements[e.element] += log_slope_of(slopes.element, x);
  else
    scratch.elements[e.element] += slope_of(slopes.element, x);
}

/// Returns the sum of the derivatives of all conditional densities of which element i of theta is an
/// argument.
EMOMC_INLINE double argument_slope(const ParameterTable& table, int i, double x,
                                   const GradientScratch& scratch) {
  double location = 0, log_scale = 0;
  EMOMC_ROLLED
  for (int c = 0; c < num_conditionals(table); ++c) {
    if (table.conditionals[c].from_location == i) location += scratch.locations[c];
    if (table.conditionals[c].from_scale == i) log_scale += scratch.log_scales[c];
  }
  return has_log_slope(table.elements[i].transform) ? location * x + log_scale : location + log_scale / x;
}

/// Returns the derivative with respect to the logit y of an interval's element, including its own density and
/// the Jacobian.
EMOMC_INLINE double logit_slope(const Element& e, double y, double x, double slope) {
  const double t = exp(y < 0 ? y : -y);
  const double near = t / (1.0 + t), far = 1.0 / (1.0 + t);
  const double p = y < 0 ? near : far, rest = y < 0 ? far : near;
  const double width = e.width * (near * far);
  double own;
  if (e.density == Density::beta) {
    own = e.a * rest - e.b * p;
  } else {
    const Slope s = density_slope(e, x);
    own = s.plain * width + (s.by_x == 0 ? 0.0 : s.by_x * (e.bound == 0 ? rest : width / x));
  }
  return slope * width + own + (rest - p);
}

/// Whether element k of theta is in the same ordered list as element `e`, `places` places behind it.
EMOMC_INLINE bool is_behind(const ParameterTable& table, const Element& e, int k, int places) {
  if (k < 0 || k >= table.dim) return false;
  const Element& other = table.elements[k];
  return other.transform == e.transform && other.stride == e.stride && other.rank == e.rank + places &&
         other.source == e.source + places * e.stride;
}

/// Returns the gradient's element for the coordinate of element i of an ordered list; this coordinate moves
/// element i and all elements behind it.
EMOMC_INLINE double ordered_gradient(const ParameterTable& table, int i, const double* u, const double* theta,
                                     const double* slopes) {
  const Element e = table.elements[i];
  const bool is_first = e.rank == 0 && e.transform != Transform::ordered_above;
  const double step = is_first ? 1.0 : exp(u[e.source]);
  double sum = 0;
  int k = i;
  EMOMC_ROLLED
  for (int places = 0; is_behind(table, e, k, places); ++places, k += e.stride) {
    if (e.transform == Transform::ordered_above)
      sum += theta[k] == 0 ? slopes[k] : slopes[k] * (step / theta[k]);
    else
      sum += slopes[k];
  }
  if (is_first) return sum;
  return (e.transform == Transform::ordered_above ? sum : step * sum) + 1.0;
}

/// Returns the gradient's element for the coordinate of an element that is bounded below; `log_slope` is the
/// derivative with respect to the element's logarithm.
EMOMC_INLINE double lower_bound_gradient(const Element& e, double u, double x, double log_slope) {
  if (e.bound == 0) return log_slope + 1.0;
  // The difference x - bound is used if it is exact up to the rounding error of x.
  const double above = x > 2.0 * e.bound ? x - e.bound : exp(u);
  return log_slope * (above / x) + 1.0;
}

/// Writes the gradient's elements for the coordinates of a covariance's row. `slopes` are those of the row's
/// elements; `log_scale` is the derivative of a conditional density with respect to the logarithm of the
/// row's scale.
EMOMC_INLINE void write_row_gradient(const CovarianceRow& row, const double* u, const double* theta,
                                     const double* slopes, double log_scale, double* gradient) {
  const Element& s = row.scale;
  const bool is_free = s.transform != Transform::fixed;
  const double scale = is_free ? s.bound + exp(u[s.source]) : s.bound;
  double behind = slopes[row.begin + row.row] * theta[row.begin + row.row];
  if (row.correlations != kFixedCorrelations) {
    double* out = gradient + row.correlations;
    const double* y = u + row.correlations;
    // The first loop stores the remaining norm of the row before each correlation; the second one processes
    // the elements from the last one on.
    double rest = scale;
    EMOMC_ROLLED
    for (int j = 0; j < row.row; ++j) {
      out[j] = rest;
      const double t = exp(y[j] < 0 ? y[j] : -y[j]);
      rest *= 2.0 * t / (1.0 + t * t);
    }
    EMOMC_ROLLED
    for (int j = row.row - 1; j >= 0; --j) {
      const double t = exp(y[j] < 0 ? y[j] : -y[j]), square = t * t;
      const double sech = 2.0 * t / (1.0 + square);
      const double correlation =
          y[j] < 0 ? -((1.0 - square) / (1.0 + square)) : (1.0 - square) / (1.0 + square);
      const double own = slopes[row.begin + j];
      const double jacobian = (row.row - j + 1) + row.below;
      out[j] = own * (out[j] * (sech * sech)) - correlation * (behind + jacobian + row.lkj);
      behind = EMOMC_FMA(own, theta[row.begin + j], behind);
    }
  } else {
    EMOMC_ROLLED
    for (int j = row.row - 1; j >= 0; --j)
      behind = EMOMC_FMA(slopes[row.begin + j], theta[row.begin + j], behind);
  }
  if (!is_free) return;
  const Slope own = s.bound == 0 ? density_slope_at(s, scale, u[s.source]) : density_slope(s, scale);
  gradient[s.source] =
      lower_bound_gradient(s, u[s.source], scale, behind + log_slope_of(own, scale) + log_scale);
}

/// Writes the gradient's elements for the coordinates of a simplex block. With dy = slope + 1 - weight *
/// sum(slope + 1), the derivative with respect to the coordinates V u, whose sum is zero, they are V' dy.
template <class Team>
EMOMC_HD void write_simplex_gradient(const Team& team, const ParameterTable& table, const SimplexBlock& block,
                                     const double* theta, const double* slopes, double* gradient) {
  const double* w = theta + block.begin;
  const double* slope = slopes + block.begin;
  const double total = team.sum(block.size, [=](int k) { return slope[k] + 1.0; });
  EMOMC_ROLLED
  for (int j = 1 + team.rank(); j < block.size; j += team.size()) {
    double before = 0;
    EMOMC_ROLLED
    for (int k = 0; k < j; ++k) before += EMOMC_FMA(-w[k], total, slope[k] + 1.0);
    const double own = EMOMC_FMA(-w[j], total, slope[j] + 1.0);
    gradient[block.source + j - 1] = table.elements[block.begin + j].width * EMOMC_FMA(-j, own, before);
  }
}

/// Writes the gradient's element for the coordinate of an element of theta if that coordinate determines no
/// other element.
EMOMC_INLINE void write_own_gradient(const Element& e, const double* u, double theta, double slope,
                                     double* gradient) {
  switch (e.transform) {
    case Transform::fixed:
    case Transform::simplex:
    case Transform::covariance:
    case Transform::ordered:
    case Transform::ordered_above:
    case Transform::ordered_interval:
      return;
    case Transform::identity:
    case Transform::interval:
      gradient[e.source] = slope;
      return;
    case Transform::lower_bound:
      gradient[e.source] = lower_bound_gradient(e, u[e.source], theta, slope);
      return;
    case Transform::angle: {
      const Direction own = angle_gradient(u[e.source], u[e.source + 1], slope);
      gradient[e.source] = own.x;
      gradient[e.source + 1] = own.y;
      return;
    }
  }
}
/// Writes the gradient of beta log L + log prior + log |d theta / d u| with respect to u [dim_unconstrained].
/// `u`, `theta`: the point, with theta as constrain() writes it. `likelihood_gradient` [first_argument]: d
/// log L / d theta (for a covariance with respect to the elements of the Cholesky factor; for a simplex as if
/// all its elements were free), or null for the gradient without likelihood. `scratch`:
/// gradient_scratch(table) doubles that the team shares. All inputs must be visible to the whole team;
/// members may read other members' part of the gradient after a sync that follows. The bits of the result do
/// not depend on the team's size.
template <class Team>
EMOMC_HD void gradient_of_density(const Team& team, const ParameterTable& table, const double* u,
                                  const double* theta, const double* likelihood_gradient, double beta,
                                  double* scratch, double* gradient) {
  const GradientScratch arrays = scratch_arrays(table, scratch);
  double* slopes = arrays.elements;
  // Each member completes the elements that it owns.
  const auto complete = [&](const Element& e, int i, double slope) {
    if (is_interval(e.transform))
      slope = logit_slope(e, e.transform == Transform::interval ? u[e.source] : ordered_value(e, u), theta[i],
                          slope);
    slopes[i] = slope;
    write_own_gradient(e, u, theta[i], slope, gradient);
  };
  EMOMC_ROLLED
  for (int i = team.rank(); i < table.dim; i += team.size()) {
    const Element& e = table.elements[i];
    const bool has_likelihood = likelihood_gradient && i < table.first_argument;
    const double slope = element_slope(e, u, theta[i], has_likelihood ? beta * likelihood_gradient[i] : 0.0);
    if (num_conditionals(table) > 0)
      slopes[i] = slope;
    else
      complete(e, i, slope);
  }
  if (num_conditionals(table) > 0) {
    EMOMC_ROLLED
    for (int r = team.rank(); r < num_covariance_rows(table); r += team.size()) arrays.row_scales[r] = 0;
    team.sync();
    EMOMC_ROLLED
    for (int c = team.rank(); c < num_conditionals(table); c += team.size())
      place_conditional_slopes(table, c, theta, arrays);
    team.sync();
    EMOMC_ROLLED
    for (int i = team.rank(); i < table.dim; i += team.size())
      complete(
          table.elements[i], i,
          i >= table.first_argument ? slopes[i] + argument_slope(table, i, theta[i], arrays) : slopes[i]);
  }
  team.sync();
  EMOMC_ROLLED
  for (int r = team.rank(); r < num_covariance_rows(table); r += team.size())
    write_row_gradient(table.covariance_rows[r], u, theta, slopes,
                       num_conditionals(table) > 0 ? arrays.row_scales[r] : 0.0, gradient);
  for (int s = 0; s < table.num_simplices; ++s)
    write_simplex_gradient(team, table, table.simplices[s], theta, slopes, gradient);
  EMOMC_ROLLED
  for (int i = team.rank(); i < table.dim; i += team.size())
    if (const Element& e = table.elements[i]; is_ordered(e.transform))
      gradient[e.source] = ordered_gradient(table, i, u, theta, slopes);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GRADIENT_HPP
