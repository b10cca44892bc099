// Starting points of Gaussian mixtures from the data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// A pool of k-means clusterings (k-means++ seeds, Arthur and Vassilvitskii 2007, then Lloyd's algorithm),
/// each judged by the log likelihood that EM (Dempster, Laird and Rubin 1977) reaches from it in 30 rounds.
/// Everything is a function of (data, components, seed); at most 8,000 evenly spaced rows are looked at, and
/// 200,000 by `em`.
class MixtureStarts {
 public:
  static constexpr int kCandidates = 64;     ///< in the pool
  static constexpr int kDrawnPerChain = 16;  ///< of which a chain takes the best

  /// Uses all threads. `data` must outlive the object.
  MixtureStarts(const DataSet& data, int components, std::uint64_t seed);

  /// theta in gaussian_mixture's layout (weights, means, scales) and the data's units: the best clustering
  /// of those that (chain, attempt) draws from the pool. Scales are at least 0.01 of the column's sd.
  std::vector<double> kmeans(std::uint32_t chain, std::uint64_t attempt = 0) const;
  /// The same choice after 30 rounds of EM, with 1e-6 of each column's variance added to the variances.
  std::vector<double> em(std::uint32_t chain, std::uint64_t attempt = 0) const;
  /// The candidate of rank `rank` < kCandidates by its log likelihood after those rounds, the best first.
  std::vector<double> ranked(std::size_t rank) const;

 private:
  std::size_t best_of_drawn(std::uint32_t chain, std::uint64_t attempt) const;

  const DataSet& data_;
  std::uint64_t seed_;
  std::vector<double> column_sd_;
  std::vector<std::vector<double>> clusterings_, refined_;  ///< [kCandidates] theta
  std::vector<double> log_likelihood_;                      ///< [kCandidates] after EM
};

/// theta after `rounds` of EM on all rows, with 1e-6 of each column's variance added to the variances.
std::vector<double> refine_by_em(const DataSet& data, const std::vector<double>& theta, int rounds);

/// `theta` of the diagonal gaussian_mixture in `layout`, that of the same model with another covariance:
/// spherical variances are the mean of a component's, full covariances diagonal, a tied one the mean of the
/// components' by weight.
std::vector<double> in_layout(const ParameterLayout& layout, std::span<const double> theta);

/// The order of components in which `theta`'s means lie closest to `reference`'s, pairs taken greedily from
/// the closest on. Equal labels let chains adapt together. The identity without a block of means [K][d].
std::vector<int> order_like(const ParameterLayout& layout, std::span<const double> reference,
                            std::span<const double> theta);

}  // namespace emomc
