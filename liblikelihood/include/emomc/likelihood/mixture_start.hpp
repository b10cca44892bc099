// Finds starting points of Gaussian mixtures from the data, by many short EM fits from partitions of several
// kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// The largest number of rows that are partitioned; they are evenly spaced.
inline constexpr std::size_t kRowsOfStarts = 8000;

/// How a short fit's initial partition of the rows was made.
enum class Seeding {
  kmeans,  ///< k-means++ seeds (Arthur and Vassilvitskii 2007), then Lloyd's algorithm
  /// Groups of the rows that are nearest to each of some random rows, as random_from_data of scikit-learn.
  random_rows,
  random_splits,  ///< repeated splits of a group into two by a random hyperplane
  local_groups,   ///< small groups of neighbouring rows, for narrow components next to wide ones
  given,          ///< no partition: a point that the caller gave
};

/// One short fit; parameters are in the layout of the model and in the units of the rows.
struct ShortFit {
  Seeding seeding;
  std::vector<double> origin;  ///< starting point of EM: the moments of the groups, or the caller's point
  std::vector<double> theta;   ///< parameters after EM
  double log_likelihood = 0;   ///< log likelihood of MixturePool::rows() at theta
};

/// Starting points that are the moments of random partitions of the rows. At most 8,000 evenly spaced rows
/// are used.
class MixturePartitions {
 public:
  /// `model` is as for MixturePool. Throws InputError in the same cases.
  MixturePartitions(const DataSet& data, const ModelSpec& model);
  ~MixturePartitions();
  MixturePartitions(const MixturePartitions&) = delete;
  MixturePartitions& operator=(const MixturePartitions&) = delete;
  /// The model whose layout the starting points have: `model`, or for a mixture without EM model_of_starts().
  const ModelSpec& fitted() const;
  /// The rows that are used.
  const DataSet& rows() const;
  /// A starting point in the layout of model_layout(fitted()) and in the units of the rows: the moments of a
  /// partition, which is a function of (seeding, seed, index). `seeding` is not Seeding::given.
  std::vector<double> start(Seeding seeding, std::uint64_t seed, std::uint32_t index) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

struct PoolOptions {
  std::uint64_t seed = 0;
  int num_threads = 0;  ///< 0 uses all processors
  /// [columns] lower bounds of the standard deviations, as in FitOptions; empty: 1e-6 of each column's sd.
  std::vector<double> smallest_scale = {};
  std::vector<std::vector<double>> given = {};  ///< the caller's starting points, in the model's layout
  /// For a model without EM: values of the parameters that follow those of the mixture that is fitted in
  /// place of the model. Every fit gets these values, except for fits from `given` points, which keep their
  /// own.
  std::vector<double> further = {};
};

/// Short fits by EM (Dempster, Laird and Rubin 1977). Each has 30 to 300 rounds, chosen so that fits of all
/// sizes cost about the same, or fewer where EM converges. The result is a function of (data, model, seed,
/// smallest_scale, given). At most 8,000 evenly spaced rows are used, and 100,000 by `refined`.
class MixturePool {
 public:
  static constexpr int kKmeans = 24, kRandomRows = 16, kRandomSplits = 8, kLocalGroups = 16;
  /// Number of fits besides those from `given` points.
  static constexpr int kSeeded = kKmeans + kRandomRows + kRandomSplits + kLocalGroups;

  /// `model` is a mixture with blocks of weights, of means and of scales or covariances, or a pair with one
  /// mean (is_pair). For a pair, the distances from the median are partitioned, and the first component is
  /// the narrower one. In place of a mixture without EM, model_of_starts() is fitted, and the log likelihoods
  /// are those of that model. Throws InputError where there is no such model. `data` must outlive the object.
  MixturePool(const DataSet& data, const ModelSpec& model, PoolOptions options);

  /// The fits with a finite log likelihood, in the order of the seedings.
  const std::vector<ShortFit>& fits() const { return fits_; }
  /// Index of the fit with the highest log likelihood; of several that are equal up to rounding, the first.
  /// Throws InputError where there is no fit.
  std::size_t best() const;
  /// The rows that the fits used.
  const DataSet& rows() const { return partitions_->rows(); }

  /// The fit after at most 30 more rounds on at most 100,000 rows, with a log likelihood that is scaled to
  /// all rows; `fit` itself where rows() are all rows. Returns nullopt where the density of the larger sample
  /// at `fit` is not finite, since the log likelihood of rows() cannot be compared with one of all rows, and
  /// where another model is fitted in place of the pool's.
  std::optional<ShortFit> refined(const ShortFit& fit) const;

 private:
  const DataSet& data_;
  PoolOptions options_;
  std::unique_ptr<const MixturePartitions> partitions_;
  bool stands_in_;  ///< whether another model is fitted, for a model without EM
  std::vector<ShortFit> fits_;
};

/// theta after at most `rounds` rounds of EM on all rows; unchanged where its density is not finite.
std::vector<double> refine_by_em(const DataSet& data, const ModelSpec& model,
                                 const std::vector<double>& theta, int rounds, int num_threads = 0);

/// Converts `theta` of the diagonal gaussian_mixture to `layout`, that of the same model with another
/// covariance: a spherical variance is the mean of a component's variances, full covariances are diagonal,
/// and a tied one is the mean of the components' variances, weighted by the weights.
std::vector<double> in_layout(const ParameterLayout& layout, std::span<const double> theta);

}  // namespace emomc
