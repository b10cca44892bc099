// Modes of a mixture's posterior in which some components have no rows. EM reaches none of them: it gives
// every component rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/sampler/starts.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// The concentration a of a symmetric Dirichlet prior of `target`'s weights where modes with empty components
/// can be found from mixtures with fewer components: all components have the same prior, whose arguments are
/// numbers, and the weights are free. Nothing otherwise.
std::optional<double> concentration_for_empty(const Target& target);

/// The log of the factor by which the posterior mass of a mixture of K components near a point with K - m
/// empty ones differs from the mass of the mixture of m components near the same point without them: E[W^N] /
/// (K - m)!, W ~ Beta(m a, (K - m) a) being the total weight of the occupied components. Both masses are
/// those about one numbering of the components; the (K - m)! numberings of the empty components are one
/// region. With the prior's order (`ordered`) the mixture of K components counts K! times, and the factor is
/// multiplied by that. `alpha` is the concentration a.
double log_mass_of_empty(int K, int m, double alpha, double num_rows, bool ordered);

/// The optimum of `target`, a mixture of K components, at which components m to K - 1 are empty: the others
/// are those of `fewer`, an optimum of the same mixture with m components and without an order, and the empty
/// ones are drawn from the prior, with the posterior mean of their weights. `engine` is one of `target`'s
/// likelihood, `num_rows` the number of rows that its rows represent. The components are in the prior's order
/// where it has one. Nothing where 20 draws from the prior give no finite density. The random numbers are a
/// function of (seed, index).
std::optional<Optimum> with_empty_components(const Target& target, LikelihoodEngine& engine,
                                             const Optimum& fewer, int m, double alpha, double num_rows,
                                             std::uint64_t seed, std::uint32_t index);

/// Tells draws near an optimum with empty components from others. The components of a draw with the smallest
/// weights count as empty where their weights are those of so few rows as is usual in that mode, and where
/// they have no more of the rows than components that are drawn from the prior usually have. (A component
/// that sits on two or three rows at the edge of the data has as small a weight, but its expected number of
/// rows is that of its weight.)
class EmptyMode {
 public:
  /// `optimum` is one of with_empty_components, `engine` is for pointwise densities of `target`'s likelihood;
  /// it must outlive the object. The random numbers are a function of `seed`.
  EmptyMode(const Target& target, LikelihoodEngine& engine, const Optimum& optimum, double alpha,
            double num_rows, std::uint64_t seed);
  /// Whether theta (engine.layout().dim() parameters or more) is in this mode.
  bool contains(std::span<const double> theta);
  /// The share of the mode's mass for which contains() holds: at least about one half.
  double recognised() const { return recognised_; }

 private:
  double total_weight(std::span<const double> theta, std::vector<std::size_t>& smallest) const;
  double occupancy(std::span<const double> theta);

  LikelihoodEngine& engine_;
  std::size_t begin_ = 0, size_ = 0;  // the weights in theta
  int num_empty_;
  double most_weight_, most_occupancy_ = 0, recognised_ = 0;
  std::vector<double> with_, without_, copy_;
  std::vector<std::size_t> smallest_;
};

}  // namespace emomc
