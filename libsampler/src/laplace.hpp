// A mode of a posterior density in unconstrained space and the posterior mass near it.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace emomc {

/// Log density of u; minus infinity where the density is zero.
using LogDensityOfU = std::function<double(std::span<const double> u)>;

enum class Curvature {
  full,      ///< all second derivatives, and Newton steps to the mode
  diagonal,  ///< second derivatives by single coordinates, at the given point
};

/// Estimate of the number of evaluations of the density by `laplace_at`, for budgets.
double laplace_evaluations(Curvature curvature, int dim);

struct Laplace {
  std::vector<double> u;   ///< the mode; with Curvature::diagonal the given point
  double log_density = 0;  ///< at u
  double log_mass = 0;     ///< log_density + log |2 pi H^-1| / 2, H being the negative Hessian
  /// [dim] posterior sd of each coordinate; with Curvature::diagonal conditional on the others
  std::vector<double> sd;
};

/// Laplace's approximation (Tierney and Kadane 1986), with differences over about half a posterior sd, which
/// makes them insensitive to rounding. Newton steps are damped where the density is not log-concave.
Laplace laplace_at(const LogDensityOfU& log_density, std::span<const double> u, Curvature curvature);

}  // namespace emomc
