// Moves of all free parameters towards and about a distribution that was fitted in warm-up, between the
// component-wise walks of a step: Kamatani's mixed preconditioned Crank-Nicolson kernel (2018, "Efficient
// strategy for the Markov chain Monte Carlo in high-dimension with heavy-tailed target probability
// distribution"; its Gaussian form: Cotter, Roberts, Stuart and White 2013). Unlike that of a random walk,
// the length of such a move does not fall with the number of parameters; it depends on how well the
// distribution fits.
#ifndef EMOMC_DEVICE_CRANK_NICOLSON_HPP
#define EMOMC_DEVICE_CRANK_NICOLSON_HPP

#include "emomc/device/gaussian_walk.hpp"

namespace emomc::device {

/// Moves by the fit, a t distribution with nu degrees of freedom,
/// location m and scale matrix L L' over all n free parameters. With phi = L^-1 (u - m):
///   1 / lambda = (nu + |phi|^2) / chi,  chi ~ chi-square(nu + n): the t as a mixture of normals, given u
///   phi' = sqrt(1 - beta^2) phi + beta / sqrt(lambda) z,  z standard normal
/// This is reversible for the t, so that q(u | u') / q(u' | u) = t(u) / t(u'). beta, at most 1, is learnt;
/// with beta = 1 the move does not depend on the current place in the fit. Before there is a fit, the moves
/// are a random walk with increments of equal size.
struct MovesByFit : Phase {
  /// The component-wise moves are needed if the fit is poor; if it is good, they contribute little
  /// (docs/decisions/moves-by-a-fit.md).
  static constexpr Repeats repeats = Repeats::twice_the_blocks_before;
  static constexpr Learns learns = Learns::scale;
  static constexpr int num_vectors = 2;
  static constexpr bool moves_by_fit = true;
  static constexpr int most_parameters = 2000;  ///< the fitted covariance has this many rows at most

  /// Returns 4, or 5 if that makes nu + n even: chi is then -2 times the log of a product of uniform numbers.
  EMOMC_INLINE static int degrees_of_freedom(int n) { return 4 + (n & 1); }

  /// Draws L z, z itself as the second vector, and the extra numbers chi, |z|^2 and the step's number plus
  /// one, by which apply() recognises whether phi of a point is known.
  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    const int n = view.block.size;
    if (view.drawn) {
      EMOMC_ROLLED
      for (int i = team.rank(); i < n; i += team.size()) {
        innovation.main[i] = view.drawn[i];
        innovation.second[i] = view.drawn[n + i];
      }
      for (int i = team.rank(); i < kScalars; i += team.size()) innovation.extra[i] = view.drawn[2 * n + i];
      return;
    }
    double* z = innovation.second;
    draw_normals_of_move(team, random, n, view.block_index, z, 1);
    draw_scalars(team, random, n, view.block_index, z, 1, innovation.extra);
    if (is_fitted(view)) {
      lower_multiply(team, view.dense + view.block.dense_offset, n, z, innovation.main);
    } else {
      EMOMC_ROLLED
      for (int i = team.rank(); i < n; i += team.size()) innovation.main[i] = z[i];
    }
  }

  /// Number of innovations for which draw_ahead reads the factor together.
  static constexpr int kMovesTogether = 6;

  /// Writes the innovations of `count` moves, at most kMovesTogether, starting with that of `view`, to rows
  /// of `out` that are `ld` apart: main, second, extra, as innovate() computes them. `z`: [n x
  /// kMovesTogether] scratch near the team.
  template <class Team>
  EMOMC_HD static void draw_ahead(const Team& team, const RandomSource& random, const InnovationView& view,
                                  int count, double* z, double* out, int ld) {
    const int n = view.block.size;
    EMOMC_ROLLED
    for (int c = 0; c < count; ++c)
      draw_normals_of_move(team, random, n, view.block_index + c, z + c, kMovesTogether);
    EMOMC_ROLLED
    for (int i = team.rank(); i < n * kMovesTogether; i += team.size())
      if (i % kMovesTogether >= count) z[i] = 0;
    EMOMC_ROLLED
    for (int c = 0; c < count; ++c)
      draw_scalars(team, random, n, view.block_index + c, z + c, kMovesTogether, out + c * ld + 2 * n);
    EMOMC_ROLLED
    for (int i = team.rank(); i < n * kMovesTogether; i += team.size())
      if (i % kMovesTogether < count) {
        double* row = out + i % kMovesTogether * ld;
        row[n + i / kMovesTogether] = z[i];
        if (!is_fitted(view)) row[i / kMovesTogether] = z[i];
      }
    if (!is_fitted(view)) return;
    const double* factor = view.dense + view.block.dense_offset;
    // Each member takes a short row and a long one, as in lower_multiply_by.
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size()) {
      const int half = (n + 1) / 2, at = i < half ? i : n - 1 - (i - half);
      lower_row_of_columns<kMovesTogether>(factor, n, z, at, [=](int c, double sum) {
        if (c < count) out[c * ld + at] = sum;
      });
    }
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const InnovationView& adapted = view.adapted;
    const int n = adapted.layout.dim_unconstrained;
    double* known_at = view.candidate + whitened_point_size(n) - 1;
    const double *increment = view.innovation.main, *z = view.innovation.second;
    const double scale = exp(adapted.adapted[adapted.layout.scale(adapted.block_index)]);
    if (!is_fitted(adapted)) {
      EMOMC_ROLLED
      for (int i = team.rank(); i < n; i += team.size()) view.candidate[i] = view.u[i] + scale * increment[i];
      return 0.0;
    }
    const double* inverse = inverse_of(adapted);
    const double* mean = inverse + n * n;
    const double beta = scale < 1 ? scale : 1, rho = EMOMC_SQRT((1 - beta) * (1 + beta));
    const double nu = degrees_of_freedom(n);
    // After a walk, phi is computed and kept; after an accepted move, phi is known.
    const double* phi = view.u + n;
    double* next_phi = view.candidate + n;
    const bool is_known = view.u[whitened_point_size(n) - 1] == view.innovation.extra[2];
    if (!is_known) {
      lower_multiply_by(
          team, inverse, n, [=](int j) { return view.u[j] - mean[j]; }, next_phi);
      team.sync();
      phi = next_phi;
    }
    const TwoSums here = team.sum_two(n, [=](int i) { return TwoSums{phi[i] * phi[i], phi[i] * z[i]}; });
    const double length = beta * EMOMC_SQRT((nu + here.a) / view.innovation.extra[0]);
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size()) {
      view.candidate[i] = mean[i] + rho * (view.u[i] - mean[i]) + length * increment[i];
      const double at = phi[i];
      if (!is_known && view.kept) view.kept[i] = at;
      next_phi[i] = rho * at + length * z[i];
    }
    if (team.rank() == 0) {
      *known_at = view.innovation.extra[2];
      if (!is_known && view.kept) view.kept[n] = view.innovation.extra[2];
    }
    const double there =
        rho * rho * here.a + 2 * rho * length * here.b + length * length * view.innovation.extra[1];
    return 0.5 * (nu + n) * log((nu + there) / (nu + here.a));
  }

 private:
  static constexpr int kScalars = 3;  ///< length of an innovation's `extra`

  // Each block of a step has random numbers of its own, beyond those of the component-wise blocks.

  /// Draws the normal numbers of a move to elements of z that are `stride` apart.
  template <class Team>
  EMOMC_HD static void draw_normals_of_move(const Team& team, const RandomSource& random, int n,
                                            int block_index, double* z, int stride) {
    const int pairs = (n + 1) / 2;
    const u32 first = static_cast<u32>(block_index * pairs);
    EMOMC_ROLLED
    for (int pair = team.rank(); pair < pairs; pair += team.size()) {
      const NormalPair normals = random.normal_pair(Purpose::innovation, first + static_cast<u32>(pair));
      z[2 * pair * stride] = normals.even;
      if (2 * pair + 1 < n) z[(2 * pair + 1) * stride] = normals.odd;
    }
  }

  /// Draws the scalars of a move; called after draw_normals_of_move.
  template <class Team>
  EMOMC_HD static void draw_scalars(const Team& team, const RandomSource& random, int n, int block_index,
                                    const double* z, int stride, double* extra) {
    const int uniforms = (n + degrees_of_freedom(n)) / 2;
    const u32 first = static_cast<u32>(block_index * uniforms);
    const double half_chi = team.sum(
        uniforms, [=](int i) { return -log(random.uniform(Purpose::choice, first + static_cast<u32>(i))); });
    team.sync();
    const double squared_z = team.sum(n, [=](int i) { return z[i * stride] * z[i * stride]; });
    if (team.rank() == 0) {
      extra[0] = 2 * half_chi;
      extra[1] = squared_z;
      extra[2] = static_cast<double>(random.step) + 1;
    }
  }

  EMOMC_INLINE static const double* inverse_of(const InnovationView& view) {
    return view.dense + view.layout.num_dense;
  }
  EMOMC_INLINE static bool is_fitted(const InnovationView& view) {
    const int n = view.block.size;
    return inverse_of(view)[n * n + n] != 0;
  }
};

/// Component-wise random walks, followed by moves by the fit.
struct CrankNicolson {
  static constexpr const char* name = "crank_nicolson";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked_and_fitted;
  using Phases = Schedule<WalkByComponent, MovesByFit>;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_CRANK_NICOLSON_HPP
