// Differentiates a graph by reverse accumulation. The derivatives are new nodes of the same graph, which the
// interpreter and the code generator treat like all other nodes.
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

/// The derivatives of a sum with respect to parameters and product sums. Derivatives of gathers are to be
/// added to those of the parameters.
struct Adjoints {
  std::vector<std::pair<int, NodeId>> parameters;    ///< index of the parameter, its derivative; ascending
  std::vector<std::pair<int, NodeId>> product_sums;  ///< index of the product sum, its derivative; ascending
  std::vector<GatheredAdjoint> gathered;             ///< for gathers of consecutive parameters
  /// Why there are no derivatives: a function has none, or there are too many nodes. Empty: there are
  /// derivatives.
  std::string why_not;
};

/// A node, and the node of the weight that multiplies its derivatives in the sum.
struct Seed {
  NodeId root, weight;
};

/// Adds nodes to `graph` for the derivatives of sum_i weight_i root_i, where the weights count as constants.
/// Only the branch that a choice takes is differentiated; the other branch adds 0 even if its value is not
/// finite.
Adjoints differentiate(Graph& graph, std::span<const Seed> seeds);

/// Adds nodes to the empty graph `graph` for the derivative of a scalar function with respect to argument
/// number `argument`, from 0. Parameters 0, 1, ... of the graph are the arguments, the next parameter is the
/// function's value. Returns kNoNode where there is no such derivative.
NodeId partial_derivative(Graph& graph, const std::string& function, int argument);

}  // namespace emomc::expression
