// What a user says about a prior: a family and its arguments, before it meets a parameter layout.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace emomc {

/// A number or a nested list of numbers as written by the user; `shape` is empty for one number. It is
/// broadcast against a block: one number, [d], [K] or [K][d]. Or a parameter itself, of which there is one
/// per column of the block.
struct ArrayArgument {
  std::vector<int> shape;
  std::vector<double> values;  ///< row-major
  bool is_sampled = false;     ///< its prior is PriorSet::blocks["block.argument"]
  bool operator==(const ArrayArgument&) const = default;
};

/// The families. On a block bounded below, a family that reaches beyond is truncated and renormalised.
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
  lkj,
  fixed
};

/// One block's prior. Arguments by position, named as in `argument_names(family)`.
struct PriorSpec {
  PriorFamily family = PriorFamily::normal;
  std::vector<ArrayArgument> arguments;
  bool operator==(const PriorSpec&) const = default;
};

/// normal {mean, sd}, half_normal {sd}, student_t {df, mean, scale}, cauchy {location, scale}, lognormal
/// {meanlog, sdlog}, gamma {shape, rate}, inverse_gamma {shape, scale}, exponential {rate}, uniform {lower,
/// upper}, beta {a, b}, dirichlet {a}, lkj {eta}, fixed {value}.
const std::vector<std::string>& argument_names(PriorFamily family);
/// The arguments that can be parameters themselves: locations and scales of some families.
std::vector<std::string> sampled_argument_names(PriorFamily family);
const std::string& family_name(PriorFamily family);
std::optional<PriorFamily> family_from_name(const std::string& name);
std::vector<std::string> family_names();

/// The priors of all blocks of a model and what binds blocks together. A covariance is diag(s) R diag(s), and
/// has a prior for s, `scales`, and one for R, `correlations` (Lewandowski, Kurowicka and Joe 2009).
struct PriorSet {
  std::map<std::string, PriorSpec> blocks;  ///< by block name
  /// Smallest scale allowed, as a share of the column's sd in the data the sampler sees.
  double scale_floor = 0.001;
  /// A block with a component axis whose first coordinates are restricted to increase with the component, the
  /// prior being multiplied by K!; empty: none. The prior must be the same when components change places.
  std::string order;
  bool operator==(const PriorSet&) const = default;
};

}  // namespace emomc
