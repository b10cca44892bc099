// Random walk with delayed rejection (Tierney and Mira 1999; Haario et al. 2006): if a candidate is rejected,
// a second, closer one is tried, with an acceptance probability for which both tries together leave the
// posterior invariant. The factor of that probability that depends on densities is computed by the step
// (acceptance.hpp, second_try_correction).
#ifndef EMOMC_DEVICE_DELAYED_REJECTION_HPP
#define EMOMC_DEVICE_DELAYED_REJECTION_HPP

#include "emomc/device/gaussian_walk.hpp"

namespace emomc::device {

/// A try. The increments of the second one are `Percent` % of those of the first.
template <bool kSecond, int Percent>
struct Try : Phase {
  static constexpr const char* label = kSecond ? "second" : "first";
  static constexpr When when = kSecond ? When::if_rejected : When::always;
  static constexpr Learns learns = kSecond ? Learns::nothing : Learns::scale_and_shape;
  static constexpr int num_vectors = kSecond ? 2 : 1;
  static constexpr double kSecondScale = Percent / 100.0;

  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    // The second try counts like the first, by a purpose of its own.
    InnovationView counted = view;
    counted.block.phase -= kSecond ? 1 : 0;
    draw_normals(team, random, kSecond ? Purpose::second_stage : Purpose::innovation,
                 first_number(counted, num_pairs(view)), view.block,
                 kSecond ? innovation.second : innovation.main);
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const InnovationView& adapted = view.adapted;
    const int n = adapted.block.size;
    // Both tries use the adapted scale of the first.
    const double scale = exp(adapted.adapted[adapted.layout.scale(adapted.block_index - (kSecond ? 1 : 0))]) *
                         (kSecond ? kSecondScale : 1.0);
    const double* factor = adapted.dense + adapted.block.dense_offset;
    const double* z = kSecond ? view.innovation.second : view.innovation.main;
    const bool dense = adapted.shape == IncrementShape::dense;
    if (dense) {
      lower_multiply(team, factor, n, z, view.candidate);
      team.sync();
    }
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size()) {
      const double step = dense ? view.candidate[i]
                          : adapted.shape == IncrementShape::diagonal
                              ? adapted.adapted[adapted.layout.sd(i)] * z[i]
                              : z[i];
      view.candidate[i] = view.u[i] + scale * step;
    }
    if constexpr (!kSecond) return 0.0;
    // The result is log q1(second, first) - log q1(u, first), in units of the first increments.
    const double* first = view.innovation.main;
    const TwoSums squares = team.sum_two(n, [=](int i) {
      const double back = first[i] - kSecondScale * z[i];
      return TwoSums{back * back, first[i] * first[i]};
    });
    return -0.5 * (squares.a - squares.b);
  }
};

template <int Percent>
struct DelayedRejectionBy {
  static constexpr const char* name = "delayed_rejection";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<Try<false, Percent>, Try<true, Percent>>;
};

struct DelayedRejection : DelayedRejectionBy<20> {};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_DELAYED_REJECTION_HPP
