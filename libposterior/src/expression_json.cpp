#include "emomc/posterior/expression_json.hpp"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<Support, const char*>, 6> kSupports{{{Support::real, "real"},
                                                                    {Support::positive, "positive"},
                                                                    {Support::unit_interval, "unit_interval"},
                                                                    {Support::simplex, "simplex"},
                                                                    {Support::covariance, "matrix"},
                                                                    {Support::circular, "circular"}}};
constexpr std::array<std::pair<ListOrder, const char*>, 3> kOrders{{{ListOrder::none, "none"},
                                                                    {ListOrder::increasing, "increasing"},
                                                                    {ListOrder::decreasing, "decreasing"}}};

template <class Value, std::size_t count>
const char* name_in(const std::array<std::pair<Value, const char*>, count>& names, Value value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  throw std::logic_error("expression_json: a value without a name");
}

template <class Value, std::size_t count>
Value value_in(const std::array<std::pair<Value, const char*>, count>& names, const JsonValue& json) {
  const std::string text = json.text();
  for (const auto& [known, name] : names)
    if (text == name) return known;
  std::string allowed;
  for (const auto& [known, name] : names) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  json.refuse("one of " + allowed);
}

void add_named(ordered_json& json, const char* key, const std::vector<NamedExpression>& list) {
  for (const NamedExpression& item : list) json[key].push_back({item.name, item.value.text});
}

std::vector<NamedExpression> named(const JsonValue& json, const char* key) {
  std::vector<NamedExpression> list;
  if (!json.has(key)) return list;
  for (const JsonValue& item : json.at(key).items()) {
    const std::vector<JsonValue> pair = item.items(2);
    const std::string name = pair[0].text();
    list.push_back({name, {"likelihood." + std::string(key) + "." + name, pair[1].text()}});
  }
  return list;
}

std::string text_at(const JsonValue& json, const char* key) {
  return json.has(key) ? json.at(key).text() : std::string();
}

std::vector<std::string> texts_at(const JsonValue& json, const char* key) {
  std::vector<std::string> list;
  if (json.has(key))
    for (const JsonValue& item : json.at(key).items()) list.push_back(item.text());
  return list;
}

// Reads a shape, which has at most two axes; the number of elements is bounded as in files.
std::vector<int> shape_at(const JsonValue& json, const char* key) {
  constexpr std::size_t kLongest = 1 << 24;
  std::vector<int> shape;
  if (!json.has(key)) return shape;
  for (const JsonValue& item : json.at(key).items()) {
    const std::size_t length = item.count();
    if (length == 0 || length > kLongest) item.refuse("1 to 16777216");
    shape.push_back(static_cast<int>(length));
  }
  if (shape.size() > 2) json.at(key).refuse("at most two axes");
  return shape;
}

}  // namespace

const char* name_of_support(Support support) { return name_in(kSupports, support); }

ordered_json to_json(const ExpressionSpec& spec) {
  // This does not compile if a member is added to the struct and not written here.
  const auto& [parameters, linear, constants, prepare, where, log_density, code, derived, rows, simulate,
               weights, integers, reals, standardized] = spec;
  ordered_json json = ordered_json::object();
  for (const ExpressionParameter& p : parameters) {
    ordered_json one{{"name", p.name}, {"support", name_of_support(p.support)}};
    if (!p.shape.empty()) one["shape"] = p.shape;
    if (p.order != ListOrder::none) one["order"] = name_in(kOrders, p.order);
    json["parameters"].push_back(std::move(one));
  }
  for (const LinearPredictor& p : linear)
    json["linear"].push_back({{"name", p.name},
                              {"intercept", p.intercept},
                              {"columns", p.columns},
                              {"coefficients", p.coefficients},
                              {"offset", p.offset.text}});
  for (const NamedConstant& c : constants)
    json["constants"].push_back({{"name", c.name}, {"shape", c.shape}, {"values", c.values}});
  add_named(json, "prepare", prepare);
  add_named(json, "where", where);
  if (!log_density.text.empty()) json["log_density"] = log_density.text;
  if (!code.file.empty()) json["source"] = {{"type", code.type}, {"columns", code.columns}};
  add_named(json, "derived", derived);
  add_named(json, "rows", rows);
  add_named(json, "simulate", simulate);
  if (!weights.empty()) json["row_weights"] = weights;
  for (const auto& [key, names] :
       {std::pair("integers", &integers), {"reals", &reals}, {"standardized", &standardized}})
    if (!names->empty()) json[key] = *names;
  return json;
}

ExpressionSpec expression_spec_of(const JsonValue& json) {
  ExpressionSpec spec;
  const auto items = [&](const char* key) {
    return json.has(key) ? json.at(key).items() : std::vector<JsonValue>();
  };
  for (const JsonValue& item : items("parameters")) {
    ExpressionParameter p;
    p.name = item.at("name").text();
    p.key = "likelihood.parameters." + p.name;
    p.support = value_in(kSupports, item.at("support"));
    p.shape = shape_at(item, "shape");
    if (item.has("order")) p.order = value_in(kOrders, item.at("order"));
    spec.parameters.push_back(std::move(p));
  }
  for (const JsonValue& item : items("linear")) {
    const std::string name = item.at("name").text(), key = "likelihood.linear." + name;
    spec.linear.push_back({name,
                           key,
                           item.at("intercept").text(),
                           texts_at(item, "columns"),
                           item.at("coefficients").text(),
                           {key + ".offset", item.at("offset").text()}});
  }
  for (const JsonValue& item : items("constants")) {
    NamedConstant constant;
    constant.name = item.at("name").text();
    constant.key = "likelihood.constants." + constant.name;
    constant.shape = shape_at(item, "shape");
    std::size_t size = 1;
    for (const int length : constant.shape) size *= static_cast<std::size_t>(length);
    for (const auto& value : item.at("values").numbers(size))
      constant.values.push_back(value.is_number() ? value.get<double>()
                                                  : std::numeric_limits<double>::quiet_NaN());
    spec.constants.push_back(std::move(constant));
  }
  spec.prepare = named(json, "prepare");
  spec.where = named(json, "where");
  spec.log_density = {"likelihood.log_density", text_at(json, "log_density")};
  if (json.has("source")) {
    spec.code.key = "likelihood.source";
    spec.code.file = "likelihood_source.hpp";
    spec.code.type = json.at("source").at("type").text();
    spec.code.columns = texts_at(json.at("source"), "columns");
  }
  spec.derived = named(json, "derived");
  spec.rows = named(json, "rows");
  spec.simulate = named(json, "simulate");
  spec.weights = text_at(json, "row_weights");
  spec.integers = texts_at(json, "integers");
  spec.reals = texts_at(json, "reals");
  spec.standardized = texts_at(json, "standardized");
  return spec;
}

}  // namespace emomc
