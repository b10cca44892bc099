// A mode of a posterior density in unconstrained space, and how much mass is about it.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace emomc {

/// Log density of u; minus infinity where there is none.
using LogDensityOfU = std::function<double(std::span<const double> u)>;

enum class Curvature {
  full,      ///< all second derivatives, and Newton steps to the mode
  diagonal,  ///< those of single coordinates, at the point as it is
};

/// Evaluations of the density that `laplace_at` takes at most, roughly.
double laplace_evaluations(Curvature curvature, int dim);

struct Laplace {
  std::vector<double> u;   ///< the mode; with Curvature::diagonal the point given
  double log_density = 0;  ///< there
  double log_mass = 0;     ///< log_density + log |2 pi H^-1| / 2, H being the negative Hessian
  std::vector<double> sd;  ///< [dim] of each coordinate: given the others with Curvature::diagonal
};

/// Laplace's approximation (Tierney and Kadane 1986) by differences over about half a posterior sd, which are
/// insensitive to rounding; steps are Newton's, damped where the density is not concave.
Laplace laplace_at(const LogDensityOfU& log_density, std::span<const double> u, Curvature curvature);

}  // namespace emomc
