// Starts chains at the moments of random groups of rows, different groups for each chain (sampler.init:
// clusters).
#pragma once

#include <cstdint>
#include <vector>

#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc {

class ClusterStarts {
 public:
  /// `setup` must outlive the object. Throws InputError if no mixture is fitted to the model's rows.
  ClusterStarts(const RunSetup& setup, std::uint64_t seed);
  /// The start of a chain: [Target::dim()], in the sampler's units. It is computed from the moments of groups
  /// of rows, and is a function of the seed and `chain`, which is ChainPlan::id. Every second chain, and
  /// every second rung of a chain, uses groups of k-means; the others use the rows that are nearest to random
  /// rows. Components are in the order that the prior prefers; if the prior prefers none, in the order that
  /// is nearest to that of the first start of this object.
  std::vector<double> of_chain(std::uint64_t chain);

 private:
  const RunSetup& setup_;
  std::uint64_t seed_;
  MixturePartitions partitions_;
  std::vector<double> further_, first_;
};

}  // namespace emomc
