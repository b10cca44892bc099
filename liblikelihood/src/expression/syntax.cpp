#include "syntax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"

namespace emomc::expression {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Token {
  enum class Kind { number, name, mark, end };
  Kind kind = Kind::end;
  std::string_view text;
  double number = 0;
  std::size_t place = 0;
};

/// How tightly a binary operator binds the left and the right operand.
struct Binding {
  std::string_view mark;
  int left, right;
};
constexpr std::array<Binding, 13> kBinary{{{"||", 1, 2},
                                           {"&&", 3, 4},
                                           {"==", 5, 6},
                                           {"!=", 5, 6},
                                           {"<", 7, 8},
                                           {"<=", 7, 8},
                                           {">", 7, 8},
                                           {">=", 7, 8},
                                           {"+", 9, 10},
                                           {"-", 9, 10},
                                           {"*", 11, 12},
                                           {"/", 11, 12},
                                           {"^", 16, 15}}};
constexpr int kSign = 13;  // operand of a sign or a negation: looser than ^, tighter than *

class Parser {
 public:
  explicit Parser(const ExpressionText& text) : text_(text) {
    if (text.text.size() > kLongestText)
      refuse(0,
             std::to_string(text.text.size()) + " bytes; allowed: at most " + std::to_string(kLongestText));
    next();
  }

  Syntax whole() {
    if (token_.kind == Token::Kind::end) refuse(token_.place, "empty; an expression is expected");
    Syntax result = expression(0);
    if (token_.kind != Token::Kind::end)
      refuse(token_.place, "unexpected " + found() + " after the expression");
    return result;
  }

  Definition definition() {
    Definition result;
    result.name = name();
    expect("(");
    if (!is("))")) do {
        std::string first = name();
        const bool is_count = first == "int" && token_.kind == Token::Kind::name;
        result.arguments.push_back({is_count ? name() : std::move(first), is_count});
      } while (accept(","));
    expect(")");
    expect("=");
    result.body = whole();
    return result;
  }

 private:
  [[noreturn]] void refuse(std::size_t place, const std::string& what) const {
    expression::refuse(text_, place, what);
  }

  std::string found() const {
    if (token_.kind == Token::Kind::end) return "end";
    return "\"" + std::string(token_.text) + "\"";
  }

  void next() {
    const std::string_view all = text_.text;
    while (at_ < all.size() && (all[at_] == ' ' || all[at_] == '\t' || all[at_] == '\n' || all[at_] == '\r'))
      ++at_;
    token_ = {Token::Kind::end, {}, 0, at_};
    if (at_ == all.size()) return;
    const char c = all[at_];
    if (is_letter(c)) {
      std::size_t end = at_;
      while (end < all.size() && (is_letter(all[end]) || is_digit(all[end]))) ++end;
      take(Token::Kind::name, end);
    } else if (is_digit(c) || (c == '.' && at_ + 1 < all.size() && is_digit(all[at_ + 1]))) {
      take_number();
    } else {
      static constexpr std::array<std::string_view, 6> kLong{"||", "&&", "==", "!=", "<=", ">="};
      const std::string_view two = all.substr(at_, 2);
      if (std::find(kLong.begin(), kLong.end(), two) != kLong.end())
        take(Token::Kind::mark, at_ + 2);
      else if (std::string_view("+-*/^<>!()[],=").find(c) != std::string_view::npos)
        take(Token::Kind::mark, at_ + 1);
      else
        refuse_letter();
    }
  }
  void take(Token::Kind kind, std::size_t end) {
    token_.kind = kind;
    token_.text = std::string_view(text_.text).substr(at_, end - at_);
    at_ = end;
  }
  void take_number() {
    const char* begin = text_.text.data() + at_;
    const char* end = text_.text.data() + text_.text.size();
    double value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range)
      refuse(at_, "the number does not fit float64; allowed: sizes from 1e-307 to 1e308");
    if (error != std::errc{}) refuse(at_, "this is no number");
    take(Token::Kind::number, static_cast<std::size_t>(stop - text_.text.data()));
    if (at_ < text_.text.size() && (is_letter(text_.text[at_]) || text_.text[at_] == '.'))
      refuse(at_, "a number ends here; write * between a number and a name");
    token_.number = value;
  }
  [[noreturn]] void refuse_letter() const {
    const std::string_view all = text_.text;
    std::size_t end = at_ + 1;
    while (end < all.size() && (static_cast<unsigned char>(all[end]) & 0xc0U) == 0x80U) ++end;
    const std::string letter(all.substr(at_, end - at_));
    const auto code = static_cast<unsigned char>(letter[0]);
    const bool shown = code >= 0x20 && code != 0x7f && is_utf8(letter);
    const std::string what = shown ? "\"" + letter + "\"" : "the byte " + std::to_string(code);
    std::string help;
    if (letter == "?" || letter == ":") help = "; a choice is written if_else(condition, a, b)";
    if (letter == "|") help = "; arguments are separated by commas, and \"or\" is ||";
    if (letter == "&") help = "; \"and\" is &&";
    if (letter == "%") help = "; the rest of a division is fmod(a, b)";
    if (letter == "'" || letter == "\"")
      help = "; there are no texts in expressions: data.categories maps names to numbers";
    refuse(at_, what + " has no meaning here" + help);
  }

  Syntax made(Syntax::Kind kind, std::string name, std::size_t place, std::vector<Syntax> parts) const {
    Syntax result{kind, std::move(name), 0, place, 1, std::move(parts)};
    for (const Syntax& part : result.parts) result.depth = std::max(result.depth, part.depth + 1);
    if (result.depth > kTallest)
      refuse(place, "more than " + std::to_string(kTallest) +
                        " operations, each on the result of the one before; name a part of it under "
                        "likelihood.where");
    return result;
  }

  bool is(std::string_view mark) const { return token_.kind == Token::Kind::mark && token_.text == mark; }
  bool accept(std::string_view mark) {
    if (!is(mark)) return false;
    next();
    return true;
  }
  void expect(std::string_view mark) {
    if (accept(mark)) return;
    refuse(token_.place, "\"" + std::string(mark) + "\" is expected, not " + found());
  }
  std::string name() {
    if (token_.kind != Token::Kind::name) refuse(token_.place, "a name is expected, not " + found());
    std::string result(token_.text);
    next();
    return result;
  }

  /// An expression whose binary operators bind at least as tightly as `least`.
  Syntax expression(int least) {
    if (++depth_ > kDeepest)
      refuse(token_.place, "nested more than " + std::to_string(kDeepest) +
                               " deep; name a part of it under likelihood.where");
    Syntax left = operand();
    for (const Binding* op = binary(least); op != nullptr; op = binary(least)) {
      const std::size_t place = token_.place;
      next();
      if (is("=")) refuse(token_.place, "\"=\" has no meaning here");
      Syntax right = expression(op->right);
      std::vector<Syntax> both;
      both.push_back(std::move(left));
      both.push_back(std::move(right));
      left = made(Syntax::Kind::call, std::string(op->mark), place, std::move(both));
    }
    --depth_;
    return left;
  }
  const Binding* binary(int least) const {
    if (token_.kind != Token::Kind::mark) return nullptr;
    for (const Binding& op : kBinary)
      if (op.mark == token_.text) return op.left >= least ? &op : nullptr;
    if (token_.text == "=") refuse(token_.place, "\"=\" has no meaning here; equality is ==");
    return nullptr;
  }

  Syntax operand() {
    const std::size_t place = token_.place;
    if (accept("-")) return made(Syntax::Kind::call, "negate", place, {expression(kSign)});
    if (accept("+")) return expression(kSign);
    if (accept("!")) return made(Syntax::Kind::call, "!", place, {expression(kSign)});
    Syntax result = primary();
    while (is("[")) {
      const std::size_t bracket = token_.place;
      next();
      std::vector<Syntax> both;
      both.push_back(std::move(result));
      both.push_back(expression(0));
      expect("]");
      result = made(Syntax::Kind::index, {}, bracket, std::move(both));
    }
    return result;
  }

  Syntax primary() {
    const Token token = token_;
    if (token.kind == Token::Kind::number) {
      next();
      Syntax result = made(Syntax::Kind::number, {}, token.place, {});
      result.number = token.number;
      return result;
    }
    if (token.kind == Token::Kind::name) {
      next();
      if (!accept("(")) return made(Syntax::Kind::name, std::string(token.text), token.place, {});
      return made(Syntax::Kind::call, std::string(token.text), token.place, list(")"));
    }
    if (accept("[")) return made(Syntax::Kind::list, {}, token.place, list("]"));
    if (!accept("(")) refuse(token.place, "a number, a name or \"(\" is expected, not " + found());
    Syntax result = expression(0);
    expect(")");
    return result;
  }

  std::vector<Syntax> list(std::string_view end) {
    std::vector<Syntax> items;
    if (accept(end)) return items;
    do items.push_back(expression(0));
    while (accept(","));
    if (!is(end)) refuse(token_.place, "\",\" or \"" + std::string(end) + "\" is expected, not " + found());
    next();
    return items;
  }

  const ExpressionText& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Token token_;
};

}  // namespace

void refuse(const ExpressionText& text, std::size_t place, const std::string& what) {
  const std::string_view before = std::string_view(text.text).substr(0, std::min(place, text.text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  // Columns count letters, not bytes, as editors do.
  const auto column =
      1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(begin), before.end(),
                        [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
  const bool one_line = text.text.find('\n') >= text.text.size() - (text.text.empty() ? 0 : 1);
  throw InputError(text.key + ", " + (one_line ? "" : "line " + std::to_string(line) + ", ") + "column " +
                   std::to_string(column) + ": " + what);
}

bool is_identifier(const std::string& text) {
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

void collect_names(const Syntax& syntax, std::vector<std::string>& names) {
  if (syntax.kind == Syntax::Kind::name && std::find(names.begin(), names.end(), syntax.name) == names.end())
    names.push_back(syntax.name);
  for (const Syntax& part : syntax.parts) collect_names(part, names);
}

Syntax parse(const ExpressionText& text) { return Parser(text).whole(); }
Definition parse_definition(const ExpressionText& text) { return Parser(text).definition(); }

}  // namespace emomc::expression
