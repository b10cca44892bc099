// The grammar of expressions. The operators, from the loosest to the tightest, bind as in Stan:
//
//   a || b    a && b    == !=    < <= > >=    + -    * /    - !    a ^ b (right to left)    a[i]
//
// An operand is a number, a name, a call f(a, b, ...), a list [a, b, ...], or an expression in parentheses.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emomc/likelihood/expression.hpp"

namespace emomc::expression {

/// A node of the syntax tree. An operator is a call whose name is the operator; the sign is "negate", the
/// negation "!".
struct Syntax {
  enum class Kind { number, name, call, index, list };
  Kind kind = Kind::number;
  std::string name;  ///< text of a name, or name of the called function
  double number = 0;
  std::size_t place = 0;      ///< position of the first letter or the operator, in bytes from the beginning
  int depth = 1;              ///< height of the tree
  std::vector<Syntax> parts;  ///< arguments, or array and index for Kind::index
};

/// Limits for one text, so that neither parsing nor lowering can take long.
inline constexpr std::size_t kLongestText = 16384;
inline constexpr int kDeepest = 100;   ///< nested parentheses, calls and signs
inline constexpr int kTallest = 1000;  ///< height of the tree, such as the number of terms of a sum

/// Parses an expression. Throws InputError with key, line and column.
Syntax parse(const ExpressionText& text);

/// Adds the names in a tree that are not yet in `names`.
void collect_names(const Syntax& syntax, std::vector<std::string>& names);

/// A definition `name(a, int b) = expression`.
struct Definition {
  struct Argument {
    std::string name;
    bool is_count = false;
  };
  std::string name;
  std::vector<Argument> arguments;
  Syntax body;
};
Definition parse_definition(const ExpressionText& text);

/// Throws InputError: "KEY, column C: what", with the line where the text has several.
[[noreturn]] void refuse(const ExpressionText& text, std::size_t place, const std::string& what);

/// Whether `text` is a letter or underscore, then letters, digits and underscores.
bool is_identifier(const std::string& text);

}  // namespace emomc::expression
