// Prior distributions as the user states them: families and arguments, independent of a parameter layout.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emomc/core/list_order.hpp"

namespace emomc {

/// A number or nested list of numbers as the user wrote it; `shape` is empty for one number. It is broadcast
/// against a block as a scalar, [d], [K] or [K][d]. Alternatively the argument is itself a sampled parameter,
/// with one element for each column of the block.
struct ArrayArgument {
  std::vector<int> shape;
  std::vector<double> values;  ///< row-major
  bool is_sampled = false;     ///< whether the argument is sampled; its prior is then
                               ///< PriorSet::blocks["block.argument"]
  bool operator==(const ArrayArgument&) const = default;
};

/// The prior families. On a block with bounds, a family with a wider support is truncated and renormalised.
enum class PriorFamily {
  normal,
  half_normal,
  student_t,
  cauchy,
  lognormal,
  gamma,
  inverse_gamma,
  exponential,
  uniform,
  beta,
  dirichlet,
  von_mises,
  lkj,
  fixed
};

/// The prior of one block. Arguments are positional, in the order of `argument_names(family)`.
struct PriorSpec {
  PriorFamily family = PriorFamily::normal;
  std::vector<ArrayArgument> arguments;
  bool operator==(const PriorSpec&) const = default;
};
/// Whether x and 1 - x have the same density. `prior` must not have arguments with priors of their own.
bool is_symmetric_about_half(const PriorSpec& prior);

/// Returns the names of a family's arguments: normal {mean, sd}, half_normal {sd}, student_t {df, mean,
/// scale}, cauchy {location, scale}, lognormal {meanlog, sdlog}, gamma {shape, rate}, inverse_gamma {shape,
/// scale}, exponential {rate}, uniform {lower, upper}, beta {a, b}, dirichlet {a}, von_mises {mean,
/// concentration}, lkj {eta}, fixed {value}.
const std::vector<std::string>& argument_names(PriorFamily family);
/// The names of the arguments that can be sampled themselves: locations and scales of some families.
std::vector<std::string> sampled_argument_names(PriorFamily family);
/// The name of a family in configurations. family_from_name() is the inverse; empty for an unknown name.
const std::string& family_name(PriorFamily family);
std::optional<PriorFamily> family_from_name(const std::string& name);
std::vector<std::string> family_names();

/// The priors of all blocks of a model and the restrictions that couple components. A covariance is diag(s) R
/// diag(s) and has one prior for s, `scales`, and one for R, `correlations` (Lewandowski, Kurowicka and Joe
/// 2009).
struct PriorSet {
  std::map<std::string, PriorSpec> blocks;  ///< priors by block name
  /// Lower bound of scales, as a share of the column's sd in the sampler's units.
  double scale_floor = 0.001;
  /// Name of a block with a component axis whose first coordinates must increase with the component; the
  /// prior is multiplied by K!. Empty: none. The prior must be invariant to permutations of the components.
  std::string order = {};
  /// Blocks with one axis whose values are in an order. The prior, which is the same for all values, is
  /// multiplied by the factorial of their number. The values of fixed blocks must be in this order.
  std::map<std::string, ListOrder> list_orders = {};
  bool operator==(const PriorSet&) const = default;
};

}  // namespace emomc
