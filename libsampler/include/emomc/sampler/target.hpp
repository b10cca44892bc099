// The target distribution of the sampler: a parameter layout with its prior, and the map between the
// constrained parameters theta and the unconstrained coordinates u that proposals move.
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

/// Returns the blocks that have priors of their own: `block` itself, or `scales` and `correlations` for a
/// covariance.
std::vector<ParameterBlock> prior_blocks(const ParameterBlock& block);
/// Returns `layout`, followed by a block "block.argument" for each prior argument that is itself sampled.
ParameterLayout with_sampled_arguments(ParameterLayout layout, const PriorSet& prior);

/// The arrays that a ParameterTable points to.
struct TargetTables {
  std::vector<device::Element> elements;
  std::vector<device::SimplexBlock> simplices;
  std::vector<device::CovarianceRow> covariance_rows;
  std::vector<device::ConditionalElement> conditionals;
  double log_prior_constant = 0;
};

/// Prior and transforms of one layout; a value type in host memory.
class Target {
 public:
  /// `layout` is the likelihood's; layout() also has the sampled prior arguments after it. `column_sd`
  /// [columns] is the sd of each column in the sampler's units; scales are bounded below by scale_floor times
  /// that sd. Throws InputError if a prior names no block, a block has no prior, an argument cannot be
  /// broadcast or a fixed value is outside the support.
  Target(ParameterLayout layout, const PriorSet& prior, std::span<const double> column_sd);

  const ParameterLayout& layout() const { return layout_; }
  int dim() const { return layout_.dim(); }                     ///< number of constrained parameters
  int dim_unconstrained() const { return dim_unconstrained_; }  ///< number of free parameters

  /// Computes theta [dim] from u [dim_unconstrained] and returns the log Jacobian log |d theta / d u|; for a
  /// covariance this is the Jacobian of its scales and correlations (docs/statistics.md).
  double constrain(std::span<const double> u, std::span<double> theta) const;
  /// Computes theta like constrain() and returns log Jacobian and log prior, bit for bit as in a step of the
  /// sampler.
  device::PointDensities constrain_with_prior(std::span<const double> u, std::span<double> theta) const;
  /// Computes the gradient [dim_unconstrained] of beta log L + log prior + log Jacobian with respect to u,
  /// bit for bit as in a step of the sampler. theta [dim] must be what constrain() writes for u.
  /// `likelihood_gradient` is d log L / d theta for the likelihood's parameters as in GradientView, or empty
  /// for the gradient of log prior + log Jacobian alone.
  void gradient(std::span<const double> u, std::span<const double> theta,
                std::span<const double> likelihood_gradient, double beta, std::span<double> out) const;
  /// Computes u [dim_unconstrained] from theta [dim]. Throws InputError, naming the parameter, if theta is
  /// outside the support.
  void unconstrain(std::span<const double> theta, std::span<double> u) const;
  /// Returns the log prior density of theta [dim] in the units in which the prior is stated, with all
  /// constants; -infinity if a lower bound, an order or a positive definite matrix is violated. Not checked:
  /// whether fixed parameters have their values, weights sum to 1 and fractions are between 0 and 1.
  double log_prior(std::span<const double> theta) const;
  /// Returns the likelihood's parameters, followed by values for the sampled prior arguments. Location and
  /// scale are set to the mean and the sd of the parameters that have this prior, on the log scale for
  /// lognormal; the rate of exponential is set to the reciprocal of their mean.
  std::vector<double> with_arguments_of(std::span<const double> theta) const;
  /// Moves theta [dim] into the support if it is outside: scales above their floor, weights to the smallest
  /// normal number (2.2e-308) or more, values of an interval inside it, fixed parameters to their values,
  /// components and lists into the order of the prior.
  void move_inside(std::vector<double>& theta) const;
  /// Draws theta [dim] from the prior; the random numbers are a function of (seed, chain, attempt). Weights
  /// below the smallest normal number, 2.2e-308, are replaced by that number.
  std::vector<double> draw_from_prior(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt) const;
  /// Multiplies the coordinates of each angle in u [dim_unconstrained()], which have length 1 after
  /// unconstrain(), by a length drawn from its density (device/angle.hpp), so that u is a draw from the
  /// prior's density of u. The random numbers are a function of (seed, chain, attempt).
  void draw_lengths(std::uint64_t seed, std::uint32_t chain, std::uint64_t attempt,
                    std::span<double> u) const;

  /// Range of a block's free parameters in u; empty for a fixed block.
  struct Range {
    int begin, size;
  };
  Range unconstrained_range(std::size_t block) const { return ranges_[block]; }
  /// Index of the block whose first coordinates increase with the component, if there is one.
  std::optional<std::size_t> ordered_block() const { return ordered_block_; }
  /// Indices of the blocks of PriorSet::list_orders that are not fixed.
  const std::vector<std::size_t>& ordered_lists() const { return ordered_lists_; }
  /// Whether the prior is invariant to a permutation of the components: it has no order, and all components
  /// have the same prior.
  bool components_are_exchangeable() const { return !ordered_block_ && !components_differ_; }

  /// Whether the prior leads chains to values that a double cannot represent, such as weights below 1e-308.
  /// This is the case for dirichlet and gamma with a shape below 0.1, and for beta with an argument below 1
  /// or between 1 and 2.
  bool reaches_edge_of_support() const;

  /// Number of free scales in each matrix of covariance block b; they come first among the matrix's free
  /// parameters.
  int free_scales(std::size_t block) const { return free_scales_[block]; }

  /// Whether chains of both targets can belong to one run: the targets must have the same parameters with the
  /// same transforms and free coordinates. The arguments of their priors may differ.
  bool is_like(const Target& other) const;

  /// The table that the sampler's steps read, in host memory owned by this object.
  device::ParameterTable table() const;
  const TargetTables& tables() const { return tables_; }

 private:
  device::MixtureLayout find_mixture() const;
  /// Sorts the values of a block of ordered_lists() into the block's order.
  void sort_list(std::size_t block, std::span<double> theta) const;
  void unconstrain_row(const device::CovarianceRow& row, std::span<const double> theta,
                       std::span<double> u) const;

  int first_argument_, num_angles_ = 0;
  ParameterLayout layout_;
  TargetTables tables_;
  std::vector<Range> ranges_;
  std::vector<int> free_scales_;
  int dim_unconstrained_ = 0;
  std::optional<std::size_t> ordered_block_;
  std::vector<std::size_t> ordered_lists_;
  bool components_differ_ = false;
  device::MixtureLayout mixture_{};
};

}  // namespace emomc
