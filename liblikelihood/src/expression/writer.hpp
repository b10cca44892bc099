// C++ of a graph: each node that is no leaf becomes a constant of the function that it stands in.
#pragma once

#include <string>
#include <vector>

#include "graph.hpp"

namespace emomc::expression {

/// Writes the statements of one graph; `type` is that of its values, `parameters` and `columns` are arrays.
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

  /// Where the value of a node is, once statements() has been written.
  std::string value(NodeId id) const;

  /// The statements of `roots`, and of `more`. Those of `roots` are the same whatever `more` is, so that
  /// their values have the same bits.
  std::string statements(const std::vector<NodeId>& roots, const std::string& indent,
                         const std::vector<NodeId>& more = {});

 private:
  /// The factor of a fused multiplication and addition; kNoNode: the sum is none.
  NodeId product_of_sum(const Node& node) const;
  std::string formula(const Node& node) const;
  std::string gathered(const Node& node) const;

  const Graph& graph_;
  std::string type_, parameters_, columns_, second_;
  int first_of_second_ = -1;  ///< -1: there is no second array
  /// How often a node is an argument or a root: of those that `roots` need among these alone, of others among
  /// all.
  std::vector<int> uses_;
};

}  // namespace emomc::expression
