// Mixtures without their labels. A likelihood does not change when components are renumbered, so chains may
// number them differently; what is compared between chains must not depend on the numbers, or the numbers
// must be made alike first.
#pragma once

#include "emomc/core/thread_pool.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc {

/// Where a draw set has a Gaussian mixture's parameters, in the units of the files.
struct MixtureNames {
  int num_components = 0, num_columns = 0;
  std::size_t weights = 0, means = 0;
  enum class Spread { scales, spherical, tied, full };
  Spread spread = Spread::scales;
  std::size_t scales = 0;  ///< scales, or the first covariance
  /// Two Gaussians with one mean: `weights` is the share of the first, `means` the mean of both.
  bool is_pair = false;
};

/// Nothing where the layout is no such mixture, or has fewer components.
std::optional<MixtureNames> find_mixture(const DrawSet& set, int fewest_components = 2);

/// Of one draw (counted over all chains): the mixture's density in one column at each x, its mean and sd
/// there.
std::vector<double> column_densities(const DrawSet& set, const MixtureNames& mixture, std::size_t draw,
                                     std::size_t column, std::span<const double> x);
struct ColumnMoments {
  double mean, sd;
};
ColumnMoments column_moments(const DrawSet& set, const MixtureNames& mixture, std::size_t draw,
                             std::size_t column);

/// Appends what no renumbering changes: `sorted_weights[k]`, the largest first, `mixture_mean[j]` and
/// `mixture_sd[j]` of each column, and `mixture_density[j,i]` of each column at i = 0 .. 4, mean - 2 sd to
/// mean + 2 sd over all draws. Returns the first of them.
std::size_t append_label_free(DrawSet& set, const MixtureNames& mixture);

/// Of one point after the other: sorted weights, and means and sds of the mixture's columns, as
/// append_label_free has them.
class LabelFreePoint {
 public:
  /// Of parameters as files have them; size() is 0 where they are no mixture of two or more components.
  explicit LabelFreePoint(const ParameterLayout& layout);
  std::size_t size() const { return size_; }
  /// Writes size() values.
  void compute(std::span<const double> theta, double* values);

 private:
  DrawSet point_;
  std::optional<MixtureNames> mixture_;
  std::size_t size_ = 0;
};

/// permutation[(c * num_draws + i) * K + k] is the component of draw i of chain c that gets number k.
struct Relabelling {
  int num_components = 0;
  std::vector<int> permutation;
  bool changes_nothing() const;
};

/// By the first column's mean, the smallest first; where means are equal by the next column's, then by
/// scales, then by weights. So the order does not depend on the labels of the draws.
Relabelling relabel_by_order(const DrawSet& set, const MixtureNames& mixture);

/// A numbering in which all draws agree as well as they can, and how well that is.
struct MatchedComponents {
  Relabelling relabelling;
  /// How far two numbers cannot be told apart: the share of draws in which trading them costs less than a
  /// tenth of what it costs in the median draw. It is 0.05 to 0.07 where the two overlap completely, 0.02
  /// where the posterior of their difference has its mean 2 sds from 0, and less than 0.001 from 4 sds on. Of
  /// the pair with the largest share.
  double overlap = 0;
  int first = -1, second = -1;  ///< that pair
  std::string numbered_by;      ///< what increases, or of weights decreases, with the number: "means[k,0]"
};

/// Every draw's components are matched to those of all draws. A draw i is the joint density w_k N(x; m_k,
/// S_k) of a row x and its component k; sought are the permutation of each draw and Gaussians with weights,
/// W_k N(M_k, V_k), for which the sum over draws of the Kullback-Leibler divergence from draw to Gaussians is
/// least: W, M, V are the moments of the components matched to number k, and component j of a draw as number
/// k costs w_j (-log W_k + log|V_k| / 2 + tr(V_k^-1 (S_j + (m_j - M_k)(m_j - M_k)')) / 2). That is the
/// decision-theoretic scheme of Stephens (2000, "Dealing with label switching in mixture models",
/// algorithm 4.1) with a loss that needs no integral over x; permutations are found by the Hungarian method.
/// The scheme ends in a local minimum, so it is started from orders by columns, weights, scales and the first
/// principal axis and from single draws, on a share of the draws; the best is then followed on all draws.
///
/// `set` must be in the order of relabel_by_order; then nothing depends on the labels that draws had. Numbers
/// go by the first column's means, the smallest first, where their means over draws tell each number from the
/// next by at least a sd of their difference, otherwise by the first of the other columns' means, the scales
/// and the weights (the largest first) that does, or by that which comes nearest; so they are the same in
/// another run. Draws that are not finite stay in their order, and all draws do where even one
/// round over them would take minutes (hundreds of components; `overlap` is 0). Deterministic, whatever the
/// number of threads.
MatchedComponents match_components(const DrawSet& set, const MixtureNames& mixture, ThreadPool& threads);

/// Renumbers the components of every block with a component axis.
void apply(const Relabelling& relabelling, DrawSet& set);

/// The assignment of K rows to K columns of least total cost [K x K, row-major]: the column of each row. The
/// Hungarian method (Kuhn 1955; Jonker and Volgenant 1987), O(K^3).
std::vector<int> least_cost_assignment(std::span<const double> cost, int K);

}  // namespace emomc
