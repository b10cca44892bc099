// Random walk Metropolis with Gaussian increments (Metropolis et al. 1953; scaling after Roberts, Gelman
// and Gilks 1997), over all free parameters at once or block by block.
#ifndef EMOMC_DEVICE_GAUSSIAN_WALK_HPP
#define EMOMC_DEVICE_GAUSSIAN_WALK_HPP

#include "emomc/device/proposal.hpp"

namespace emomc::device {

/// candidate = u + scale L z on the block, z standard normal; L is 1, diag(sd) or the Cholesky factor.
template <BlockPlan Plan>
struct GaussianWalk {
  static constexpr BlockPlan block_plan = Plan;

  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const ProposalBlock& block,
                                double* innovation) {
    const int end = block.begin + block.size;
    EMOMC_ROLLED
    for (int pair = block.begin / 2 + team.rank(); 2 * pair < end; pair += team.size()) {
      const NormalPair z = random.normal_pair(Purpose::innovation, static_cast<u32>(pair));
      if (2 * pair >= block.begin) innovation[2 * pair] = z.even;
      if (2 * pair + 1 < end) innovation[2 * pair + 1] = z.odd;
    }
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const double scale = exp(view.adapted[view.layout.scale(view.block_index)]);
    const double* z = view.innovation + view.block.begin;
    const int n = view.block.size;
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size()) {
      double step = z[i];
      if (view.shape == IncrementShape::diagonal) {
        step = view.adapted[view.layout.sd(view.block.begin + i)] * z[i];
      } else if (view.shape == IncrementShape::dense) {
        const double* factor = view.dense + view.block.dense_offset;
        step = 0;
        EMOMC_ROLLED
        for (int j = 0; j <= i; ++j) step = EMOMC_FMA(factor[j * n + i], z[j], step);
      }
      view.candidate[view.block.begin + i] = EMOMC_FMA(scale, step, view.u[view.block.begin + i]);
    }
    return 0.0;  // symmetric
  }
};

struct RandomWalk : GaussianWalk<BlockPlan::whole> {
  static constexpr const char* name = "random_walk";
};
struct ComponentWise : GaussianWalk<BlockPlan::by_component> {
  static constexpr const char* name = "component_wise";
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_GAUSSIAN_WALK_HPP
