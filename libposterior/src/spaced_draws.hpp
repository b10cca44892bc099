// Some draws of many, at equal distances over all chains.
#pragma once

#include <algorithm>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc {

/// The first `dim` parameters of `most` draws, or of all where there are fewer. Throws InputError where
/// `most` is 0 or there are no draws.
inline std::vector<std::vector<double>> spaced_draws(const DrawSet& draws, std::size_t dim,
                                                     std::size_t most) {
  if (most == 0) throw InputError("draws: 0 is out of range; allowed: 1 or more");
  const std::size_t total = draws.num_chains() * draws.num_draws, count = std::min(total, most);
  if (count == 0) throw InputError("there are no draws");
  std::vector<std::vector<double>> points(count, std::vector<double>(dim));
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t j = 0; j < dim; ++j)
      points[s][j] = draws.values[(draws.num_log_densities + j) * total + s * total / count];
  return points;
}

}  // namespace emomc
