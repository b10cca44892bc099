// A likelihood as scalar operations without cycles: what parsing and lowering end in, and what the
// interpreter evaluates and the code generator writes.
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

/// What a value depends on; a set of bits.
using Stage = unsigned;
inline constexpr Stage kNothing = 0, kData = 1, kParameters = 2, kRandom = 4;

using NodeId = int;
inline constexpr NodeId kNoNode = -1;

struct Node {
  Operation operation = Operation::constant;
  Distribution distribution{};  ///< of a random number
  Primitive function{};         ///< of a call
  int index = 0;                ///< of a parameter or column; of a random number one of its own
  int num_arguments = 0;
  std::array<NodeId, kMostArguments> arguments{};
  std::vector<NodeId> elements;  ///< of a gather
  double value = 0;              ///< of a constant
  Stage stage = kNothing;
};

/// Nodes whose arguments all come before them. Equal nodes are one; operations on constants are carried out.
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
  /// A new random number, which no other node equals.
  NodeId random(Distribution distribution, std::span<const NodeId> arguments);

  NodeId add(NodeId a, NodeId b) { return operate(Operation::add, std::array{a, b}); }
  NodeId multiply(NodeId a, NodeId b) { return operate(Operation::multiply, std::array{a, b}); }

  const Node& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return nodes_.size(); }
  bool is_constant(NodeId id) const { return (*this)[id].operation == Operation::constant; }
  /// Whether more nodes than allowed were asked for; what is returned from then on is of no use.
  bool is_full() const { return nodes_.size() >= kMostNodes; }

 private:
  NodeId insert(Node node);
  NodeId leaf(Operation operation, int index, Stage stage);
  /// Whether all arguments are constants.
  bool set_arguments(Node& node, std::span<const NodeId> arguments) const;
  /// Inserts the node, or its value where all arguments are constants.
  NodeId carried_out(Node node, std::span<const NodeId> arguments);

  std::vector<Node> nodes_;
  std::map<std::vector<long>, NodeId> known_;
};

/// Whether the elements of a gather are parameters one after the other.
bool is_run_of_parameters(const Graph& graph, const Node& gather);

/// The ids of all nodes that `roots` need, ascending, so that arguments come first.
std::vector<NodeId> needed_by(const Graph& graph, std::span<const NodeId> roots);

/// Evaluates the nodes `order`, ascending, into values[graph.size()]; their arguments that are not in `order`
/// are there already. Random numbers need `random`.
void evaluate(const Graph& graph, std::span<const NodeId> order, const double* theta, const double* row,
              double* values, RandomBits* random = nullptr);

/// The graph of `root` for data in which some conditions have one value: choices whose condition is among
/// `decided` are replaced by the branch that they take. `root` becomes the node of the new graph.
Graph with_choices_made(const Graph& graph, const std::map<NodeId, bool>& decided, NodeId& root);

}  // namespace emomc::expression
