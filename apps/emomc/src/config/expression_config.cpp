#include "expression_config.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <regex>
#include <span>
#include <stdexcept>
#include <utility>

#include "column_keys.hpp"
#include "yaml_parts.hpp"

namespace emomc::app {
namespace {

constexpr int kLongestParameter = 8192;
const std::array<std::string, 2> kOrders{"increasing", "decreasing"};
const std::array<std::string, 5> kSupports{"real", "positive", "unit_interval", "simplex", "circular"};

Support support_of(const std::string& name) {
  return name == "positive"        ? Support::positive
         : name == "unit_interval" ? Support::unit_interval
         : name == "simplex"       ? Support::simplex
         : name == "circular"      ? Support::circular
                                   : Support::real;
}

/// A number is an expression too.
ExpressionText expression_at(const YamlValue& value) {
  if (value.node().kind != YamlNode::Kind::scalar) value.refuse_type("an expression in quotes");
  return {place_of(value), value.node().scalar};
}

ExpressionParameter read_parameter(const std::string& name, const YamlValue& value) {
  static const std::array<std::string, 3> kKeys{"support", "shape", "order"};
  ExpressionParameter parameter{name, place_of(value), Support::real, {}, ListOrder::none};
  const YamlNode& node = value.node();
  if (node.kind == YamlNode::Kind::null) return parameter;
  if (node.kind != YamlNode::Kind::map)
    value.refuse_type("a map such as {}, {support: positive} or {support: positive, shape: [2]}");
  refuse_other_keys(value, kKeys);
  if (const YamlNode* support = node.find("support"))
    parameter.support = support_of(YamlValue(*support, value.key() + ".support").choice(kSupports));
  if (const YamlNode* shape = node.find("shape")) {
    const YamlValue at(*shape, value.key() + ".shape");
    const bool is_list = shape->kind == YamlNode::Kind::list;
    if (is_list && shape->items.size() != 1) at.refuse_type("a list of one length, such as [2]");
    const YamlValue length(is_list ? shape->items[0] : *shape, at.key());
    parameter.shape = {static_cast<int>(length.integer(1, kLongestParameter))};
  }
  if (const YamlNode* order = node.find("order")) {
    const YamlValue at(*order, value.key() + ".order");
    const bool increases = at.choice(kOrders) == kOrders[0];
    parameter.order = increases ? ListOrder::increasing : ListOrder::decreasing;
    if (parameter.support == Support::simplex || parameter.support == Support::circular ||
        parameter.shape.empty())
      at.refuse(
          "an order is of a list whose support is real, positive or unit_interval; write its length, as in "
          "{shape: [3], order: " +
          (increases ? kOrders[0] : kOrders[1]) + "}, or remove this key");
  }
  if (parameter.support == Support::simplex && (parameter.shape.empty() || parameter.shape[0] < 2))
    value.refuse(
        "a simplex is a list of weights that sum to 1; write its length, as in {support: simplex, shape: "
        "[3]}");
  return parameter;
}

LinearPredictor read_linear(const std::string& name, const YamlValue& value) {
  static const std::array<std::string, 4> kKeys{"intercept", "columns", "coefficients", "offset"};
  LinearPredictor linear;
  linear.name = name;
  linear.key = place_of(value);
  const YamlNode& node = value.node();
  if (node.kind != YamlNode::Kind::map)
    value.refuse_type("a map such as {intercept: a, columns: [x1, x2], coefficients: b}");
  refuse_other_keys(value, kKeys);
  const auto at = [&](const char* key) { return YamlValue(*node.find(key), value.key() + "." + key); };
  for (const char* key : {"columns", "coefficients"})
    if (node.find(key) == nullptr)
      value.refuse(std::string(key) +
                   " is missing; write {intercept: a, columns: [x1, x2], coefficients: b}");
  if (node.find("intercept") != nullptr) linear.intercept = at("intercept").text("the name of a parameter");
  linear.coefficients = at("coefficients").text("the name of a parameter");
  const YamlValue columns = at("columns");
  if (columns.node().kind != YamlNode::Kind::list || columns.node().items.empty())
    columns.refuse_type("a list of columns");
  for (const YamlNode& item : columns.node().items) {
    linear.columns.push_back(YamlValue(item, columns.key()).text("a column"));
    if (std::count(linear.columns.begin(), linear.columns.end(), linear.columns.back()) > 1)
      YamlValue(item, columns.key()).refuse(excerpt(linear.columns.back()) + " is listed twice; remove one");
  }
  if (node.find("offset") != nullptr) linear.offset = expression_at(at("offset"));
  return linear;
}

std::vector<NamedExpression> read_named(const YamlValue& value) {
  std::vector<NamedExpression> all;
  for_each_named(value, "a map of names and expressions, such as {z: \"x / s\"}",
                 [&](const std::string& name, const YamlValue& text) {
                   all.push_back({name, expression_at(text)});
                 });
  return all;
}

std::string write_named(const std::vector<NamedExpression>& all) {
  std::string text;
  for (const NamedExpression& named : all)
    text += (text.empty() ? "" : ", ") + yaml_text(named.name) + ": " + quoted(named.value.text);
  return "{" + text + "}";
}

std::string write_parameters(const ExpressionSpec& spec) {
  std::string text;
  for (const ExpressionParameter& parameter : spec.parameters) {
    std::string about;
    if (parameter.support != Support::real) about += "support: " + support_name(parameter.support);
    if (!parameter.shape.empty())
      about +=
          (about.empty() ? "" : ", ") + std::string("shape: [") + std::to_string(parameter.shape[0]) + "]";
    if (parameter.order != ListOrder::none)
      about += ", order: " + (parameter.order == ListOrder::increasing ? kOrders[0] : kOrders[1]);
    text += (text.empty() ? "" : ", ") + yaml_text(parameter.name) + ": {" + about + "}";
  }
  return "{" + text + "}";
}

std::string write_linear(const ExpressionSpec& spec) {
  std::string text;
  for (const LinearPredictor& linear : spec.linear) {
    std::string columns;
    for (const std::string& column : linear.columns)
      columns += (columns.empty() ? "" : ", ") + yaml_text(column);
    text += (text.empty() ? "" : ", ") + yaml_text(linear.name) + ": {" +
            (linear.intercept.empty() ? "" : "intercept: " + yaml_text(linear.intercept) + ", ") +
            "columns: [" + columns + "], coefficients: " + yaml_text(linear.coefficients) +
            (linear.offset.text.empty() ? "" : ", offset: " + quoted(linear.offset.text)) + "}";
  }
  return "{" + text + "}";
}

std::string write_constants(const ExpressionSpec& spec) {
  std::string text;
  for (const NamedConstant& constant : spec.constants) {
    std::string value;
    for (double number : constant.values) value += (value.empty() ? "" : ", ") + shortest_text(number);
    text += (text.empty() ? "" : ", ") + yaml_text(constant.name) + ": " +
            (constant.shape.empty() ? value : "[" + value + "]");
  }
  return "{" + text + "}";
}

ExpressionSpec& spec_of(RunConfig& config) { return config.likelihood.expression; }
const ExpressionSpec& spec_of(const RunConfig& config) { return config.likelihood.expression; }

void read_type(const YamlValue& value, RunConfig& config) {
  static const std::regex kQualifiedName("[A-Za-z_][A-Za-z_0-9]*(::[A-Za-z_][A-Za-z_0-9]*)*");
  spec_of(config).code.type = value.text("the name of a type");
  if (!std::regex_match(spec_of(config).code.type, kQualifiedName))
    value.refuse(excerpt(spec_of(config).code.type) +
                 " is not the name of a C++ type; allowed: a name such as mine::Fit");
}

/// A header excludes the keys of expressions, and keys about a header require likelihood.source.
void check_code(const YamlNode& root, const ExpressionSpec& spec) {
  const YamlNode* source = find_value(root, "likelihood.source");
  if (source == nullptr) {
    for (const char* key : {"likelihood.type", "likelihood.columns"})
      if (const YamlNode* value = find_value(root, key))
        YamlValue(*value, key).refuse("it is about a header; write likelihood.source, or remove it");
    return;
  }
  const YamlValue at(*source, "likelihood.source");
  for (const char* key : {"likelihood.log_density", "likelihood.model"})
    if (find_value(root, key) != nullptr)
      at.refuse(std::string("there is ") + key + " too; a likelihood has one of the two");
  if (spec.code.columns.empty())
    at.refuse(
        "likelihood.columns is missing, the columns of the data that the header's columns 0, 1, ... are; "
        "write columns: [y, x]");
  if (spec.parameters.empty())
    at.refuse(
        "likelihood.parameters is missing; declare there what the header declares, as in parameters: {m: "
        "{}}");
}

}  // namespace

std::string support_name(Support support) {
  switch (support) {
    case Support::positive:
      return kSupports[1];
    case Support::unit_interval:
      return kSupports[2];
    case Support::simplex:
      return kSupports[3];
    case Support::circular:
      return kSupports[4];
    case Support::covariance:
      throw std::logic_error("support_name: no expression has a covariance");
    case Support::real:
      break;
  }
  return kSupports[0];
}

std::vector<ConfigKey> expression_keys() {
  std::vector<ConfigKey> keys = column_keys();
  const std::initializer_list<ConfigKey> of_likelihood{
      {"likelihood.parameters",
       "{m: {}, s: {support: positive, shape: [2]}}; real | positive | unit_interval | simplex | circular; "
       "order "
       "of a list: increasing | decreasing",
       [](const YamlValue& v, RunConfig& c) {
         for_each_named(v, "a map of parameters, such as {m: {}, s: {support: positive}}",
                        [&](const std::string& name, const YamlValue& about) {
                          spec_of(c).parameters.push_back(read_parameter(name, about));
                        });
       },
       [](const RunConfig& c) { return write_parameters(spec_of(c)); }},
      {"likelihood.linear",
       "{eta: {intercept: a, columns: [x1, x2], coefficients: b, offset: \"log(time)\"}}",
       [](const YamlValue& v, RunConfig& c) {
         for_each_named(v, "a map of linear predictors",
                        [&](const std::string& name, const YamlValue& about) {
                          spec_of(c).linear.push_back(read_linear(name, about));
                        });
       },
       [](const RunConfig& c) { return write_linear(spec_of(c)); }},
      {"likelihood.constants", "{lower: 100, cuts: [1, 2]}: numbers and lists of numbers by name",
       [](const YamlValue& v, RunConfig& c) {
         for_each_named(v, "a map of numbers, such as {lower: 100}",
                        [&](const std::string& name, const YamlValue& number) {
                          ArrayArgument array = number.array();
                          if (array.shape.size() > 1)
                            number.refuse("nested lists; allowed: a number or a list of numbers");
                          spec_of(c).constants.push_back(
                              {name, place_of(number), std::move(array.shape), std::move(array.values)});
                        });
       },
       [](const RunConfig& c) { return write_constants(spec_of(c)); }},
      {"likelihood.prepare", "{norm: \"log(s)\"}: expressions of parameters and constants",
       [](const YamlValue& v, RunConfig& c) { spec_of(c).prepare = read_named(v); },
       [](const RunConfig& c) { return write_named(spec_of(c).prepare); }},
      {"likelihood.where", "{z: \"(x - m) / s\"}: names for parts of the log density",
       [](const YamlValue& v, RunConfig& c) { spec_of(c).where = read_named(v); },
       [](const RunConfig& c) { return write_named(spec_of(c).where); }},
      {"likelihood.log_density",
       "in place of model: the log density of a row, as in \"normal_lpdf(x, m, s)\" "
       "(docs/your-own-likelihood.md)",
       [](const YamlValue& v, RunConfig& c) { spec_of(c).log_density = expression_at(v); },
       [](const RunConfig& c) { return quoted(spec_of(c).log_density.text); }},
      {"likelihood.source",
       "in place of log_density: a C++ header with the log density of a row, which runs with --allow-code "
       "only",
       [](const YamlValue& v, RunConfig& c) {
         spec_of(c).code.file = v.text("a C++ header");
         spec_of(c).code.key = place_of(v);
       },
       [](const RunConfig& c) { return yaml_text(spec_of(c).code.file); }},
      {"likelihood.type", "the type that the header defines, such as Likelihood or mine::Fit", read_type,
       [](const RunConfig& c) {
         return spec_of(c).code.file.empty() ? "\"\"" : yaml_text(spec_of(c).code.type);
       }},
      {"likelihood.columns", "[y, x]: the columns of the data that the header's columns 0, 1, ... are",
       [](const YamlValue& v, RunConfig& c) {
         if (v.node().kind != YamlNode::Kind::list || v.node().items.empty())
           v.refuse_type("a list of columns");
         for (const YamlNode& item : v.node().items)
           spec_of(c).code.columns.push_back(YamlValue(item, v.key()).text("a column"));
       },
       [](const RunConfig& c) {
         std::string text;
         for (const std::string& column : spec_of(c).code.columns)
           text += (text.empty() ? "" : ", ") + yaml_text(column);
         return "[" + text + "]";
       }},
      {"likelihood.rows", "{p: \"inv_logit(eta)\"}: expressions that emomc predict writes for each row",
       [](const YamlValue& v, RunConfig& c) { spec_of(c).rows = read_named(v); },
       [](const RunConfig& c) { return write_named(spec_of(c).rows); }},
      {"likelihood.simulate",
       "{y: \"poisson_log_rng(eta)\"}: how columns are drawn, for emomc simulate and replicates, where the "
       "log density is no sum of densities of columns",
       [](const YamlValue& v, RunConfig& c) { spec_of(c).simulate = read_named(v); },
       [](const RunConfig& c) { return write_named(spec_of(c).simulate); }},
      {"likelihood.derived",
       "{ratio: \"exp(b)\"}: expressions of parameters that are summarised with the draws",
       [](const YamlValue& v, RunConfig& c) { spec_of(c).derived = read_named(v); },
       [](const RunConfig& c) { return write_named(spec_of(c).derived); }},
  };
  keys.insert(keys.end(), of_likelihood);
  for (ConfigKey& key : keys) key.used_by = ConfigKey::Users::expressions;
  return keys;
}

bool states_expression(const YamlNode& root) {
  return find_value(root, "likelihood.log_density") != nullptr ||
         find_value(root, "likelihood.source") != nullptr;
}

void read_expression(const YamlNode& root, RunConfig& config) {
  for (const ConfigKey& key : expression_keys())
    if (const YamlNode* value = find_value(root, key.name)) key.read({*value, key.name}, config);
  check_code(root, config.likelihood.expression);
  refuse_unused_columns(root, config);
}

void refuse_order_of_prior(const YamlNode& root, const ExpressionSpec& spec) {
  std::string name = "NAME";
  for (const ExpressionParameter& parameter : spec.parameters)
    if (!parameter.shape.empty() && name == "NAME") name = parameter.name;
  refuse_at(
      key_place(root, "prior.order"), "prior.order",
      "it orders the components of a model; of a likelihood of your own the values of a list are ordered by "
      "likelihood.parameters." +
          name + ".order: increasing (or decreasing)");
}

}  // namespace emomc::app
