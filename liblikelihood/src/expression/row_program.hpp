// A likelihood's graph divided by what its parts depend on: on data alone (inputs, computed once), on
// parameters alone (coefficients, once for each parameter vector), and on both (once for each row).
#pragma once

#include <vector>

#include "graph.hpp"

namespace emomc::expression {

/// A linear predictor of rows: coefficients times columns. Kernels that evaluate several parameter vectors at
/// once compute it apart from the rest of a row.
struct ProductSum {
  struct Product {
    int coefficient;  ///< as Graph::parameter of `rows`
    int column;       ///< as Graph::column of `rows`
  };
  int start = -1;  ///< the coefficient that the products are added to; -1: zero
  std::vector<Product> products;
};

struct RowProgram {
  Graph whole;                       ///< the likelihood's graph and what was added to it here
  std::vector<NodeId> inputs;        ///< of `whole`, stage kData: the columns that rows are evaluated on
  std::vector<NodeId> coefficients;  ///< of `whole`, of parameters and constants alone
  /// Of `whole`: what all rows share, kNoNode where it is nothing. It is added to each row's log density.
  NodeId common = kNoNode;
  std::vector<ProductSum> product_sums;
  /// Graph::parameter(i) is coefficient i, Graph::column(j) input j, Graph::product_sum(l) a sum of products.
  Graph rows;
  NodeId log_density = 0;  ///< of `rows`, without `common`
};

/// The result of `log_density`'s parts is the same but for rounding: sums are ordered anew, so that what
/// depends on parameters alone and on data alone is added up ahead, and a division by what depends on
/// parameters alone is a multiplication by its reciprocal.
RowProgram divide(const Graph& graph, NodeId log_density);

}  // namespace emomc::expression
