// Lowers functions of the language that make or use lists of numbers.
#include <array>
#include <limits>
#include <stdexcept>

#include "functions.hpp"
#include "lower.hpp"

namespace emomc::expression {

NodeId Lowering::total(const std::vector<NodeId>& nodes) {
  NodeId sum = nodes.front();
  for (std::size_t i = 1; i < nodes.size(); ++i) sum = graph_.add(sum, nodes[i]);
  return sum;
}

Value Lowering::log_sum_exp(const std::vector<NodeId>& terms) {
  if (terms.size() == 1) return {false, terms};
  const Primitive largest_of = primitive_named("fmax"), exp = primitive_named("exp"),
                  log = primitive_named("log");
  if (terms.size() == 2) return {false, {graph_.call(primitive_named("log_sum_exp"), terms)}};
  NodeId largest = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i)
    largest = graph_.call(largest_of, std::array{largest, terms[i]});
  // `largest` is infinite if all terms are minus infinity or one is plus infinity; then nothing is
  // subtracted.
  const NodeId infinity = graph_.constant(std::numeric_limits<double>::infinity());
  const NodeId is_infinite = graph_.operate(
      Operation::either,
      std::array{
          graph_.operate(Operation::equal, std::array{largest, infinity}),
          graph_.operate(Operation::equal,
                         std::array{largest, graph_.constant(-std::numeric_limits<double>::infinity())})});
  // The result does not depend on the number that is subtracted, so that derivatives take it as a constant.
  const NodeId off = graph_.operate(
      Operation::held,
      std::array{graph_.operate(Operation::choose, std::array{is_infinite, graph_.constant(0), largest})});
  NodeId sum = kNoNode;
  for (NodeId term : terms) {
    const NodeId power =
        graph_.call(exp, std::array{graph_.operate(Operation::subtract, std::array{term, off})});
    sum = sum == kNoNode ? power : graph_.add(sum, power);
  }
  return {false, {graph_.add(off, graph_.call(log, std::array{sum}))}};
}

Value Lowering::builtin(const Syntax& syntax, const Builtin& builtin, const std::vector<Value>& arguments) {
  const std::string& name = syntax.name;
  const std::size_t given = arguments.size();
  const auto need = [&](std::size_t wanted) {
    need_arguments(syntax, given, wanted, std::string(builtin.signature));
  };
  const auto list = [&](std::size_t i) { return need_list(syntax.parts[i], arguments[i], name); };
  const auto number = [&](std::size_t i) { return need_number(syntax.parts[i], arguments[i], name); };
  const auto constant = [&](double value) {
    need(0);
    return Value{false, {graph_.constant(value)}};
  };
  if (name == "pi") return constant(3.14159265358979323846);
  if (name == "e") return constant(2.71828182845904523536);
  if (name == "positive_infinity") return constant(std::numeric_limits<double>::infinity());
  if (name == "negative_infinity") return constant(-std::numeric_limits<double>::infinity());
  if (name == "not_a_number") return constant(std::numeric_limits<double>::quiet_NaN());
  if (name == "machine_precision") return constant(std::numeric_limits<double>::epsilon());
  if (name == "if_else") {
    need(3);
    return by_element(syntax, Operation::choose, arguments);
  }
  if (name == "sum" || name == "mean") {
    need(1);
    const NodeId sum = total(list(0));
    if (name == "sum") return {false, {sum}};
    return {
        false,
        {graph_.operate(Operation::divide,
                        std::array{sum, graph_.constant(static_cast<double>(arguments[0].nodes.size()))})}};
  }
  if (name == "size") {
    need(1);
    return {false, {graph_.constant(static_cast<double>(list(0).size()))}};
  }
  if (name == "max" || name == "min") {
    need(1);
    const Primitive pick = primitive_named(name == "max" ? "fmax" : "fmin");
    NodeId best = list(0).front();
    for (NodeId node : list(0)) best = graph_.call(pick, std::array{best, node});
    return {false, {best}};
  }
  if (name == "dot_product") {
    need(2);
    list(0);
    list(1);
    return {false, {total(by_element(syntax, Operation::multiply, arguments).nodes)}};
  }
  if (name == "log_sum_exp") {
    if (given == 2 && !arguments[0].is_list && !arguments[1].is_list)
      return log_sum_exp({number(0), number(1)});
    need(1);
    return log_sum_exp(list(0));
  }
  if (name == "log_softmax") {
    need(1);
    const Value all = log_sum_exp(list(0));
    return by_element(syntax, Operation::subtract, {arguments[0], all});
  }
  const Primitive log = primitive_named("log");
  if (name == "log_mix" && given == 2) {
    list(0);
    list(1);
    const Value weights = primitive(syntax, log, {arguments[0]});
    return log_sum_exp(by_element(syntax, Operation::add, {weights, arguments[1]}).nodes);
  }
  if (name == "log_mix") {
    need(3);
    const Value first = primitive(syntax, log, {arguments[0]});
    const Value second = primitive(syntax, primitive_named("log1m"), {arguments[0]});
    return primitive(syntax, primitive_named("log_sum_exp"),
                     {by_element(syntax, Operation::add, {first, arguments[1]}),
                      by_element(syntax, Operation::add, {second, arguments[2]})});
  }
  return name.ends_with("_rng") ? category_rng(syntax, builtin, arguments)
                                : category_lpmf(syntax, builtin, arguments);
}

Value Lowering::category_rng(const Syntax& syntax, const Builtin& builtin,
                             const std::vector<Value>& arguments) {
  const std::string& name = syntax.name;
  const auto need = [&](std::size_t wanted) {
    need_arguments(syntax, arguments.size(), wanted, std::string(builtin.signature));
  };
  const auto list = [&](std::size_t i) { return need_list(syntax.parts[i], arguments[i], syntax.name); };
  const auto number = [&](std::size_t i) { return need_number(syntax.parts[i], arguments[i], syntax.name); };
  // The draw is the number of steps of the cumulative probabilities that are below a uniform number.
  if (!random_) refuse(syntax, name + " draws a random number; allowed only under likelihood.simulate");
  need(name == "ordered_logistic_rng" ? 2 : 1);
  const NodeId uniform =
      graph_.random(Distribution::uniform_, std::array{graph_.constant(0), graph_.constant(1)});
  const auto one_of = [&](const char* function, NodeId argument) {
    return graph_.call(primitive_named(function), std::array{argument});
  };
  const auto difference_of = [&](NodeId a, NodeId b) {
    return graph_.operate(Operation::subtract, std::array{a, b});
  };
  std::vector<NodeId> steps;
  if (name == "ordered_logistic_rng") {
    for (NodeId cut : list(1))  // P(y > k) = inv_logit(eta - c[k])
      steps.push_back(graph_.operate(
          Operation::less, std::array{uniform, one_of("inv_logit", difference_of(number(0), cut))}));
    return {false, {total(steps)}};
  }
  std::vector<NodeId> weights = list(0);
  if (name == "categorical_logit_rng") {
    const NodeId all = log_sum_exp(weights).nodes.front();
    for (NodeId& weight : weights) weight = one_of("exp", difference_of(weight, all));
  }
  NodeId cumulated = graph_.constant(0);
  for (std::size_t k = 0; k + 1 < weights.size(); ++k) {
    cumulated = graph_.add(cumulated, weights[k]);
    steps.push_back(graph_.operate(Operation::less, std::array{cumulated, uniform}));
  }
  return {false, {steps.empty() ? graph_.constant(0) : total(steps)}};
}

Value Lowering::category_lpmf(const Syntax& syntax, const Builtin& builtin,
                              const std::vector<Value>& arguments) {
  const auto need = [&](std::size_t wanted) {
    need_arguments(syntax, arguments.size(), wanted, std::string(builtin.signature));
  };
  const auto list = [&](std::size_t i) { return need_list(syntax.parts[i], arguments[i], syntax.name); };
  const auto number = [&](std::size_t i) { return need_number(syntax.parts[i], arguments[i], syntax.name); };
  const std::string& name = syntax.name;
  const std::string of = name + " takes a category from 0 to ";
  if (name == "categorical_lpmf" || name == "categorical_logit_lpmf") {
    need(2);
    const std::string what = of + std::to_string(list(1).size() - 1);
    const NodeId chosen = gather(syntax.parts[0], arguments[1], number(0), what).nodes.front();
    if (name == "categorical_lpmf") return {false, {graph_.call(primitive_named("log"), std::array{chosen})}};
    return {false,
            {graph_.operate(Operation::subtract, std::array{chosen, log_sum_exp(list(1)).nodes.front()})}};
  }
  if (name == "ordered_logistic_lpmf") {
    // log(F(eta - c[y - 1]) - F(eta - c[y])), where the cuts before the first and after the last are
    // infinite.
    need(3);
    const std::vector<NodeId>& cuts = list(2);
    const Primitive upper = primitive_named("log_inv_logit"), lower_tail = primitive_named("log1m_inv_logit"),
                    difference = primitive_named("log_diff_exp");
    const NodeId eta = number(1);
    const auto from = [&](std::size_t cut) {
      return graph_.operate(Operation::subtract, std::array{eta, cuts[cut]});
    };
    Value categories{true, {}};
    categories.nodes.push_back(graph_.call(lower_tail, std::array{from(0)}));
    for (std::size_t k = 1; k < cuts.size(); ++k)
      categories.nodes.push_back(graph_.call(
          difference,
          std::array{graph_.call(upper, std::array{from(k - 1)}), graph_.call(upper, std::array{from(k)})}));
    categories.nodes.push_back(graph_.call(upper, std::array{from(cuts.size() - 1)}));
    return gather(syntax.parts[0], categories, number(0), of + std::to_string(cuts.size()));
  }
  throw std::logic_error("builtin without a meaning: " + name);
}

}  // namespace emomc::expression
