// What is sampled: a parameter layout with its prior, and the map between the constrained parameters
// theta and the unconstrained ones u that proposals move.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emomc/core/parameters.hpp"
#include "emomc/device/constrain.hpp"
#include "emomc/device/parameter_table.hpp"
#include "emomc/sampler/prior.hpp"

namespace emomc {

/// The blocks that priors speak of: `block` itself, or `scales` and `correlations` of a covariance.
std::vector<ParameterBlock> prior_blocks(const ParameterBlock& block);
/// `layout` and, behind it, a block "block.argument" for each argument of a prior that is sampled too.
ParameterLayout with_sampled_arguments(ParameterLayout layout, const PriorSet& prior);

/// What a ParameterTable points to.
struct TargetTables {
  std::vector<device::Element> elements;
  std::vector<device::SimplexBlock> simplices;
  std::vector<device::CovarianceRow> covariance_rows;
  std::vector<device::ConditionalElement> conditionals;
  double log_prior_constant = 0;
};

/// Prior and transforms of one layout; a value, on the host.
class Target {
 public:
  /// `layout` is the likelihood's; layout() has the sampled arguments of priors behind it. `column_sd`
  /// [columns]: sd of each column as the sampler sees the data; scales are bounded below by scale_floor times
  /// it. Throws InputError where a block has no prior, an argument cannot be broadcast or a fixed value is
  /// outside the support.
  Target(ParameterLayout layout, const PriorSet& prior, std::span<const double> column_sd);

  const ParameterLayout& layout() const { return layout_; }
  int dim() const { return layout_.dim(); }                     ///< constrained parameters
  int dim_unconstrained() const { return dim_unconstrained_; }  ///< free parameters

  /// theta [dim] of u [dim_unconstrained]; returns the log Jacobian log |d theta / d u|, of a covariance that
  /// of its scales and correlations.
  double constrain(std::span<const double> u, std::span<double> theta) const;
  /// The same with the log prior, in the bits that the step has.
  device::PointDensities constrain_with_prior(std::span<const double> u, std::span<double> theta) const;
  /// u of theta. Throws InputError, naming the parameter, where theta is outside the support.
  void unconstrain(std::span<const double> theta, std::span<double> u) const;
  /// Log density of theta in the units the prior is stated in, all constants kept; -infinity outside.
  double log_prior(std::span<const double> theta) const;
  /// The likelihood's parameters with sampled arguments of their priors behind them: the mean and sd of what
  /// they are arguments for.
  std::vector<double> with_arguments_of(std::span<const double> theta) const;
  /// Moves theta into the support where it lies outside: scales above their floor, weights of 0 to the least
  /// normal number (2.2e-308), values of an interval inside it, fixed values where they are fixed, components
  /// into their order.
  void move_inside(std::vector<double>& theta) const;
  /// theta drawn from the prior, random numbers of (seed, chain, attempt). Weights that are smaller are given
  /// as the least normal number, 2.2e-308.
  std::vector<double> draw_from_prior(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt) const;

  /// Where the free parameters of block b lie in u; empty for a fixed block.
  struct Range {
    int begin, size;
  };
  Range unconstrained_range(std::size_t block) const { return ranges_[block]; }
  /// Index of the block whose first coordinates increase, if one does.
  std::optional<std::size_t> ordered_block() const { return ordered_block_; }
  /// Whether the prior is the same when components change places: no order, no prior of one component that
  /// differs from another's.
  bool components_are_exchangeable() const { return !ordered_block_ && !components_differ_; }

  /// Whether the prior gives weight to values that a double does not hold, weights below 1e-308 above all: to
  /// them go dirichlet and gamma below 0.1, and beta with an argument below 1 or between 1 and 2.
  bool reaches_edge_of_support() const;

  /// Free scales of each matrix of covariance block b; they come first among the matrix's free parameters.
  int free_scales(std::size_t block) const { return free_scales_[block]; }

  /// Whether chains of both can be of one run: the same parameters, free ones in the same places; the
  /// arguments of their priors may differ.
  bool is_like(const Target& other) const;

  /// The table that the step body reads, in host memory owned by this object.
  device::ParameterTable table() const;
  const TargetTables& tables() const { return tables_; }

 private:
  device::MixtureLayout find_mixture() const;
  void unconstrain_row(const device::CovarianceRow& row, std::span<const double> theta,
                       std::span<double> u) const;

  ParameterLayout layout_;
  TargetTables tables_;
  std::vector<Range> ranges_;
  std::vector<int> free_scales_;
  int dim_unconstrained_ = 0;
  std::optional<std::size_t> ordered_block_;
  bool components_differ_ = false;
  device::MixtureLayout mixture_{};
};

}  // namespace emomc
