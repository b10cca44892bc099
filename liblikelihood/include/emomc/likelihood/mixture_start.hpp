// Starts for chains of a Gaussian mixture with diagonal covariance.
#pragma once

#include <cstdint>
#include <vector>

#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// k-means++ seeds (Arthur and Vassilvitskii 2007) and up to 20 rounds of Lloyd's algorithm on at most
/// 20,000 rows; theta in gaussian_mixture's layout (weights, means, scales), sampler's units. Scales are at
/// least 0.01 of the column's sd. A function of (data, seed, chain, attempt).
std::vector<double> kmeans_start(const DataSet& data, int components, std::uint64_t seed, std::uint32_t chain,
                                 std::uint64_t attempt = 0);

/// kmeans_start, then `iterations` of EM (Dempster, Laird and Rubin 1977) on at most 200,000 rows, with
/// 1e-6 of each column's variance added to the variances.
std::vector<double> em_start(const DataSet& data, int components, std::uint64_t seed, std::uint32_t chain,
                             std::uint64_t attempt = 0, int iterations = 20);

}  // namespace emomc
