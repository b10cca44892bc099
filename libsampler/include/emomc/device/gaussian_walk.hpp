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

  /// The whole increment but for L of a dense shape.
  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                double* innovation) {
    const double scale = exp(view.adapted[view.layout.scale(view.block_index)]);
    const int begin = view.block.begin, end = begin + view.block.size;
    const auto put = [&](int i, double z) {
      const double sd = view.shape == IncrementShape::diagonal ? view.adapted[view.layout.sd(i)] : 1.0;
      innovation[i] = scale * (sd * z);
    };
    EMOMC_ROLLED
    for (int pair = begin / 2 + team.rank(); 2 * pair < end; pair += team.size()) {
      const NormalPair z = random.normal_pair(Purpose::innovation, static_cast<u32>(pair));
      if (2 * pair >= begin) put(2 * pair, z.even);
      if (2 * pair + 1 < end) put(2 * pair + 1, z.odd);
    }
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const ProposalBlock& block = view.adapted.block;
    const double* z = view.innovation + block.begin;
    const double* factor = view.adapted.dense + block.dense_offset;
    EMOMC_ROLLED
    for (int i = team.rank(); i < block.size; i += team.size()) {
      double step = z[i];
      if (view.adapted.shape == IncrementShape::dense) {
        step = 0;
        EMOMC_ROLLED
        for (int j = 0; j <= i; ++j) step = EMOMC_FMA(factor[j * block.size + i], z[j], step);
      }
      view.candidate[block.begin + i] = view.u[block.begin + i] + step;
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
