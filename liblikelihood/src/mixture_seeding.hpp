// Computes starting points of short EM fits from partitions of the rows of several kinds.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "emomc/likelihood/mixture_start.hpp"

namespace emomc {

using SeedRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// theta of the diagonal gaussian_mixture (weights, means, scales), from the moments of a partition of `x`
/// (num_rows x d, columns of mean 0 and sd 1) into `components` groups. `seeding` is the kind of partition;
/// the random numbers are a function of (seed, index). Scales are at least 0.01.
std::vector<double> seed_mixture(const SeedRows& x, int components, Seeding seeding, std::uint64_t seed,
                                 std::uint32_t index);

}  // namespace emomc
