// From names to nodes: a likelihood's expressions become one graph.
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
  std::vector<NodeId> nodes;  ///< one, or as many as the list has
};

/// A part of the data that has to be whole numbers.
struct IntegerUse {
  NodeId node = kNoNode;  ///< of stage kData
  int size = 0;           ///< of an index: 0 to size - 1 are allowed; 0: any count from 0
  std::string what;       ///< "poisson_lpmf needs a count" or "an index of alpha [50]"
  std::string where;      ///< "likelihood.log_density, column 8"
};

/// The names that expressions may use, and what they have become so far.
class Lowering {
 public:
  /// `columns` are those that the data have; the one that is used first becomes Graph::column(0), and so on.
  /// Those of `reals` and `standardized` may not be used as whole numbers.
  Lowering(Graph& graph, std::vector<std::string> columns, std::vector<std::string> reals = {},
           std::vector<std::string> standardized = {});

  /// Throws InputError where the name is no identifier, or known already; `key` is where it is declared.
  void declare(const std::string& name, const std::string& key, Value value, const char* kind);

  /// Throws InputError.
  Value lower(const ExpressionText& text);
  /// The same, where one number is needed.
  NodeId lower_number(const ExpressionText& text);

  /// From here on the bodies of definitions may call these too. `all` outlives the lowering.
  void add_definitions(const std::map<std::string, Definition>& all) { more_definitions_ = &all; }
  /// The body of a definition with these arguments, each a number.
  NodeId expand(const Definition& definition, const std::vector<NodeId>& arguments);

  /// From here on expressions may draw random numbers.
  void allow_random() { random_ = true; }
  /// From here on the column is the value that has been simulated.
  void simulate_column(const std::string& name, NodeId value) { simulated_[name] = value; }

  const std::vector<IntegerUse>& integers() const { return integers_; }
  /// Indices into `columns`, in the order of Graph::column.
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
  /// The name of a node that is a column; empty of others.
  std::string column_name(NodeId node) const;
  /// Why a node that is a column of the user's is not taken for whole numbers; empty: it may be.
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
