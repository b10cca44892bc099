// Divides a likelihood's graph into parts that depend on data alone (inputs, computed once), on parameters
// alone (coefficients, computed once for each parameter vector), and on both (computed once for each row).
#pragma once

#include <vector>

#include "graph.hpp"

namespace emomc::expression {

/// A linear predictor of rows: coefficients times columns. Kernels that evaluate several parameter vectors at
/// once compute these sums separately from the rest of a row.
struct ProductSum {
  struct Product {
    int coefficient;  ///< index of Graph::parameter() in `rows`
    int column;       ///< index of Graph::column() in `rows`
  };
  int start = -1;  ///< coefficient to which the products are added; -1: zero
  std::vector<Product> products;
};

struct RowProgram {
  Graph whole;                       ///< the likelihood's graph and nodes that divide() has added
  std::vector<NodeId> inputs;        ///< nodes of `whole`, of stage kData: the columns of the divided rows
  std::vector<NodeId> coefficients;  ///< nodes of `whole` that depend on parameters and constants alone
  /// Node of `whole` that is added to the log density of each row, the part that all rows share; kNoNode:
  /// there is none.
  NodeId common = kNoNode;
  std::vector<ProductSum> product_sums;
  /// Graph::parameter(i) is coefficient i, Graph::column(j) input j, Graph::product_sum(l) a sum of products.
  Graph rows;
  NodeId log_density = 0;  ///< node of `rows`: the log density of a row without `common`
};

/// Divides the graph of `log_density`. The value stays the same except for rounding: sums are reordered, so
/// that terms of parameters alone and terms of data alone are added first, and a division by a value of
/// parameters alone becomes a multiplication by the reciprocal.
RowProgram divide(const Graph& graph, NodeId log_density);

}  // namespace emomc::expression
