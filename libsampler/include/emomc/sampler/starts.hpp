// Starting points of chains: finds the optima that short EM fits have reached, weights them by their
// posterior mass, and assigns chains to them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// A point of high posterior density that one or more EM fits have reached.
struct Optimum {
  std::vector<double> theta;  ///< [Target::dim()], sampler's units
  double log_likelihood = 0;  ///< log likelihood of all rows at theta
  double log_prior = 0;
  /// Log of the posterior mass near theta, by Laplace's approximation in unconstrained space.
  double log_mass = 0;
  double share = 0;  ///< share of the mass of all optima that are not degenerate
  /// [Target::dim_unconstrained()] posterior standard deviations by Laplace's approximation
  std::vector<double> sd;
  /// Indices of the fits that reached this optimum, the highest density first.
  std::vector<std::size_t> members;
  std::string degenerate;  ///< reason why the optimum is degenerate; empty if it is not
  int num_empty = 0;       ///< number of components that have no rows (empty_components.hpp)
};

struct Optima {
  std::vector<Optimum> found;       ///< largest mass first
  std::vector<Optimum> degenerate;  ///< highest posterior density first
  std::size_t num_fits = 0;
  /// Whether the masses take all second derivatives into account; if not, coordinates are treated as
  /// independent.
  bool full_curvature = false;
  std::size_t num_degenerate_fits() const;
};

/// Share of the mass above which an optimum gets a chain of its own.
inline constexpr double kLeastShareOfAChain = 0.01;

/// Finds the optima to which `fits` belong; each fit has engine.layout().dim() values or more, the
/// likelihood's parameters first. Fits that give nearly the same density to every row are one optimum,
/// whatever their labels. If the prior distinguishes components, each optimum is numbered as the prior
/// prefers; another numbering of nearly the same density is a separate optimum. If the number of parameters
/// allows, optima are moved to the posterior's mode. `engine` has all rows or a subset that represents all
/// `num_rows`; it should be float64. An optimum is degenerate if a component has fewer than d + 2 rows (or
/// than half of an even share, if that is less), if a scale is at its floor while other components' scales of
/// that column are not, or if a covariance has a scale at its floor. If optima are moved to the mode, one
/// that lacks less than a row is judged there. Fits are left out if their posterior density is zero or far
/// below the highest, and beyond the `most_optima` highest. If all optima are degenerate, the first of them
/// has its `sd`.
Optima find_optima(const Target& target, LikelihoodEngine& engine, std::span<const std::vector<double>> fits,
                   double num_rows, std::size_t most_optima = 16);

/// Returns the indices of log densities in decreasing order; if densities differ by rounding only, the
/// smaller index comes first.
std::vector<std::size_t> from_the_highest(std::span<const double> heights);

/// Groups `fits` (each at least engine.layout().dim() parameters): those in a group give nearly the same
/// density to every row, whatever their labels. Groups, and fits within a group, are in decreasing order of
/// log likelihood.
std::vector<std::vector<std::size_t>> equal_fits(LikelihoodEngine& engine,
                                                 std::span<const std::vector<double>> fits, double num_rows);

/// Returns for each of `fits` the index of the element of `among` (both of at least engine.layout().dim()
/// parameters) whose densities of the rows are most alike, with the least sum of squared differences of their
/// logarithms. If two elements give nearly the same densities, the first of them is taken.
std::vector<std::size_t> nearest_fits(LikelihoodEngine& engine, std::span<const std::vector<double>> among,
                                      std::span<const std::vector<double>> fits);

/// Sorts `found` by log_mass, the largest first, and computes the shares.
void rank_by_mass(std::vector<Optimum>& found);

/// Returns the index into `found` (in the order of find_optima) of the optimum at which chain `chain` starts.
/// The first num_heavy(found) chains start at one of the heavy optima each; for the others, one of the heavy
/// optima is drawn in proportion to the shares. The result is a function of the arguments, not of the number
/// of chains.
std::size_t optimum_of_chain(const std::vector<Optimum>& found, std::uint64_t seed, std::uint32_t chain);

/// Returns the number of optima in `found` with a share above kLeastShareOfAChain; at least one unless
/// `found` is empty.
std::size_t num_heavy(const std::vector<Optimum>& found);

/// Moves theta [Target::dim()] by normal random numbers of `times` the optimum's sd in every unconstrained
/// coordinate. The random numbers are a function of (seed, chain).
std::vector<double> moved_about(const Target& target, const Optimum& optimum, std::span<const double> theta,
                                double times, std::uint64_t seed, std::uint32_t chain);

/// Returns the reason why theta is degenerate by the criteria of find_optima, a scale before the number of
/// rows; empty if it is not.
std::string degeneracy(const Target& target, std::span<const double> theta, double num_rows);

/// Returns the order of components, for permute_components, in which theta's means are closest to
/// `reference`'s (least sum of squared distances). Chains with the same labels can adapt together. The order
/// is the identity for a layout without a block of means [K][d], and empty without components.
std::vector<int> order_like(const ParameterLayout& layout, std::span<const double> reference,
                            std::span<const double> theta);

/// Returns theta in the order of order_like if the prior is invariant to permutations of the components;
/// otherwise theta.
std::vector<double> aligned(const Target& target, std::span<const double> reference,
                            std::span<const double> theta);

/// Returns the order of components with the highest log prior; the likelihood does not depend on the order.
std::vector<int> order_of_prior(const Target& target, std::span<const double> theta);

}  // namespace emomc
