// The leapfrog integrator of Hamiltonian dynamics, for a team.
//
// The metric is given by a factor L with inverse metric L L', the estimated covariance of the target. Momenta
// are stored as q = L' p, where p is the momentum that belongs to u. Thus q has the identity as its
// covariance, the kinetic energy is |q|^2 / 2, the velocity in the coordinates of q is q itself, and the
// metric occurs in two places only: a kick adds h L' g to q, and a drift adds h L q to u.
//
// A leapfrog is reversible and preserves volume for any function of position in place of the gradient g, so
// that a wrong g reduces acceptance but not correctness.
#ifndef EMOMC_DEVICE_LEAPFROG_HPP
#define EMOMC_DEVICE_LEAPFROG_HPP

#include "emomc/device/gaussian_walk.hpp"

namespace emomc::device {

/// The factor L: 1, diag(sd), or a lower Cholesky factor.
struct Metric {
  IncrementShape shape;
  int n;
  const double* sd;      ///< [n]
  const double* factor;  ///< lower Cholesky factor, n x n, column-major; with IncrementShape::dense
};

/// Returns element i of L' v, from column i of L, starting at the diagonal.
EMOMC_INLINE double transposed_row(const double* factor, int n, const double* v, int i) {
  const double* column = factor + static_cast<i64>(i) * n;
  double sum = 0;
  EMOMC_ROLLED
  for (int j = i; j < n; ++j) sum += column[j] * v[j];
  return sum;
}

/// Adds h L' gradient to `momentum`. With a dense metric, a sync must lie between the writing of `gradient`
/// and this call.
template <class Team>
EMOMC_HD void kick(const Team& team, const Metric& metric, const double* gradient, double h,
                   double* momentum) {
  EMOMC_ROLLED
  for (int i = team.rank(); i < metric.n; i += team.size()) {
    const double force = metric.shape == IncrementShape::dense
                             ? transposed_row(metric.factor, metric.n, gradient, i)
                         : metric.shape == IncrementShape::diagonal ? metric.sd[i] * gradient[i]
                                                                    : gradient[i];
    momentum[i] += h * force;
  }
}

/// Adds h L momentum to `u`; `work` [n] is scratch. A sync must follow before other members read u.
template <class Team>
EMOMC_HD void drift(const Team& team, const Metric& metric, const double* momentum, double h, double* u,
                    double* work) {
  const bool dense = metric.shape == IncrementShape::dense;
  if (dense) {
    team.sync();
    lower_multiply(team, metric.factor, metric.n, momentum, work);
    team.sync();
  }
  EMOMC_ROLLED
  for (int i = team.rank(); i < metric.n; i += team.size()) {
    const double velocity = dense                                      ? work[i]
                            : metric.shape == IncrementShape::diagonal ? metric.sd[i] * momentum[i]
                                                                       : momentum[i];
    u[i] += h * velocity;
  }
}

/// Returns the kinetic energy of a momentum q = L' p.
template <class Team>
EMOMC_HD double kinetic_energy(const Team& team, int n, const double* momentum) {
  return 0.5 * team.sum(n, [=](int i) { return momentum[i] * momentum[i]; });
}

/// Draws a momentum q = L' p: n standard normal numbers. A sync must follow before other members read it.
template <class Team>
EMOMC_HD void draw_momentum(const Team& team, const RandomSource& random, Purpose purpose, int n,
                            double* momentum) {
  ProposalBlock all{};
  all.size = n;
  draw_normals(team, random, purpose, all, momentum);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_LEAPFROG_HPP
