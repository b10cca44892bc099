// What is sampled: a parameter layout with its prior, and the map between the constrained parameters
// theta and the unconstrained ones u that proposals move.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/sampler/prior.hpp"

namespace emomc {

/// Prior and transforms of one layout; a value, on the host.
class Target {
 public:
  /// `column_sd` [columns]: sd of each column as the sampler sees the data; scales are bounded below by
  /// scale_floor times it. Throws InputError where a block has no prior, an argument cannot be broadcast
  /// or a fixed value is outside the support.
  Target(ParameterLayout layout, const PriorSet& prior, std::span<const double> column_sd);

  const ParameterLayout& layout() const { return layout_; }
  int dim() const { return layout_.dim(); }                     ///< constrained parameters
  int dim_unconstrained() const { return dim_unconstrained_; }  ///< free parameters

  /// theta [dim] of u [dim_unconstrained]; returns the log Jacobian log |d theta / d u|.
  double constrain(std::span<const double> u, std::span<double> theta) const;
  /// u of theta. Throws InputError, naming the parameter, where theta is outside the support.
  void unconstrain(std::span<const double> theta, std::span<double> u) const;
  /// Log density of theta in the units the prior is stated in, all constants kept; -infinity outside.
  double log_prior(std::span<const double> theta) const;
  /// theta drawn from the prior, random numbers of (seed, chain, attempt).
  std::vector<double> draw_from_prior(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt) const;

  /// Where the free parameters of block b lie in u; empty for a fixed block.
  struct Range {
    int begin, size;
  };
  Range unconstrained_range(std::size_t block) const { return ranges_[block]; }
  /// Index of the block whose first coordinates increase, if one does.
  std::optional<std::size_t> ordered_block() const { return ordered_block_; }

  /// The table that the step body reads, in host memory owned by this object.
  device::ParameterTable table() const;
  const std::vector<device::Element>& elements() const { return elements_; }
  const std::vector<device::SimplexBlock>& simplices() const { return simplices_; }
  double log_prior_constant() const { return log_prior_constant_; }

 private:
  void refuse_different_components(std::size_t block, int begin) const;

  ParameterLayout layout_;
  std::vector<device::Element> elements_;
  std::vector<device::SimplexBlock> simplices_;
  std::vector<Range> ranges_;
  double log_prior_constant_ = 0;
  int dim_unconstrained_ = 0;
  std::optional<std::size_t> ordered_block_;
};

}  // namespace emomc
