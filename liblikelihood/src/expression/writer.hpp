// Writes a graph as C++: each node that is no leaf becomes a constant in the generated function.
#pragma once

#include <string>
#include <vector>

#include "graph.hpp"

namespace emomc::expression {

/// Writes the statements of one graph; `type` is the type of values, `parameters` and `columns` are names of
/// arrays.
class Writer {
 public:
  Writer(const Graph& graph, std::string type, std::string parameters, std::string columns)
      : graph_(graph),
        type_(std::move(type)),
        parameters_(std::move(parameters)),
        columns_(std::move(columns)) {}

  /// Parameters from number `first` on are the elements of another array.
  void set_second_array(int first, std::string name) {
    first_of_second_ = first;
    second_ = std::move(name);
  }

  /// The C++ of a node's value, to be used after the statements of the node.
  std::string value(NodeId id) const;

  /// The statements of `roots` and of `more`. The statements of `roots` do not depend on `more`, so that the
  /// values have the same bits.
  std::string statements(const std::vector<NodeId>& roots, const std::string& indent,
                         const std::vector<NodeId>& more = {});

 private:
  /// The product in a sum that is written as a fused multiplication and addition; kNoNode: the sum is no such
  /// operation.
  NodeId product_of_sum(const Node& node) const;
  std::string formula(const Node& node) const;
  std::string gathered(const Node& node) const;

  const Graph& graph_;
  std::string type_, parameters_, columns_, second_;
  int first_of_second_ = -1;  ///< -1: there is no second array
  /// How often a node is an argument or a root; for nodes on which `roots` depend, uses by other nodes do not
  /// count.
  std::vector<int> uses_;
};

}  // namespace emomc::expression
