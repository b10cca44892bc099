// Finds modes of a mixture's posterior in which some components have no rows. EM does not reach such modes,
// because it gives every component rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/sampler/starts.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// Returns the concentration a of the symmetric Dirichlet prior of `target`'s weights, if modes with empty
/// components can be found from mixtures with fewer components: all components must have the same prior, with
/// numbers as arguments, and the weights must be free. Otherwise returns nothing.
std::optional<double> concentration_for_empty(const Target& target);

/// Returns the log of the factor by which the posterior mass of a mixture of K components near a point with K
/// - m empty components differs from the mass of the mixture of m components near the same point without
/// them: E[W^N] / (K - m)!, where W ~ Beta(m a, (K - m) a) is the total weight of the occupied components.
/// Both masses are those about one numbering of the components; the (K - m)! numberings of the empty
/// components are one region. If the prior has an order (`ordered`), the mixture of K components counts K!
/// times, and the factor is multiplied by K!. `alpha` is the concentration a.
double log_mass_of_empty(int K, int m, double alpha, double num_rows, bool ordered);

/// Returns the optimum of `target`, a mixture of K components, at which components m to K - 1 are empty. The
/// others are those of `fewer`, an optimum of the same mixture with m components and without an order; the
/// empty components are drawn from the prior, with the posterior mean of their weights. `engine` evaluates
/// `target`'s likelihood; `num_rows` is the number of rows that the engine's rows represent. If the prior has
/// an order, the components are in that order. Returns nothing if 20 draws from the prior give no finite
/// density. The random numbers are a function of (seed, index).
std::optional<Optimum> with_empty_components(const Target& target, LikelihoodEngine& engine,
                                             const Optimum& fewer, int m, double alpha, double num_rows,
                                             std::uint64_t seed, std::uint32_t index);

/// Distinguishes draws near an optimum with empty components from other draws. The components of a draw with
/// the smallest weights count as empty if their weights are those of so few rows as is usual in that mode,
/// and if they have no more of the rows than components drawn from the prior usually have. (A component on
/// two or three rows at the edge of the data has as small a weight, but its expected number of rows
/// corresponds to that weight.)
class EmptyMode {
 public:
  /// `optimum` is a result of with_empty_components; `engine` computes pointwise densities of `target`'s
  /// likelihood and must outlive the object. The random numbers are a function of `seed`.
  EmptyMode(const Target& target, LikelihoodEngine& engine, const Optimum& optimum, double alpha,
            double num_rows, std::uint64_t seed);
  /// Whether theta (engine.layout().dim() parameters or more) is in this mode.
  bool contains(std::span<const double> theta);
  /// The estimated share of the mode's mass for which contains() is true: at least about one half.
  double recognised() const { return recognised_; }

 private:
  double total_weight(std::span<const double> theta, std::vector<std::size_t>& smallest) const;
  double occupancy(std::span<const double> theta);

  LikelihoodEngine& engine_;
  std::size_t begin_ = 0, size_ = 0;  // range of the weights in theta
  int num_empty_;
  double most_weight_, most_occupancy_ = 0, recognised_ = 0;
  std::vector<double> with_, without_, copy_;
  std::vector<std::size_t> smallest_;
};

}  // namespace emomc
