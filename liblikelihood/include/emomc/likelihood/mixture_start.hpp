// Starting points of Gaussian mixtures from the data: many short fits from partitions of several kinds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// How the rows were divided where a short fit began.
enum class Seeding {
  kmeans,         ///< k-means++ seeds (Arthur and Vassilvitskii 2007), then Lloyd's algorithm
  random_rows,    ///< random rows and those nearest to each, scikit-learn's random_from_data
  random_splits,  ///< groups cut in two by random hyperplanes, one after the other
  local_groups,   ///< small groups of neighbouring rows, for tight components beside wide ones
  given,          ///< a point that the caller gave
};

/// One short fit, in the layout of the model and the units of the rows.
struct ShortFit {
  Seeding seeding;
  std::vector<double> origin;  ///< where it began: moments of the groups
  std::vector<double> theta;   ///< after the rounds of EM
  double log_likelihood = 0;   ///< at theta, of MixturePool::rows()
};

struct PoolOptions {
  std::uint64_t seed = 0;
  int num_threads = 0;  ///< 0 takes all
  std::vector<double> smallest_scale =
      {};  ///< [columns] as FitOptions has it; empty: 1e-6 of each column's sd
  std::vector<std::vector<double>> given = {};  ///< further points to fit from, in the model's layout
};

/// Short fits by EM (Dempster, Laird and Rubin 1977): 30 to 300 rounds, as many as cost about the same, fewer
/// where EM has converged. Everything is a function of (data, model, seed, given); at most 8,000 evenly
/// spaced rows are looked at, and 200,000 by `refined`.
class MixturePool {
 public:
  static constexpr int kKmeans = 24, kRandomRows = 16, kRandomSplits = 8, kLocalGroups = 16;
  static constexpr int kSeeded = kKmeans + kRandomRows + kRandomSplits + kLocalGroups;  ///< beside `given`

  /// `model` is a mixture with a block of weights, of means and of scales or covariances. `data` must outlive
  /// the object.
  MixturePool(const DataSet& data, const ModelSpec& model, PoolOptions options);

  /// The fits whose log likelihood is finite, in the order of the seedings.
  const std::vector<ShortFit>& fits() const { return fits_; }
  /// Index of the fit of highest log likelihood. Throws InputError where there is no fit.
  std::size_t best() const;
  /// The rows that were looked at.
  const DataSet& rows() const { return rows_; }

  /// After 30 more rounds on at most 200,000 rows; the log likelihood is scaled to all of them. As it is
  /// where rows() are all of the data.
  ShortFit refined(const ShortFit& fit) const;

 private:
  const DataSet& data_;
  ModelSpec model_;
  PoolOptions options_;
  DataSet rows_;
  std::vector<ShortFit> fits_;
};

/// theta after at most `rounds` of EM on all rows.
std::vector<double> refine_by_em(const DataSet& data, const ModelSpec& model,
                                 const std::vector<double>& theta, int rounds, int num_threads = 0);

/// `theta` of the diagonal gaussian_mixture in `layout`, that of the same model with another covariance:
/// spherical variances are the mean of a component's, full covariances diagonal, a tied one the mean of the
/// components' by weight.
std::vector<double> in_layout(const ParameterLayout& layout, std::span<const double> theta);

}  // namespace emomc
