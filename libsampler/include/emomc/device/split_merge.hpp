// Moves between the modes of a mixture: two components are merged into one while a third is split into two,
// so that the number of components stays the same. The split is Richardson and Green's (1997, "On Bayesian
// analysis of mixtures with an unknown number of components", section 3.2), which preserves the weight, mean
// and variance of each column.
#ifndef EMOMC_DEVICE_SPLIT_MERGE_HPP
#define EMOMC_DEVICE_SPLIT_MERGE_HPP

#include "emomc/device/edge_of_support.hpp"
#include "emomc/device/ensemble_moves.hpp"
#include "emomc/device/gaussian_walk.hpp"
#include "emomc/device/unconstrain.hpp"

namespace emomc::device {

/// A split and merge. The numbers that split a component are those
/// that the merging of its parts would return, so that the move is its own inverse:
///   share of the first part's weight v1 ~ Beta(2, 2); in each column the means' distance v2, |v2| ~
///   Beta(2, 2), of either sign; share of the first part's variance v3 ~ Beta(2, 2);
///   w1 = w v1, mu1 = mu - v2 sigma sqrt(w2 / w1), sigma1^2 = v3 (1 - v2^2) sigma^2 w / w1,
///   w2 = w (1 - v1), mu2 = mu + v2 sigma sqrt(w1 / w2), sigma2^2 = (1 - v3) (1 - v2^2) sigma^2 w / w2,
///   with |d(w1, mu1, sigma1, w2, mu2, sigma2) / d(w, mu, sigma, v)| = w times, for each column,
///   sigma^2 / (2 v1 (1 - v1) sqrt(v3 (1 - v3))).
/// Weights are represented by their logarithms, so that two weights of 1e-400 can be merged like any others.
struct SplitAndMerge : Phase {
  static constexpr const char* label = "split_merge";
  static constexpr Repeats repeats = Repeats::for_each_component;
  static constexpr Ratio ratio = Ratio::in_theta;
  static constexpr Learns learns = Learns::nothing;
  static constexpr int fewest_components = 3;

  /// Returns the median of three uniform numbers.
  EMOMC_INLINE static double beta_two_two(const RandomSource& random, u32 index) {
    const double a = random.uniform(Purpose::choice, index), b = random.uniform(Purpose::choice, index + 1),
                 c = random.uniform(Purpose::choice, index + 2);
    const double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
  }

  template <class Team>
  EMOMC_HD static void innovate(const Team& team, const RandomSource& random, const InnovationView& view,
                                const Innovation& innovation) {
    // The numbers are three choices and v1, then v2 and v3 of column r. Each jump of a step has numbers of
    // its own.
    const u32 base = static_cast<u32>(view.block_index * (6 + 7 * view.mixture.num_columns));
    EMOMC_ROLLED
    for (int i = team.rank(); i < 4; i += team.size())
      innovation.extra[i] = i < 3 ? random.uniform(Purpose::choice, base + static_cast<u32>(i))
                                  : beta_two_two(random, base + 3);
    EMOMC_ROLLED
    for (int r = team.rank(); r < view.mixture.num_columns; r += team.size()) {
      const u32 first = base + 6 + 7 * static_cast<u32>(r);
      const double distance = beta_two_two(random, first);
      innovation.main[2 * r] = random.uniform(Purpose::choice, first + 3) < 0.5 ? -distance : distance;
      innovation.main[2 * r + 1] = beta_two_two(random, first + 4);
    }
  }

  template <class Team>
  EMOMC_HD static double apply(const Team& team, const ProposalView& view) {
    const ParameterTable& table = *view.table;
    const MixtureLayout mixture = view.adapted.mixture;
    const int d = mixture.num_columns, K = mixture.num_components;
    double* theta = view.theta;
    EMOMC_ROLLED
    for (int n = team.rank(); n < table.dim; n += team.size()) {
      const bool is_weight = n >= mixture.weights && n < mixture.weights + K;
      theta[n] = is_weight ? log_weight(table, table.elements[n], view.u, view.current_theta[n])
                           : view.current_theta[n];
    }
    team.sync();

    // Components i and j are merged into k; k is split into i and j.
    const double* extra = view.innovation.extra;
    const int i = choose(extra[0], K);
    int j = choose(extra[1], K - 1), k = choose(extra[2], K - 2);
    if (j >= i) ++j;
    if (k >= (i < j ? i : j)) ++k;
    if (k >= (i < j ? j : i)) ++k;
    double *log_weights = theta + mixture.weights, *means = theta + mixture.means,
           *scales = theta + mixture.scales;
    const double split = log_weights[k];
    const bool first_is_more = log_weights[i] > log_weights[j];
    const double more = first_is_more ? log_weights[i] : log_weights[j],
                 less = first_is_more ? log_weights[j] : log_weights[i];
    const double merged = more + log1p(exp(less - more));
    const double share = extra[3], log_merged_share = log_weights[i] - merged,
                 log_merged_rest = log_weights[j] - merged;
    const double merged_share = exp(log_merged_share), merged_rest = exp(log_merged_rest);
    double log_ratio =
        (split - merged) - (d + 1) * (log(share * (1 - share)) - log_merged_share - log_merged_rest);
    const double* innovation = view.innovation.main;
    log_ratio += team.sum(d, [=](int r) {
      double *mi = means + i * d + r, *mj = means + j * d + r, *mk = means + k * d + r;
      double *si = scales + i * d + r, *sj = scales + j * d + r, *sk = scales + k * d + r;
      const double v1 = share, v2 = innovation[2 * r], v3 = innovation[2 * r + 1];
      const double u1 = merged_share, rest = merged_rest, gap = *mj - *mi, mean = *mi + rest * gap;
      const double within = u1 * *si * *si + rest * *sj * *sj;
      const double scale = EMOMC_SQRT(within + u1 * rest * gap * gap);
      const double u2 = EMOMC_SQRT(u1 * rest) * (gap < 0 ? -gap : gap) / scale, u3 = u1 * *si * *si / within;
      const double odds = EMOMC_SQRT(v1 / (1 - v1)), left = *sk * EMOMC_SQRT(1 - v2 * v2);
      const double log_scales = 2 * log(*sk / scale);
      *mi = *mk - v2 * *sk / odds;
      *mj = *mk + v2 * *sk * odds;
      *si = left * EMOMC_SQRT(v3 / v1);
      *sj = left * EMOMC_SQRT((1 - v3) / (1 - v1));
      *mk = mean;
      *sk = scale;
      const double distance = v2 < 0 ? -v2 : v2;
      return log_scales + log(u2 * (1 - u2) / (distance * (1 - distance))) +
             1.5 * log(u3 * (1 - u3) / (v3 * (1 - v3)));
    });
    team.sync();
    if (team.rank() == 0) {
      log_weights[i] = split + log(share);
      log_weights[j] = split + log(1 - share);
      log_weights[k] = merged;
      if (mixture.order != kUnordered) sort_components(mixture, theta);
    }
    team.sync();
    if (!unconstrain(team, table, theta, view.candidate)) {
      EMOMC_ROLLED
      for (int n = team.rank(); n < table.dim_unconstrained; n += team.size()) view.candidate[n] = view.u[n];
      return -kInfinity;
    }
    return log_ratio;
  }

 private:
  /// Sorts the components by the coordinate by which the prior orders them.
  EMOMC_INLINE static void sort_components(const MixtureLayout& mixture, double* theta) {
    const int d = mixture.num_columns;
    const auto swap = [theta](int a, int b) {
      const double x = theta[a];
      theta[a] = theta[b];
      theta[b] = x;
    };
    EMOMC_ROLLED
    for (int k = 1; k < mixture.num_components; ++k) {
      EMOMC_ROLLED
      for (int at = k; at > 0 && theta[mixture.order + at * d] < theta[mixture.order + (at - 1) * d]; --at) {
        swap(mixture.weights + at, mixture.weights + at - 1);
        EMOMC_ROLLED
        for (int r = 0; r < d; ++r) {
          swap(mixture.means + at * d + r, mixture.means + (at - 1) * d + r);
          swap(mixture.scales + at * d + r, mixture.scales + (at - 1) * d + r);
        }
      }
    }
  }

  /// Computes u of free weights, which theta has as logarithms, means and scales; returns whether they are
  /// inside their bounds.
  template <class Team>
  EMOMC_HD static bool unconstrain(const Team& team, const ParameterTable& table, const double* theta,
                                   double* u) {
    if (team.rank() == 0)
      for (int s = 0; s < table.num_simplices; ++s) {
        const SimplexBlock& block = table.simplices[s];
        if (block.begin == table.mixture.weights)
          unconstrain_simplex(
              block, [=](int k) { return theta[block.begin + k]; }, u);
      }
    const double outside = team.sum(table.dim, [=](int n) {
      const Element& e = table.elements[n];
      if (!has_own_coordinate(e.transform)) return 0.0;
      const double x = unconstrain_element(e, theta, n);
      u[e.source] = x;
      return is_nan(x) || x == -kInfinity || x == kInfinity ? 1.0 : 0.0;
    });
    return outside == 0;
  }
};

/// Component-wise random walks, followed by splits and merges.
struct SplitMerge {
  static constexpr const char* name = "split_merge";
  static constexpr ShapeLearning learning = ShapeLearning::as_asked;
  using Phases = Schedule<WalkByComponent, SplitAndMerge>;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_SPLIT_MERGE_HPP
