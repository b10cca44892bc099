// Where chains start: the optima that many short fits have reached, judged by the posterior, and chains
// spread over them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// A place of high posterior density that one or more fits have reached.
struct Optimum {
  std::vector<double> theta;  ///< [Target::dim()], sampler's units
  double log_likelihood = 0;  ///< there, of all rows
  double log_prior = 0;
  double log_mass = 0;     ///< of the posterior about it, by Laplace's approximation in unconstrained space
  double share = 0;        ///< of the mass of all optima that are not degenerate
  std::vector<double> sd;  ///< [Target::dim_unconstrained()] about the optimum
  std::vector<std::size_t> members;  ///< indices of the fits that came there, the highest first
  std::string degenerate;            ///< why it is set apart; empty: it is not
};

struct Optima {
  std::vector<Optimum> found;       ///< the heaviest first
  std::vector<Optimum> degenerate;  ///< the highest posterior density first
  std::size_t num_fits = 0;
  std::size_t num_degenerate_fits() const;
};

/// Optima of this share of the mass and more are worth a chain.
inline constexpr double kLeastShareOfAChain = 0.01;

/// The optima that `fits` (each [engine.layout().dim()] or more, the likelihood's parameters first) belong
/// to. Fits that give nearly the same density to every row are one optimum, whatever their labels. Where the
/// prior tells components apart each optimum is numbered as the prior likes it best; another numbering of
/// nearly the same density is an optimum of its own. Where the number of parameters allows, optima are moved
/// to the posterior's mode. `engine` has all rows or some that stand for all `num_rows`; it should be
/// float64. Degenerate are scales at their floor and components of fewer than d + 2 rows, or than half of an
/// even share where that is less. A fit whose posterior density is zero is left out, and so are those that
/// lie far below the highest or behind the `most_optima` highest ones. Where all are degenerate, the first of
/// them has its `sd`.
Optima find_optima(const Target& target, LikelihoodEngine& engine, std::span<const std::vector<double>> fits,
                   double num_rows, std::size_t most_optima = 16);

/// Indices of log densities, the highest first; of those that differ by rounding only, the first comes first.
std::vector<std::size_t> from_the_highest(std::span<const double> heights);

/// Groups of `fits` (of at least engine.layout().dim() parameters) that give nearly the same density to every
/// row, whatever their labels: the highest log likelihood first, in a group too.
std::vector<std::vector<std::size_t>> equal_fits(LikelihoodEngine& engine,
                                                 std::span<const std::vector<double>> fits, double num_rows);

/// For each of `fits` the index of the one of `among` (both of at least engine.layout().dim() parameters)
/// whose densities of the rows are most alike: least sum of squared differences of their logarithms. Where
/// two of `among` give nearly the same densities, the first of them.
std::vector<std::size_t> nearest_fits(LikelihoodEngine& engine, std::span<const std::vector<double>> among,
                                      std::span<const std::vector<double>> fits);

/// Makes shares of `found`, the heaviest first, from the log masses.
void rank_by_mass(std::vector<Optimum>& found);

/// Index into `found` (as find_optima orders it) of the optimum where chain `chain` starts: the first chains
/// have one each of those with a share of kLeastShareOfAChain, the others are drawn by the shares. A function
/// of the arguments, not of the number of chains.
std::size_t optimum_of_chain(const std::vector<Optimum>& found, std::uint64_t seed, std::uint32_t chain);

/// How many of `found` have a share of kLeastShareOfAChain; at least one, where there is one.
std::size_t num_heavy(const std::vector<Optimum>& found);

/// theta moved by `times` the optimum's sd in every unconstrained direction, random numbers of (seed, chain).
std::vector<double> moved_about(const Target& target, const Optimum& optimum, std::span<const double> theta,
                                double times, std::uint64_t seed, std::uint32_t chain);

/// Why theta is degenerate, as find_optima says; empty where it is not.
std::string degeneracy(const Target& target, std::span<const double> theta, double num_rows);

/// The order of components, for permute_components, in which theta's means lie closest to `reference`'s
/// (least sum of squared distances). Equal labels let chains adapt together. The identity without a block of
/// means [K][d]; empty without components.
std::vector<int> order_like(const ParameterLayout& layout, std::span<const double> reference,
                            std::span<const double> theta);

/// theta in that order, where the prior does not tell components apart.
std::vector<double> aligned(const Target& target, std::span<const double> reference,
                            std::span<const double> theta);

/// The order of components of highest log prior (the likelihood does not change with it).
std::vector<int> order_of_prior(const Target& target, std::span<const double> theta);

}  // namespace emomc
