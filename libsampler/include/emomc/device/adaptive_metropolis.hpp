// Adaptive Metropolis (Haario, Saksman and Tamminen 2001): increments have the covariance of the chains so
// far, which is learnt anew at each window of the warm-up; their scale is adapted by Robbins and Monro's
// method. Some increments are short steps along the axes (Roberts and Rosenthal 2009), so that a poor
// covariance cannot hold a chain.
#ifndef EMOMC_DEVICE_ADAPTIVE_METROPOLIS_HPP
#define EMOMC_DEVICE_ADAPTIVE_METROPOLIS_HPP

#include "emomc/device/gaussian_walk.hpp"

namespace emomc::device {

struct AdaptiveMove : Phase {
  static constexpr double kShareOfShort = 0.05, kShort = 0.1;

  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    draw_normals(team, random, Purpose::innovation, first_number(view, num_pairs(view)), view.block,
                 innovation.main);
    if (team.rank() == 0)
      innovation.extra[0] = random.uniform(Purpose::choice, first_number(view, kExtraInnovation));
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const InnovationView& adapted = view.adapted;
    const int n = adapted.block.size;
    const double scale = exp(adapted.adapted[adapted.layout.scale(adapted.block_index)]);
    const double* factor = adapted.dense + adapted.block.dense_offset;
    const double* z = view.innovation.main;
    const bool is_short = view.innovation.extra[0] < kShareOfShort;
    if (!is_short) {
      lower_multiply(team, factor, n, z, view.candidate);
      team.sync();
    }
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size())
      view.candidate[i] =
          view.u[i] + scale * (is_short ? kShort * (factor[i * n + i] * z[i]) : view.candidate[i]);
    return 0.0;  // a mixture of two symmetric moves, chosen independently of the state
  }
};

struct AdaptiveMetropolis {
  static constexpr const char* name = "adaptive_metropolis";
  static constexpr ShapeLearning learning = ShapeLearning::every_window;
  using Phases = Schedule<AdaptiveMove>;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ADAPTIVE_METROPOLIS_HPP
