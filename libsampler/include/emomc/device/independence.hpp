// Independence sampler (Tierney 1994): candidates from one distribution, a multivariate t with 4 degrees of
// freedom that has the mean and covariance of the warm-up's points. Until there is one, a random walk.
#ifndef EMOMC_DEVICE_INDEPENDENCE_HPP
#define EMOMC_DEVICE_INDEPENDENCE_HPP

#include "emomc/device/gaussian_walk.hpp"

namespace emomc::device {

struct Independence {
  static constexpr const char* name = "independence";
  static constexpr BlockPlan block_plan = BlockPlan::whole;
  static constexpr ShapeLearning learning = ShapeLearning::fitted;
  static constexpr bool adapts_scale = true;  // of the walk
  static constexpr double kDegrees = 4;

  /// z, and the square of what makes a t of it: 4 / chi-square(4), which is -2 log of two uniforms' product.
  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    draw_normals(team, random, Purpose::innovation, view.block, innovation.main);
    if (team.rank() == 0)
      innovation.extra[0] = kDegrees / (-2.0 * log(random.uniform(Purpose::choice, 0)) -
                                        2.0 * log(random.uniform(Purpose::choice, 1)));
  }

  /// -(4 + n) / 2 log(1 + r^2 / 4), the log density of the t but for a constant.
  EMOMC_INLINE static double log_density(double squared_distance, int n) {
    return -0.5 * (kDegrees + n) * log1p(squared_distance / kDegrees);
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const InnovationView& adapted = view.adapted;
    const int n = adapted.block.size;
    const double* factor = adapted.dense + adapted.block.dense_offset;
    const double* inverse = adapted.dense + adapted.layout.num_dense;
    const double* mean = inverse + n * n;
    const double* z = view.innovation.main;
    const bool is_fitted = mean[n] != 0;
    const double length = is_fitted ? EMOMC_SQRT(view.innovation.extra[0])
                                    : exp(adapted.adapted[adapted.layout.scale(adapted.block_index)]);
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size())
      view.candidate[i] = (is_fitted ? mean[i] : view.u[i]) + length * lower_product(factor, n, z, i);
    if (!is_fitted) return 0.0;
    team.sync();
    const TwoSums squares = team.sum_two(n, [=](int i) {
      double here = 0, there = 0;
      for (int j = 0; j <= i; ++j) {
        here = EMOMC_FMA(inverse[j * n + i], view.u[j] - mean[j], here);
        there = EMOMC_FMA(inverse[j * n + i], view.candidate[j] - mean[j], there);
      }
      return TwoSums{here * here, there * there};
    });
    return log_density(squares.a, n) - log_density(squares.b, n);
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_INDEPENDENCE_HPP
