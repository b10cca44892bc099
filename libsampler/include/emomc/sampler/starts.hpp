// Starting points of chains: the optima that short EM fits have reached, weighted by their posterior mass,
// and the assignment of chains to them.
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
  double log_likelihood = 0;  ///< at theta, of all rows
  double log_prior = 0;
  /// Log of the posterior mass near theta, by Laplace's approximation in unconstrained space.
  double log_mass = 0;
  double share = 0;  ///< share of the mass of all optima that are not degenerate
  /// [Target::dim_unconstrained()] posterior standard deviations by the same approximation
  std::vector<double> sd;
  /// Indices of the fits that reached it, the highest density first.
  std::vector<std::size_t> members;
  std::string degenerate;  ///< the reason why it is degenerate; empty where it is not
  int num_empty = 0;       ///< number of components that have no rows (empty_components.hpp)
};

struct Optima {
  std::vector<Optimum> found;       ///< largest mass first
  std::vector<Optimum> degenerate;  ///< highest posterior density first
  std::size_t num_fits = 0;
  /// Whether the masses take all second derivatives into account; otherwise coordinates count as independent.
  bool full_curvature = false;
  std::size_t num_degenerate_fits() const;
};

/// An optimum gets a chain of its own where its share of the mass is larger than this.
inline constexpr double kLeastShareOfAChain = 0.01;

/// The optima that `fits` belong to; each fit has engine.layout().dim() values or more, the likelihood's
/// parameters first. Fits that give nearly the same density to every row are one optimum, whatever their
/// labels. Where the prior distinguishes components, each optimum is numbered as the prior prefers; another
/// numbering of nearly the same density is an optimum of its own. Where the number of parameters allows,
/// optima are moved to the posterior's mode. `engine` has all rows or a subset that represents all
/// `num_rows`; it should be float64. An optimum is degenerate where a component has fewer than d + 2 rows (or
/// than half of an even share, where that is less), where a scale is at its floor while other components'
/// scales of that column are not, or where a covariance has a scale at its floor. Fits are left out where
/// their posterior density is zero or far below the highest, and beyond the `most_optima` highest. Where all
/// optima are degenerate, the first of them has its `sd`.
Optima find_optima(const Target& target, LikelihoodEngine& engine, std::span<const std::vector<double>> fits,
                   double num_rows, std::size_t most_optima = 16);

/// Indices of log densities in decreasing order; where densities differ by rounding only, the smaller index
/// comes first.
std::vector<std::size_t> from_the_highest(std::span<const double> heights);

/// Groups of `fits` (each at least engine.layout().dim() parameters) that give nearly the same density to
/// every row, whatever their labels. Groups, and fits within a group, are in decreasing order of log
/// likelihood.
std::vector<std::vector<std::size_t>> equal_fits(LikelihoodEngine& engine,
                                                 std::span<const std::vector<double>> fits, double num_rows);

/// For each of `fits` the index of the one of `among` (both of at least engine.layout().dim() parameters)
/// whose densities of the rows are most alike: least sum of squared differences of their logarithms. Where
/// two of `among` give nearly the same densities, the first of them.
std::vector<std::size_t> nearest_fits(LikelihoodEngine& engine, std::span<const std::vector<double>> among,
                                      std::span<const std::vector<double>> fits);

/// Sorts `found` by log_mass, the largest first, and computes the shares.
void rank_by_mass(std::vector<Optimum>& found);

/// Index into `found` (as find_optima orders it) of the optimum where chain `chain` starts. The first
/// num_heavy(found) chains start at one of these optima each; the others are drawn from them in proportion to
/// their shares. A function of the arguments, not of the number of chains.
std::size_t optimum_of_chain(const std::vector<Optimum>& found, std::uint64_t seed, std::uint32_t chain);

/// The number of optima in `found` with a share above kLeastShareOfAChain; at least one where `found` is not
/// empty.
std::size_t num_heavy(const std::vector<Optimum>& found);

/// Moves theta [Target::dim()] by normal random numbers of `times` the optimum's sd in every unconstrained
/// coordinate; they are a function of (seed, chain).
std::vector<double> moved_about(const Target& target, const Optimum& optimum, std::span<const double> theta,
                                double times, std::uint64_t seed, std::uint32_t chain);

/// The reason why theta is degenerate, as find_optima defines it; empty where it is not.
std::string degeneracy(const Target& target, std::span<const double> theta, double num_rows);

/// The order of components, for permute_components, in which theta's means are closest to `reference`'s
/// (least sum of squared distances). Chains with the same labels can adapt together. The identity for a
/// layout without a block of means [K][d]; empty without components.
std::vector<int> order_like(const ParameterLayout& layout, std::span<const double> reference,
                            std::span<const double> theta);

/// theta in the order of order_like, where the prior is invariant to permutations of the components;
/// otherwise theta.
std::vector<double> aligned(const Target& target, std::span<const double> reference,
                            std::span<const double> theta);

/// The order of components with the highest log prior; the likelihood does not depend on it.
std::vector<int> order_of_prior(const Target& target, std::span<const double> theta);

}  // namespace emomc
