// Independence sampler (Tierney 1994): candidates are drawn from one distribution, a multivariate t with 4
// degrees of freedom and the mean and covariance of the warm-up's points. Before this distribution is fitted,
// the sampler is a random walk.
#ifndef EMOMC_DEVICE_INDEPENDENCE_HPP
#define EMOMC_DEVICE_INDEPENDENCE_HPP

#include "emomc/device/gaussian_walk.hpp"

namespace emomc::device {

/// The adapted scale is that of the walk.
struct IndependentMove : Phase {
  static constexpr double kDegrees = 4;

  /// Draws z and the square of the factor that turns z into a t variate: 4 / chi-square(4), where
  /// chi-square(4) is -2 log of the product of two uniform variates.
  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    draw_normals(team, random, Purpose::innovation, first_number(view, num_pairs(view)), view.block,
                 innovation.main);
    const u32 first = first_number(view, kExtraInnovation);
    if (team.rank() == 0)
      innovation.extra[0] = kDegrees / (-2.0 * log(random.uniform(Purpose::choice, first)) -
                                        2.0 * log(random.uniform(Purpose::choice, first + 1)));
  }

  /// Returns -(4 + n) / 2 log(1 + r^2 / 4), the log density of the t up to a constant.
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
    double squared_distance = 0;  // squared distance of the current point
    if (is_fitted) {
      lower_multiply_by(
          team, inverse, n, [=](int j) { return view.u[j] - mean[j]; }, view.candidate);
      team.sync();
      squared_distance = team.sum(n, [=](int i) { return view.candidate[i] * view.candidate[i]; });
    }
    lower_multiply(team, factor, n, z, view.candidate);
    team.sync();
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size())
      view.candidate[i] = (is_fitted ? mean[i] : view.u[i]) + length * view.candidate[i];
    if (!is_fitted) return 0.0;
    const double squared_innovation = team.sum(n, [=](int i) { return z[i] * z[i]; });
    return log_density(squared_distance, n) - log_density(view.innovation.extra[0] * squared_innovation, n);
  }
};

struct Independence {
  static constexpr const char* name = "independence";
  static constexpr ShapeLearning learning = ShapeLearning::fitted;
  using Phases = Schedule<IndependentMove>;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_INDEPENDENCE_HPP
