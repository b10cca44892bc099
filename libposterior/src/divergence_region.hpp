// Finds the part of the posterior in which the divergent transitions of a run lie.
#pragma once

#include <cstddef>
#include <optional>

#include "emomc/posterior/inspection.hpp"

namespace emomc {

/// The quantity in which divergent draws differ most from the other draws.
struct DivergenceRegion {
  std::size_t quantity = 0;
  double mean_rank = 0.5;    ///< mean of the divergent draws' ranks among all draws, from 0 (lowest) to 1
  std::size_t episodes = 0;  ///< divergent draws; those within one autocorrelation time of a chain count once
};

/// The region of the divergent transitions, or nothing if they are spread much like the other draws, or too
/// few to tell: the mean rank must differ from 0.5 by 0.25 or more, and by more than chance. Under
/// independence of quantities and divergences a region is found with a probability of at most 0.001, for all
/// quantities together. The ranks' mean is compared with that of uniform ranks, 0.5, whose variance is 1 /
/// (12 episodes). Needs the statistics of trajectories.
std::optional<DivergenceRegion> region_of_divergences(const Inspection& run);

}  // namespace emomc
