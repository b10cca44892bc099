// Starts of chains at random groups of rows, each at groups of its own (sampler.init: clusters).
#pragma once

#include <cstdint>
#include <vector>

#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/posterior/run_setup.hpp"

namespace emomc {

class ClusterStarts {
 public:
  /// `setup` must outlive the object. Throws InputError where no mixture is fitted to the model's rows.
  ClusterStarts(const RunSetup& setup, std::uint64_t seed);
  /// [Target::dim()], sampler's units: the moments of groups of rows, a function of (seed, chain), which is
  /// ChainPlan::id. Every other chain, and every other rung of a chain, has groups of k-means; the others
  /// have the rows that are nearest to random rows. Components are in the order that the prior prefers; where
  /// it prefers none, in the one that is nearest to that of the first start that was asked for.
  std::vector<double> of_chain(std::uint64_t chain);

 private:
  const RunSetup& setup_;
  std::uint64_t seed_;
  MixturePartitions partitions_;
  std::vector<double> further_, first_;
};

}  // namespace emomc
