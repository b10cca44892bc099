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

struct LaplaceOptions {
  Curvature curvature = Curvature::full;
  /// Half-width of the finite differences in conditional sds. Large ones are insensitive to rounding, small
  /// ones to third and fourth derivatives.
  double difference = 0.4;
  /// Newton's method ends where the expected increase of the log density is smaller.
  double least_increase = 0.005;
};

struct Laplace {
  std::vector<double> u;   ///< the mode; with Curvature::diagonal the given point
  double log_density = 0;  ///< at u
  double log_mass = 0;     ///< log_density + log |2 pi H^-1| / 2, H being the negative Hessian
  /// [dim] posterior sd of each coordinate; with Curvature::diagonal conditional on the others
  std::vector<double> sd;
  /// [dim x dim] H^-1, symmetric; empty with Curvature::diagonal, or if is_maximum is false
  std::vector<double> covariance = {};
  /// Whether H is positive definite: its smallest eigenvalue, with coordinates in units of their conditional
  /// sds, is above 1e-3. Below, the density hardly changes along some direction and log_mass is a lower
  /// bound.
  bool is_maximum = false;
};

/// Laplace's approximation (Tierney and Kadane 1986) by finite differences. Newton steps are damped where the
/// density is not log-concave.
Laplace laplace_at(const LogDensityOfU& log_density, std::span<const double> u,
                   const LaplaceOptions& options);

}  // namespace emomc
