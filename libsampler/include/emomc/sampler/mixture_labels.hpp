// Mixtures and the labels of their components. The likelihood does not change when components are renumbered,
// so chains may number them differently. A comparison between chains must therefore use quantities that do
// not depend on the numbering, or the components must be matched first.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/thread_pool.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc {

/// Location of a mixture's parameters in a draw set, as quantity indices; parameters are in the data's own
/// units.
struct MixtureNames {
  int num_components = 0, num_columns = 0;
  std::size_t weights = 0, means = 0;
  enum class Spread { scales, spherical, tied, full };
  Spread spread = Spread::scales;
  std::size_t scales = 0;  ///< index of the first scale or of the first covariance element
  /// Whether the model is two_gaussian, two Gaussians with one mean: `weights` is then the weight of the
  /// first, `means` the mean of both.
  bool is_pair = false;
  /// Whether the components are Gaussians. They are not if they have further parameters, such as the degrees
  /// of freedom of a Student t.
  bool is_gaussian = true;
};

/// Finds the mixture in the layout of `set`. Empty if the layout is not such a mixture or has fewer
/// components.
std::optional<MixtureNames> find_mixture(const DrawSet& set, int fewest_components = 2);

/// Returns the mixture's density in one column at each x, for one draw. `draw` counts over all chains, chain
/// after chain. The formulas are those of Gaussians: throws std::logic_error unless `mixture.is_gaussian`.
std::vector<double> column_densities(const DrawSet& set, const MixtureNames& mixture, std::size_t draw,
                                     std::size_t column, std::span<const double> x);
struct ColumnMoments {
  double mean, sd;
};
/// Returns mean and sd of the mixture in one column, for one draw; `draw` counts as in column_densities.
ColumnMoments column_moments(const DrawSet& set, const MixtureNames& mixture, std::size_t draw,
                             std::size_t column);

inline constexpr int kDensityPoints = 5;
/// Returns the points at which append_label_free evaluates the density of a column. `mean` and `sd` are the
/// means over draws of the mixture's mean and sd in that column. The points are multiples of a step, the
/// power of two nearest to the sd, from two steps below the multiple nearest to the mean to two steps above.
/// They are rounded in this way so that two runs of one posterior nearly always have the same points and
/// their densities can be compared. All points equal `mean` if the sd is 0 or not finite.
std::array<double, kDensityPoints> density_grid(double mean, double sd);

/// Appends quantities that do not depend on the labels: `sorted_weights[k]`, the largest first,
/// `mixture_mean[j]` and `mixture_sd[j]` of each column, and `mixture_density[j,i]`, the density of column j
/// at point i = 0 .. 4 of density_grid. For components that are not Gaussian, `mixture_location[j]` and
/// `mixture_scale[j]`, which are the same functions of locations and scales, replace mean and sd, and there
/// are no densities. Returns the index of the first appended quantity.
std::size_t append_label_free(DrawSet& set, const MixtureNames& mixture);

/// Computes label-free quantities of single points: sorted weights, and means and sds of the mixture's
/// columns, as in append_label_free.
class LabelFreePoint {
 public:
  /// `layout` describes parameters as files have them; size() is 0 if this is not a mixture of two or more
  /// components.
  explicit LabelFreePoint(const ParameterLayout& layout);
  std::size_t size() const { return size_; }
  /// Writes size() values for theta [layout.dim()].
  void compute(std::span<const double> theta, double* values);

 private:
  DrawSet point_;
  std::optional<MixtureNames> mixture_;
  std::size_t size_ = 0;
};

/// A numbering of the components of all draws: permutation[(c * num_draws + i) * K + k] is the component of
/// draw i of chain c that gets number k.
struct Relabelling {
  int num_components = 0;
  std::vector<int> permutation;
  bool changes_nothing() const;
};

/// Orders the components of each draw by the first column's mean, the smallest first; ties are broken by the
/// means of the next columns, then by scales, then by weights. The order therefore does not depend on the
/// labels of the draws.
Relabelling relabel_by_order(const DrawSet& set, const MixtureNames& mixture);

/// A numbering in which all draws agree as well as possible, and a measure of how distinct its components
/// are.
struct MatchedComponents {
  Relabelling relabelling;
  /// How interchangeable two numbers are: the share of draws in which their exchange costs at most a tenth of
  /// its cost in the median draw; the largest share over all pairs. It is 0.05 to 0.07 if two components
  /// overlap completely, 0.02 if the posterior of their difference has its mean 2 sds from 0, and less than
  /// 0.001 from 4 sds on.
  double overlap = 0;
  int first = -1, second = -1;  ///< the pair with the largest overlap; -1 if nothing was matched
  /// The quantity that increases with the number, or decreases if it is a weight, e.g. "means[k,0]"
  std::string numbered_by;
};

/// Matches the components of every draw to a reference that is estimated from all draws. Components that are
/// not Gaussian are matched by the Gaussians with their locations and scales. Draw i is regarded as the joint
/// density w_k N(x; m_k, S_k) of a row x and its component k. The method finds a permutation of each draw and
/// a reference W_k N(x; M_k, V_k) that minimise the sum over draws of the Kullback-Leibler divergence from
/// draw to reference. W, M and V are the moments of the components matched to number k, and component j of a
/// draw as number k costs w_j (-log W_k + log|V_k| / 2 + tr(V_k^-1 (S_j + (m_j - M_k)(m_j - M_k)')) / 2).
/// This is the decision-theoretic scheme of Stephens (2000, "Dealing with label switching in mixture models",
/// algorithm 4.1) with a loss that needs no integral over x. Permutations are found by the Hungarian method.
/// The scheme ends in a local minimum. It is therefore started on a share of the draws, both from orders by
/// columns, weights, scales and the first principal axis and from single draws; the best start is then
/// continued on all draws.
///
/// `set` must be in the order of relabel_by_order; then the result does not depend on the labels that draws
/// had. The numbers increase with the first column's means if the means over draws of successive numbers
/// differ by at least one sd of their difference. Otherwise they follow the first quantity with that property
/// among the other columns' means, the scales and the weights (the largest first), or the quantity that comes
/// closest to it. Another run thus gets the same numbers. Draws that are not finite keep their order. All
/// draws keep their order if a single round over them would take minutes (hundreds of components); `overlap`
/// is then 0. The result does not depend on the number of threads.
MatchedComponents match_components(const DrawSet& set, const MixtureNames& mixture, ThreadPool& threads);

/// Renumbers the components in every block with a component axis, and the two Gaussians of two_gaussian.
void apply(const Relabelling& relabelling, DrawSet& set);

/// Returns the column of each row in the assignment of K rows to K columns of least total cost; `cost` is K x
/// K, row-major. The Hungarian method (Kuhn 1955; Jonker and Volgenant 1987), O(K^3).
std::vector<int> least_cost_assignment(std::span<const double> cost, int K);

}  // namespace emomc
