// A likelihood as an acyclic graph of scalar operations. Lowering makes the graph, the interpreter evaluates
// it, and the code generator writes it as C++.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "distributions.hpp"
#include "emomc/device/scalar_operations.hpp"
#include "primitives.hpp"

namespace emomc::expression {

using device::Operation;

/// The quantities on which a value depends, as a set of bits.
using Stage = unsigned;
inline constexpr Stage kNothing = 0, kData = 1, kParameters = 2, kRandom = 4;

using NodeId = int;
inline constexpr NodeId kNoNode = -1;

struct Node {
  Operation operation = Operation::constant;
  Distribution distribution{};  ///< distribution of a random number
  Primitive function{};         ///< function of a call
  int index = 0;                ///< index of a parameter or column; a unique number for a random number
  int num_arguments = 0;
  std::array<NodeId, kMostArguments> arguments{};
  std::vector<NodeId> elements;  ///< elements of a gather
  double value = 0;              ///< value of a constant
  Stage stage = kNothing;
};

/// Nodes in an order in which arguments precede the nodes that use them. Equal nodes are stored once, and
/// operations on constants are carried out.
class Graph {
 public:
  static constexpr std::size_t kMostNodes = 50'000;

  NodeId constant(double value);
  NodeId parameter(int index);
  NodeId column(int index);
  NodeId product_sum(int index);
  NodeId operate(Operation operation, std::span<const NodeId> arguments);
  NodeId call(Primitive function, std::span<const NodeId> arguments);
  NodeId gather(NodeId index, std::vector<NodeId> elements);
  /// A new random number, which differs from all other nodes.
  NodeId random(Distribution distribution, std::span<const NodeId> arguments);

  NodeId add(NodeId a, NodeId b) { return operate(Operation::add, std::array{a, b}); }
  NodeId multiply(NodeId a, NodeId b) { return operate(Operation::multiply, std::array{a, b}); }

  const Node& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return nodes_.size(); }
  bool is_constant(NodeId id) const { return (*this)[id].operation == Operation::constant; }
  /// Whether the graph has reached the largest number of nodes; node ids that are returned from then on have
  /// no meaning.
  bool is_full() const { return nodes_.size() >= kMostNodes; }

 private:
  NodeId insert(Node node);
  NodeId leaf(Operation operation, int index, Stage stage);
  /// Sets the arguments and the stage of a node; returns whether all arguments are constants.
  bool set_arguments(Node& node, std::span<const NodeId> arguments) const;
  /// Inserts the node, or its value if all arguments are constants.
  NodeId carried_out(Node node, std::span<const NodeId> arguments);

  std::vector<Node> nodes_;
  std::map<std::vector<long>, NodeId> known_;
};

/// Whether the elements of a gather are consecutive parameters.
bool is_run_of_parameters(const Graph& graph, const Node& gather);

/// The ids of all nodes on which `roots` depend, and of `roots`, in ascending order, so that arguments come
/// first.
std::vector<NodeId> needed_by(const Graph& graph, std::span<const NodeId> roots);

/// Evaluates the nodes `order`, which are ascending, into values[graph.size()]. Arguments that are not in
/// `order` must have been evaluated before. Random numbers need `random`.
void evaluate(const Graph& graph, std::span<const NodeId> order, const double* theta, const double* row,
              double* values, RandomBits* random = nullptr);

/// The graph of `root` for data in which some conditions have one value: choices whose condition is in
/// `decided` are replaced by the branch that is taken. `root` becomes the node of the new graph.
Graph with_choices_made(const Graph& graph, const std::map<NodeId, bool>& decided, NodeId& root);

}  // namespace emomc::expression
