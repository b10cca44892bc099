// Random angles of the von Mises distribution.
#pragma once

#include <cmath>
#include <numbers>

namespace emomc {

/// Returns a von Mises variate in radians, with mean 0 and concentration `kappa` >= 0 (Best and Fisher 1979,
/// "Efficient simulation of the von Mises distribution"). The result is in [-pi, pi], except for very large
/// concentrations. `uniform` and `normal` draw a uniform variate in (0, 1) and a standard normal variate.
template <class Uniform, class Normal>
double draw_von_mises(double kappa, Uniform uniform, Normal normal) {
  constexpr double kAlmostUniform = 1e-8, kAlmostNormal = 1e6, kPi = std::numbers::pi;
  if (kappa < kAlmostUniform) return 2 * kPi * (uniform() - 0.5);
  if (kappa > kAlmostNormal) return normal() / std::sqrt(kappa);
  const double tau = 1 + std::sqrt(1 + 4 * kappa * kappa);
  const double rho = (tau - std::sqrt(2 * tau)) / (2 * kappa);
  const double r = (1 + rho * rho) / (2 * rho);
  for (;;) {
    const double z = std::cos(kPi * uniform());
    const double f = (1 + r * z) / (r + z), c = kappa * (r - f), u = uniform();
    if (c * (2 - c) > u || std::log(c / u) + 1 >= c) return uniform() < 0.5 ? -std::acos(f) : std::acos(f);
  }
}

}  // namespace emomc
