// From unconstrained u to constrained theta, with the log Jacobian, by a team.
#ifndef EMOMC_DEVICE_CONSTRAIN_HPP
#define EMOMC_DEVICE_CONSTRAIN_HPP

#include "emomc/device/math.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/device/team.hpp"

namespace emomc::device {

/// Coordinate k of V u for the Helmert basis of `size` elements: column j = 1 .. size-1 has
/// 1/sqrt(j(j+1)) in places 0 .. j-1 and -j/sqrt(j(j+1)) in place j.
EMOMC_HD inline double helmert_coordinate(const double* u, int size, int k) {
  double y = 0;
  for (int j = size - 1; j > k; --j) y += u[j - 1] / EMOMC_SQRT(j * (j + 1.0));
  if (k > 0) y -= k * u[k - 1] / EMOMC_SQRT(k * (k + 1.0));
  return y;
}

/// Where a point that shares most of its elements with `u` is known already; null: nowhere. Saves the
/// exponentials of what did not change; the result has the same bits.
struct KnownPoint {
  const double* u = nullptr;
  const double* theta = nullptr;
};

/// Writes theta[table.dim] and returns log |d theta / d u|. The Jacobian of a simplex block counts its
/// first size - 1 elements as functions of u: log J = sum_k log theta_k + log(size) / 2.
template <class Team>
EMOMC_HD double constrain(const Team& team, const ParameterTable& table, const double* u, double* theta,
                          KnownPoint known = {}) {
  // Simplex blocks first hold V u, which the passes below turn into weights.
  for (int s = 0; s < table.num_simplices; ++s) {
    const SimplexBlock block = table.simplices[s];
    for (int k = team.rank(); k < block.size; k += team.size())
      theta[block.begin + k] = helmert_coordinate(u + block.source, block.size, k);
  }
  team.sync();
  double log_jacobian = 0;
  for (int s = 0; s < table.num_simplices; ++s) {
    const SimplexBlock block = table.simplices[s];
    double* y = theta + block.begin;
    const double top = team.max(
        block.size, [=](int k) { return y[k]; }, -kInfinity);
    const double total = team.sum(block.size, [=](int k) { return exp(y[k] - top); });
    const double log_total = log(total);
    log_jacobian += team.sum(block.size, [=](int k) { return (y[k] - top) - log_total; }) +
                    0.5 * log(static_cast<double>(block.size));
    for (int k = team.rank(); k < block.size; k += team.size()) y[k] = exp(y[k] - top) / total;
  }
  log_jacobian += team.sum(table.dim, [=](int i) {
    const Element e = table.elements[i];
    switch (e.transform) {
      case Transform::fixed:
        theta[i] = e.bound;
        return 0.0;
      case Transform::identity:
        theta[i] = u[e.source];
        return 0.0;
      case Transform::lower_bound: {
        const double x = u[e.source];
        theta[i] = known.u && known.u[e.source] == x ? known.theta[i] : e.bound + exp(x);
        return x;
      }
      case Transform::interval: {
        const double x = u[e.source];
        const double t = exp(x < 0 ? x : -x);  // in (0, 1]: no overflow on either side
        theta[i] = e.bound + e.width * ((x < 0 ? t : 1.0) / (1.0 + t));
        return log(e.width) + (x < 0 ? x : -x) - 2.0 * log1p(t);
      }
      case Transform::ordered: {
        double x = u[e.source - e.rank * e.stride];
        for (int r = 1; r <= e.rank; ++r) x += exp(u[e.source - (e.rank - r) * e.stride]);
        theta[i] = x;
        return e.rank > 0 ? u[e.source] : 0.0;
      }
      case Transform::simplex:
        return 0.0;
    }
    return 0.0;
  });
  team.sync();
  return log_jacobian;
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CONSTRAIN_HPP
