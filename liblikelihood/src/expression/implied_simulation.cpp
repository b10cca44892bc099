// Derives how columns are drawn from the log density of a row, if that is a sum of densities of columns.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emomc/core/errors.hpp"
#include "functions.hpp"
#include "syntax.hpp"

namespace emomc {
namespace {

using namespace expression;

/// The texts of the arguments of a call, or of the items of a list, behind the first bracket from `place` on
/// in a text that has been parsed.
std::vector<std::string> items_at(const std::string& text, std::size_t place) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (std::size_t at = text.find_first_of("([", place) + 1; at < text.size(); ++at) {
    const char c = text[at];
    const bool opens = c == '(' || c == '[', closes = c == ')' || c == ']';
    if (depth == 0 && closes) return items;
    depth += opens ? 1 : closes ? -1 : 0;
    if (depth == 0 && c == ',')
      items.emplace_back();
    else
      items.back() += c;
  }
  throw std::logic_error("a bracket that is not closed: " + text);
}

class ImpliedSimulation {
 public:
  explicit ImpliedSimulation(const ExpressionSpec& spec) : spec_(spec), columns_(names_of_columns(spec)) {
    const Expression without_faults(spec, columns_);
    add_terms(parse(spec.log_density), spec.log_density);
    put_in_order();
  }

  std::vector<NamedExpression> take() { return std::move(drawn_); }

 private:
  [[noreturn]] static void refuse(const ExpressionText& text, std::size_t place, const std::string& why) {
    expression::refuse(text, place,
                       "how columns are drawn does not follow from this, which is " + why +
                           "; state it by simulate, as in simulate: {y: \"poisson_log_rng(eta)\"}");
  }

  const ExpressionText* named(const Syntax& syntax) const {
    if (syntax.kind != Syntax::Kind::name) return nullptr;
    for (const NamedExpression& binding : spec_.where)
      if (binding.name == syntax.name) return &binding.value;
    return nullptr;
  }

  void add_terms(const Syntax& term, const ExpressionText& text) {
    if (const ExpressionText* const value = named(term)) return add_terms(parse(*value), *value);
    if (term.kind == Syntax::Kind::call && term.name == "+") {
      for (const Syntax& part : term.parts) add_terms(part, text);
      return;
    }
    NamedExpression drawn = draw_of(term, text);
    for (const NamedExpression& other : drawn_)
      if (other.name == drawn.name) refuse(text, term.place, "another density of column " + drawn.name);
    drawn_.push_back(std::move(drawn));
  }

  NamedExpression draw_of(const Syntax& term, const ExpressionText& text) const {
    if (const ExpressionText* const value = named(term)) return draw_of(parse(*value), *value);
    const bool is_call = term.kind == Syntax::Kind::call;
    if (is_call && term.name == "log_mix") return draw_of_mixture(term, text);
    if (!is_call || !(term.name.ends_with("_lpdf") || term.name.ends_with("_lpmf")))
      refuse(text, term.place, "no density (NAME_lpdf, NAME_lpmf, or log_mix of such)");
    const Syntax& variable = term.parts.at(0);
    if (variable.kind != Syntax::Kind::name ||
        std::find(columns_.begin(), columns_.end(), variable.name) == columns_.end())
      refuse(text, term.place, "no density of a column of the data");
    const std::string family = term.name.substr(0, term.name.rfind('_'));
    if (family == "std_normal") return {variable.name, {text.key, "normal_rng(0, 1)"}};
    const std::string random = family + "_rng";
    if (!is_function(random)) refuse(text, term.place, "a density without a function " + random);
    const std::vector<std::string> arguments = items_at(text.text, term.place);
    std::string draw = random + "(";
    for (std::size_t i = 1; i < arguments.size(); ++i) draw += (i > 1 ? "," : "") + arguments[i];
    return {variable.name, {text.key, draw + ")"}};
  }

  /// log_mix(p, a, b), or log_mix(weights, [a, b, ...]), whose components are chosen one after the other.
  NamedExpression draw_of_mixture(const Syntax& term, const ExpressionText& text) const {
    const std::string weights = "(" + items_at(text.text, term.place).at(0) + ")";
    const bool is_list = term.parts.size() == 2 && term.parts[1].kind == Syntax::Kind::list;
    if (!is_list && term.parts.size() != 3)
      refuse(text, term.place, "a mixture whose components are not written one by one");
    std::vector<NamedExpression> drawn;
    for (std::size_t i = is_list ? 0 : 1; i < (is_list ? term.parts[1] : term).parts.size(); ++i)
      drawn.push_back(draw_of((is_list ? term.parts[1] : term).parts[i], text));
    for (const NamedExpression& component : drawn)
      if (component.name != drawn[0].name)
        refuse(text, term.place, "a mixture of densities of different columns");
    std::string rest, draw = drawn.back().value.text;
    const auto weight = [&](std::size_t k) { return weights + "[" + std::to_string(k) + "]"; };
    for (std::size_t k = drawn.size() - 1; k-- > 0;) {
      rest = (rest.empty() ? weight(k + 1) : rest) + "+" + weight(k);
      const std::string chosen = is_list ? weight(k) + "/(" + rest + ")" : weights;
      draw = "if_else(bernoulli_rng(" + chosen + ")==1," + drawn[k].value.text + "," + draw + ")";
    }
    return {drawn[0].name, {text.key, draw}};
  }

  /// Reorders columns so that a column on which others depend is drawn before them.
  void put_in_order() {
    std::vector<NamedExpression> ordered;
    while (!drawn_.empty()) {
      const auto waits = [&](const NamedExpression& column) {
        std::vector<std::string> names;
        collect_names(parse(column.value), names);
        return std::any_of(drawn_.begin(), drawn_.end(), [&](const NamedExpression& other) {
          return std::find(names.begin(), names.end(), other.name) != names.end();
        });
      };
      const auto next = std::find_if_not(drawn_.begin(), drawn_.end(), waits);
      if (next == drawn_.end())
        refuse(spec_.log_density, 0, "a density of columns that each depend on the others, or on themselves");
      ordered.push_back(std::move(*next));
      drawn_.erase(next);
    }
    drawn_ = std::move(ordered);
  }

  const ExpressionSpec& spec_;
  std::vector<std::string> columns_;
  std::vector<NamedExpression> drawn_;
};

}  // namespace

ExpressionSpec with_simulation(ExpressionSpec spec) {
  if (!spec.simulate.empty()) return spec;
  const auto refuse = [](const std::string& key, const std::string& why) {
    throw InputError(key + ": how columns are drawn does not follow from " + why +
                     "; state it by simulate, as in simulate: {y: \"poisson_log_rng(eta)\"}");
  };
  if (spec.code.function != nullptr) refuse(spec.code.key, "a compiled function");
  if (!spec.code.file.empty()) refuse(spec.code.key, "a header");
  if (!spec.weights.empty())
    refuse(spec.log_density.key, "a density that is weighted by column " + spec.weights);
  spec.simulate = ImpliedSimulation(spec).take();
  return spec;
}

}  // namespace emomc
