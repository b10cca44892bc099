// Lowers a likelihood's expressions to nodes of one graph.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "functions.hpp"
#include "graph.hpp"
#include "syntax.hpp"

namespace emomc::expression {

/// A number, or a list of numbers.
struct Value {
  bool is_list = false;
  std::vector<NodeId> nodes;  ///< one node, or a node for each number of the list
};

/// A value that depends on data alone and must be a whole number in each row.
struct IntegerUse {
  NodeId node = kNoNode;  ///< node of stage kData
  int size = 0;           ///< for an index, 0 to size - 1 are allowed; 0: any count from 0
  std::string what;       ///< text for messages: "poisson_lpmf needs a count" or "an index of alpha [50]"
  std::string where;      ///< place for messages: "likelihood.log_density, column 8"
};

/// The names that expressions may use, and the values to which they have been lowered so far.
class Lowering {
 public:
  /// `columns` are the columns of the data; the column that is used first becomes Graph::column(0), and so
  /// on. Columns in `reals` and `standardized` must not be used as whole numbers.
  Lowering(Graph& graph, std::vector<std::string> columns, std::vector<std::string> reals = {},
           std::vector<std::string> standardized = {});

  /// Declares a name. Throws InputError where the name is no identifier or is declared already; `key` is the
  /// configuration key of the declaration.
  void declare(const std::string& name, const std::string& key, Value value, const char* kind);

  /// Lowers an expression. Throws InputError.
  Value lower(const ExpressionText& text);
  /// Lowers an expression of one number. Throws InputError.
  NodeId lower_number(const ExpressionText& text);

  /// The bodies of definitions that are lowered after this call may use `all` too, which must outlive the
  /// object.
  void add_definitions(const std::map<std::string, Definition>& all) { more_definitions_ = &all; }
  /// Lowers the body of a definition with these arguments, each of which is a number.
  NodeId expand(const Definition& definition, const std::vector<NodeId>& arguments);

  /// Expressions that are lowered after this call may draw random numbers.
  void allow_random() { random_ = true; }
  /// In expressions that are lowered after this call, the column stands for the simulated value.
  void simulate_column(const std::string& name, NodeId value) { simulated_[name] = value; }

  const std::vector<IntegerUse>& integers() const { return integers_; }
  /// Indices into `columns` of the used columns, in the order of Graph::column().
  const std::vector<std::size_t>& used_columns() const { return used_; }
  NodeId use_column(const std::string& name, const std::string& key);

 private:
  struct Symbol {
    Value value;
    std::string kind;
  };
  using Scope = std::map<std::string, Value>;

  Value lower(const Syntax& syntax, const Scope* arguments);
  Value name(const Syntax& syntax, const Scope* arguments);
  Value index(const Syntax& syntax, const Scope* arguments);
  Value call(const Syntax& syntax, const Scope* arguments);
  Value operation(const Syntax& syntax, const std::vector<Value>& arguments);
  Value by_element(const Syntax& syntax, Operation operation, const std::vector<Value>& arguments);
  Value primitive(const Syntax& syntax, Primitive function, const std::vector<Value>& arguments);
  Value random(const Syntax& syntax, const std::vector<Value>& arguments);
  Value defined(const Syntax& syntax, const Definition& definition, const std::vector<Value>& arguments);
  template <class F>
  Value broadcast(const Syntax& syntax, const std::vector<Value>& arguments, const F& apply);
  Value builtin(const Syntax& syntax, const Builtin& builtin, const std::vector<Value>& arguments);
  Value category_rng(const Syntax& syntax, const Builtin& builtin, const std::vector<Value>& arguments);
  Value category_lpmf(const Syntax& syntax, const Builtin& builtin, const std::vector<Value>& arguments);
  Value log_sum_exp(const std::vector<NodeId>& terms);
  NodeId total(const std::vector<NodeId>& nodes);
  Value gather(const Syntax& syntax, const Value& array, NodeId index, const std::string& what);

  NodeId column(std::size_t j);
  void need_count(const Syntax& syntax, NodeId node, int size, const std::string& what);
  bool is_integer(NodeId node) const;
  /// The name of a node that is a column; empty for other nodes.
  std::string column_name(NodeId node) const;
  /// Why a column must not be used as whole numbers; empty if it may be, or if the node is no column.
  std::string why_real(NodeId node) const;
  void need_arguments(const Syntax& syntax, std::size_t given, std::size_t wanted,
                      const std::string& signature);
  const std::vector<NodeId>& need_list(const Syntax& syntax, const Value& value, const std::string& what);
  NodeId need_number(const Syntax& syntax, const Value& value, const std::string& what);
  [[noreturn]] void refuse(const Syntax& syntax, const std::string& what) const;
  std::string where(const Syntax& syntax) const;
  std::vector<std::string> known_names() const;
  std::string rename_hint(const std::string& name) const;
  void check_size(const Syntax& syntax) const;

  Graph& graph_;
  std::vector<std::string> columns_, reals_, standardized_;
  std::vector<std::size_t> used_;
  std::map<std::string, Symbol> symbols_;
  std::map<std::string, NodeId> simulated_;
  bool random_ = false;
  const std::map<std::string, Definition>* more_definitions_ = nullptr;
  std::vector<IntegerUse> integers_;
  const ExpressionText* text_ = nullptr;
  const Syntax* blamed_ = nullptr;  ///< the user's call, while a definition of the language is expanded
};

}  // namespace emomc::expression
