// Derivatives of a graph by reverse accumulation: new nodes of the same graph, which the interpreter
// evaluates and the code generator writes as all others.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph.hpp"

namespace emomc::expression {

/// The derivative with respect to elements of a run of parameters that a row's index chooses: the adjoint
/// belongs to parameter first + index.
struct GatheredAdjoint {
  int first, size;
  NodeId index, adjoint;
};

/// The derivatives of a sum with respect to what it depends on. Those of gathers come on top of the
/// parameters'.
struct Adjoints {
  std::vector<std::pair<int, NodeId>> parameters;    ///< index of the parameter, its derivative; ascending
  std::vector<std::pair<int, NodeId>> product_sums;  ///< the same for product sums
  std::vector<GatheredAdjoint> gathered;             ///< of gathers whose elements are consecutive parameters
  /// Why there are none: a function without a derivative, too many nodes. Empty: there are.
  std::string why_not;
};

/// A node and the weight of its derivatives in the sum.
struct Seed {
  NodeId root, weight;
};

/// Adds nodes to `graph` for the derivatives of sum_i weight_i root_i, the weights being taken as constants.
/// A choice is differentiated where it is taken: a branch that is not taken adds 0 even where it is not
/// finite.
Adjoints differentiate(Graph& graph, std::span<const Seed> seeds);

/// Adds nodes to `graph`, which is empty, for the derivative of a scalar function with respect to its
/// argument number `argument`, from 0. Parameters 0, 1, ... are the arguments, the one behind them is the
/// function's value. kNoNode where there is no such derivative.
NodeId partial_derivative(Graph& graph, const std::string& function, int argument);

}  // namespace emomc::expression
