// Moves of one half of the chains by the state of the other half, which does not move meanwhile. Such moves
// need no scale and no covariance.
#ifndef EMOMC_DEVICE_ENSEMBLE_MOVES_HPP
#define EMOMC_DEVICE_ENSEMBLE_MOVES_HPP

#include "emomc/device/gaussian_walk.hpp"

namespace emomc::device {

/// Chooses one of `count` indices by a uniform number.
EMOMC_INLINE int choose(double uniform, int count) {
  const int i = static_cast<int>(uniform * count);
  return i < count ? i : count - 1;
}

struct MoveOfHalves : Phase {
  static constexpr const char* label = "half";
  static constexpr Repeats repeats = Repeats::for_each_half;
  static constexpr Learns learns = Learns::nothing;
};

/// Differential evolution (ter Braak 2006): moves along the difference of two chains, by 2.38 / sqrt(2 n)
/// times the difference or, to jump between modes, by all of it. A share of the moves are snooker moves along
/// the line through a third chain (ter Braak and Vrugt 2008).
struct DifferentialMove : MoveOfHalves {
  static constexpr double kShareOfSnooker = 0.1, kShareOfJumps = 0.1, kScale = 2.38;
  static constexpr double kShortest = 1.2, kLongest = 2.2;  ///< range of the scale factor of a snooker move
  static constexpr double kNoise = 1e-5;  ///< sd of noise in every direction, so that differences need not
                                          ///< span the space

  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    draw_normals(team, random, Purpose::innovation, first_number(view, num_pairs(view)), view.block,
                 innovation.main);
    const u32 first = first_number(view, kExtraInnovation);
    EMOMC_ROLLED
    for (int i = team.rank(); i < 6; i += team.size())
      innovation.extra[i] = random.uniform(Purpose::choice, first + static_cast<u32>(i));
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const int n = view.adapted.block.size, count = view.others.count;
    const double* extra = view.innovation.extra;
    // Three different chains of the other half are chosen.
    const int a = choose(extra[0], count);
    int b = choose(extra[1], count - 1);
    if (b >= a) ++b;
    int c = choose(extra[2], count - 2);
    if (c >= (a < b ? a : b)) ++c;
    if (c >= (a < b ? b : a)) ++c;
    const double *first = view.others.point(a), *second = view.others.point(b), *axis = view.others.point(c);
    if (extra[3] >= kShareOfSnooker) {
      const double length = extra[4] < kShareOfJumps ? 1.0 : kScale / EMOMC_SQRT(2.0 * n);
      EMOMC_ROLLED
      for (int i = team.rank(); i < n; i += team.size())
        view.candidate[i] = view.u[i] + length * (first[i] - second[i]) + kNoise * view.innovation.main[i];
      return 0.0;  // symmetric: the reversed pair of chains is as likely
    }
    const TwoSums sums = team.sum_two(n, [=](int i) {
      const double along = view.u[i] - axis[i];
      return TwoSums{along * along, along * (first[i] - second[i])};
    });
    // Two chains at the same point define no line; the move then has length 0.
    const double length =
        sums.a > 0 ? (kShortest + (kLongest - kShortest) * extra[5]) * sums.b / sums.a : 0.0;
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size())
      view.candidate[i] = view.u[i] + length * (view.u[i] - axis[i]);
    // The candidate is 1 + length times as far from the chain `axis` as u.
    const double ratio = 1.0 + length;
    return (n - 1) * log(ratio < 0 ? -ratio : ratio);
  }
};

/// Stretch move (Goodman and Weare 2010): the candidate is on the line through another chain, at z times the
/// distance, where z has density ~ 1 / sqrt(z) on [1/2, 2].
struct StretchMove : MoveOfHalves {
  static constexpr double kLongest = 2;

  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    if (team.rank() > 1) return;
    const u32 first = first_number(view, kExtraInnovation);
    for (int i = team.rank(); i < 2; i += team.size())
      innovation.extra[i] = random.uniform(Purpose::choice, first + static_cast<u32>(i));
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const int n = view.adapted.block.size;
    const double* anchor = view.others.point(choose(view.innovation.extra[0], view.others.count));
    const double root = (kLongest - 1) * view.innovation.extra[1] + 1;
    const double z = root * root / kLongest;
    EMOMC_ROLLED
    for (int i = team.rank(); i < n; i += team.size())
      view.candidate[i] = anchor[i] + z * (view.u[i] - anchor[i]);
    return (n - 1) * log(z);
  }
};

struct DifferentialEvolution {
  static constexpr const char* name = "differential_evolution";
  static constexpr ShapeLearning learning = ShapeLearning::none;
  using Phases = Schedule<DifferentialMove>;
};
struct Stretch {
  static constexpr const char* name = "stretch";
  static constexpr ShapeLearning learning = ShapeLearning::none;
  using Phases = Schedule<StretchMove>;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ENSEMBLE_MOVES_HPP
