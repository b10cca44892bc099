// Sums of the points of chains, each relative to the first point of its chain, so that no digits cancel in
// the moments within chains.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

/// Adds a point of chain `c` to sum and count and returns the point relative to the chain's first one. If
/// count[c] is 0, this point becomes the first one. `first` and `sum` are num_chains x u.size(), `count` is
/// [num_chains].
inline Eigen::VectorXd add_relative_point(std::size_t c, std::span<const double> u,
                                          std::vector<double>& first, std::vector<double>& sum,
                                          std::vector<double>& count) {
  double* const origin = first.data() + c * u.size();
  double* const total = sum.data() + c * u.size();
  if (count[c] == 0) std::copy(u.begin(), u.end(), origin);
  count[c] += 1;
  Eigen::VectorXd y(static_cast<Eigen::Index>(u.size()));
  for (std::size_t i = 0; i < u.size(); ++i) {
    y[static_cast<Eigen::Index>(i)] = u[i] - origin[i];
    total[i] += u[i] - origin[i];
  }
  return y;
}

}  // namespace emomc
