// Finds a mode of a posterior density in unconstrained space, and the posterior mass near the mode.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace emomc {

/// Log density of u; minus infinity where the density is zero.
using LogDensityOfU = std::function<double(std::span<const double> u)>;

enum class Curvature {
  full,      ///< all second derivatives, with Newton steps to the mode
  diagonal,  ///< second derivatives along single coordinates, at the given point
};

/// Estimates the number of evaluations of the density by `laplace_at`, for budgets.
double laplace_evaluations(Curvature curvature, int dim);

struct LaplaceOptions {
  Curvature curvature = Curvature::full;
  /// Half-width of the finite differences in conditional sds. Large widths are insensitive to rounding, small
  /// widths to third and fourth derivatives.
  double difference = 0.4;
  /// Newton's method ends when the expected increase of the log density is smaller than this.
  double least_increase = 0.005;
};

struct Laplace {
  std::vector<double> u;   ///< the mode, or the given point with Curvature::diagonal
  double log_density = 0;  ///< log density at u
  double log_mass = 0;     ///< log_density + log |2 pi H^-1| / 2, where H is the negative Hessian
  /// [dim] posterior sd of each coordinate; conditional on the others with Curvature::diagonal
  std::vector<double> sd;
  /// [dim x dim] H^-1, symmetric; empty with Curvature::diagonal, or if is_maximum is false
  std::vector<double> covariance = {};
  /// Whether H is positive definite: its smallest eigenvalue, with coordinates in units of their conditional
  /// sds, is above 1e-3. If it is not, the density hardly changes along some direction and log_mass is a
  /// lower bound.
  bool is_maximum = false;
};

/// Computes Laplace's approximation (Tierney and Kadane 1986) by finite differences. Newton steps are damped
/// where the density is not log-concave.
Laplace laplace_at(const LogDensityOfU& log_density, std::span<const double> u,
                   const LaplaceOptions& options);

}  // namespace emomc
