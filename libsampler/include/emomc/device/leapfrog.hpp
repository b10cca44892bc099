// The leapfrog integrator of Hamiltonian dynamics, for a team.
//
// The metric is given by a factor L with inverse metric L L', the estimated covariance of the target. Momenta
// are stored as q = L' p, where p is the momentum that belongs to u. Thus q has the identity as its
// covariance, the kinetic energy is |q|^2 / 2, the velocity in the coordinates of q is q itself, and the
// metric occurs in two places only: a kick adds h L' g to q, and a drift adds h L q to u.
//
// A leapfrog is reversible and preserves volume for any function of position in place of the gradient g, so
// that a wrong g reduces acceptance but not correctness. The same holds for any factors of kicks and drifts.
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

/// The factors of a leapfrog: its two kicks add `half_kick` times the force, its drift adds `drift` times the
/// velocity.
struct LeapfrogFactors {
  double half_kick, drift;
};

/// The usual factors for a time h.
EMOMC_INLINE LeapfrogFactors plain_factors(double h) { return {0.5 * h, h}; }

/// The longest time of fitted_factors() that the adaptation uses. A rotation by a larger angle than a quarter
/// turn would bring a draw back towards the preceding one or its mirror image.
inline constexpr double kLongestFitted = 1.5707963267948966;

/// The factors with which a leapfrog is exact for a normal density whose covariance is that of the metric:
/// there the dynamics are a rotation of (L^-1 u, q) by the angle h, which is the product of the three shears
/// kick, drift and kick with tan(h/2), sin(h) and tan(h/2). For small h these are the usual factors. For a
/// force omega^2 times as large the energy error is of the order of |omega^2 - 1| instead of omega^2.
/// 0 <= h < pi.
EMOMC_INLINE LeapfrogFactors fitted_factors(double h) {
  const SineAndCosine half = sincos_two_pi(h * (0.25 / 3.141592653589793));
  return {half.sine / half.cosine, 2.0 * half.sine * half.cosine};
}

/// Returns element i of L' v, from column i of L, starting at the diagonal.
EMOMC_INLINE double transposed_row(const double* factor, int n, const double* v, int i) {
  const double* column = factor + static_cast<i64>(i) * n;
  double sum = 0;
  EMOMC_ROLLED
  for (int j = i; j < n; ++j) sum += column[j] * v[j];
  return sum;
}

/// Calls add(i, element i of L' v) for the elements that the member owns.
template <class Team, class Add>
EMOMC_HD void transposed_multiply(const Team& team, const double* factor, int n, const double* v, Add add) {
  EMOMC_ROLLED
  for (int i = team.rank(); i < n; i += team.size()) add(i, transposed_row(factor, n, v, i));
}
/// Computes several elements at once, since the additions of one element wait for each other.
template <class Add>
inline void transposed_multiply(const HostTeam&, const double* factor, int n, const double* v, Add add) {
  constexpr int kTogether = 4;
  int i = 0;
  for (; i + kTogether <= n; i += kTogether) {
    const double* columns = factor + static_cast<i64>(i) * n;
    double sums[kTogether] = {};
    for (int k = 0; k < kTogether; ++k)
      for (int j = k; j < kTogether; ++j) sums[k] += columns[k * n + i + j] * v[i + j];
    for (int j = i + kTogether; j < n; ++j)
      for (int k = 0; k < kTogether; ++k) sums[k] += columns[k * n + j] * v[j];
    for (int k = 0; k < kTogether; ++k) add(i + k, sums[k]);
  }
  for (; i < n; ++i) add(i, transposed_row(factor, n, v, i));
}

/// Adds h L' gradient to `momentum`. With a dense metric, a sync must lie between the writing of `gradient`
/// and this call.
template <class Team>
EMOMC_HD void kick(const Team& team, const Metric& metric, const double* gradient, double h,
                   double* momentum) {
  if (metric.shape == IncrementShape::dense)
    return transposed_multiply(team, metric.factor, metric.n, gradient,
                               [=](int i, double force) { momentum[i] += h * force; });
  EMOMC_ROLLED
  for (int i = team.rank(); i < metric.n; i += team.size())
    momentum[i] += h * (metric.shape == IncrementShape::diagonal ? metric.sd[i] * gradient[i] : gradient[i]);
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
  draw_normals(team, random, purpose, 0, all, momentum);
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_LEAPFROG_HPP
