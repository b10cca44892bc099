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
/// mean
/// + 2 sd over all draws. Returns the first of them.
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

/// By the first column's mean, the smallest first.
Relabelling relabel_by_order(const DrawSet& set, const MixtureNames& mixture);

/// Every draw's components matched to those of all draws (Stephens 2000, "Dealing with label switching in
/// mixture models", algorithm 2), so that the Kullback-Leibler divergence between classification
/// probabilities is least; by the Hungarian method. The points that are classified are drawn from the
/// posterior's mixtures: a run directory has no data. Numbers go by the first column's mean.
Relabelling relabel_by_classification(const DrawSet& set, const MixtureNames& mixture, ThreadPool& threads);

/// Renumbers the components of every block with a component axis.
void apply(const Relabelling& relabelling, DrawSet& set);

/// The assignment of K rows to K columns of least total cost [K x K, row-major]: the column of each row. The
/// Hungarian method (Kuhn 1955; Jonker and Volgenant 1987), O(K^3).
std::vector<int> least_cost_assignment(std::span<const double> cost, int K);

}  // namespace emomc
