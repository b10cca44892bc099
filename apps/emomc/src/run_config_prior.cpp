#include "run_config_prior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/model_priors.hpp"
#include "expression_config.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

/// The rules for an argument of a prior that is itself a parameter, one for each column.
PriorPart part_of_argument(const PriorPart& part, const std::string& argument) {
  const bool location = argument == "mean" || argument == "location" || argument == "meanlog";
  PriorPart result;
  result.name = part.name + "." + argument;
  result.domain = location ? Domain::real : Domain::positive;
  result.by_column = part.by_column;
  result.default_prior = location ? "{normal: {mean: 0, sd: 10}}" : "{half_normal: 1}";
  return result;
}

PriorFamily read_family(const YamlValue& value, const PriorPart& part) {
  const YamlNode& node = value.node();
  if (node.kind != YamlNode::Kind::map || node.keys.size() != 1) {
    value.refuse_type("one family with its arguments, such as " + part.default_prior);
  }
  const std::string& name = node.keys[0].scalar;
  const std::vector<std::string> allowed = families_for(part.domain);
  const std::string allowed_text = "allowed for " + part.name + ": " + joined(allowed);
  const YamlValue key(node.keys[0], value.key());
  const std::optional<PriorFamily> family = family_from_name(name);
  if (!family) {
    key.refuse(excerpt(name) + " is an unknown family; " + did_you_mean(nearest_name(name, family_names())) +
               allowed_text);
  }
  if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
    key.refuse(name + " is no prior for " + part.name + "; " + allowed_text);
  }
  return *family;
}

/// Checks an argument against the block's shape: its rank, the number of components, and the number of
/// columns if these are listed.
void check_shape(const YamlValue& value, const ArrayArgument& array, const PriorPart& part,
                 const RunConfig& config) {
  const auto rank = static_cast<int>(array.shape.size());
  const int max_rank =
      part.length > 0 ? 1 : static_cast<int>(part.by_component) + static_cast<int>(part.by_column);
  if (rank > max_rank) {
    static const std::array<std::string, 3> wanted{"one number", "a number or a list of numbers",
                                                   "a number, a list, or a list of lists"};
    value.refuse("nested " + std::to_string(rank) + " deep; allowed for " + part.name + ": " +
                 wanted.at(static_cast<std::size_t>(max_rank)));
  }
  if (rank == 0) return;
  if (part.length > 0) {
    if (array.shape[0] != part.length)
      value.refuse("a list of " + std::to_string(array.shape[0]) + "; allowed: one number or " +
                   std::to_string(part.length) + ", one for each element of " + part.name);
    return;
  }
  const int fixed = info_of(config.likelihood).fixed_components;
  const int components = fixed ? fixed : config.likelihood.components;
  const auto columns = static_cast<int>(config.data.columns.size());  // 0: not known yet
  const bool fits_components = part.by_component && array.shape[0] == components;
  const bool fits_columns = part.by_column && rank == 1 && (columns == 0 || array.shape[0] == columns);
  if (!fits_components && !fits_columns) {
    std::string allowed;
    if (part.by_component) allowed = std::to_string(components) + ", one for each component";
    if (part.by_column && rank == 1)
      allowed += (allowed.empty() ? "" : ", or ") + std::to_string(columns) + ", one for each column";
    value.refuse("a list of " + std::to_string(array.shape[0]) + "; allowed: one number or " + allowed);
  }
  if (rank == 2 && columns > 0 && array.shape[1] != columns) {
    value.refuse("rows of " + std::to_string(array.shape[1]) + "; allowed: " + std::to_string(columns) +
                 ", one for each column");
  }
}

void require_above_zero(const YamlValue& value, const ArrayArgument& array) {
  for (const double number : array.values) {
    if (!(number > 0)) value.refuse(shortest_text(number) + " is out of range; allowed: numbers above 0");
  }
}

void check_uniform(const YamlValue& value, const PriorSpec& prior, Domain domain) {
  const ArrayArgument &lower = prior.arguments[0], &upper = prior.arguments[1];
  if (!lower.shape.empty() && !upper.shape.empty() && lower.shape != upper.shape) {
    value.refuse("lower and upper are lists of different lengths; allowed: equal ones, or one number");
  }
  for (std::size_t i = 0; i < std::max(lower.values.size(), upper.values.size()); ++i) {
    const double low = lower.values[lower.shape.empty() ? 0 : i];
    const double high = upper.values[upper.shape.empty() ? 0 : i];
    const std::string pair = "lower " + shortest_text(low) + ", upper " + shortest_text(high);
    if (!(low < high)) value.refuse(pair + " is out of range; allowed: lower below upper");
    if (domain == Domain::positive && low < 0)
      value.refuse(pair + " is out of range; allowed: lower of 0 or more");
    if (domain == Domain::unit && (low < 0 || high > 1)) {
      value.refuse(pair + " is out of range; allowed: between 0 and 1");
    }
  }
}

void check_fixed(const YamlValue& value, const ArrayArgument& array, Domain domain, int components) {
  if (domain == Domain::real) return;
  require_above_zero(value, array);
  if (domain == Domain::unit && !(array.values[0] < 1)) {
    value.refuse(shortest_text(array.values[0]) +
                 " is out of range; allowed: between 0 and 1, both excluded");
  }
  if (domain != Domain::simplex) return;
  double sum = 0;
  for (const double weight : array.values) sum += weight;
  if (array.shape.empty()) sum *= components;
  constexpr double rounding = 1e-9;  // of weights that are written with 10 digits or more
  if (std::abs(sum - 1) > rounding)
    value.refuse("the weights sum to " + shortest_text(sum) + "; they must sum to 1");
}

void check_argument_keys(const YamlValue& value, PriorFamily family) {
  const std::vector<std::string>& names = argument_names(family);
  const std::string wanted = "allowed in " + family_name(family) + ": " + joined(names);
  for (const YamlNode& key : value.node().keys) {
    if (std::find(names.begin(), names.end(), key.scalar) != names.end()) continue;
    std::optional<std::string> meant = nearest_name(key.scalar, names);
    if (meant) meant = value.key() + "." + *meant;
    refuse_at(key.place, value.key() + "." + excerpt(key.scalar),
              "unknown key; " + did_you_mean(meant) + wanted);
  }
  for (const std::string& name : names) {
    if (value.node().find(name) == nullptr) value.refuse(name + " is missing; " + wanted);
  }
}

/// The arguments in order: from {name: value, ...}, or the bare value of a family with one argument.
std::vector<YamlValue> find_arguments(const YamlValue& value, PriorFamily family) {
  const std::vector<std::string>& names = argument_names(family);
  if (value.node().kind != YamlNode::Kind::map) {
    if (names.size() == 1) return {value};
    value.refuse_type("its arguments by name: {" + names[0] + ": ..., " + names[1] + ": ...}");
  }
  check_argument_keys(value, family);
  std::vector<YamlValue> arguments;
  for (const std::string& name : names)
    arguments.emplace_back(*value.node().find(name), value.key() + "." + name);
  return arguments;
}

/// Whether an argument differs between components. A list whose length could be [d] or [K] counts only if it
/// cannot be [d].
bool tells_components_apart(const ArrayArgument& array, const PriorPart& part) {
  const std::size_t max_rank = (part.by_component ? 1 : 0) + (part.by_column ? 1 : 0);
  if (!part.by_component || array.shape.empty() || array.shape.size() != max_rank) return false;
  const auto rows = static_cast<std::size_t>(array.shape[0]);
  const std::size_t row = array.values.size() / rows;
  for (std::size_t i = row; i < array.values.size(); ++i) {
    if (array.values[i] != array.values[i % row]) return true;
  }
  return false;
}

/// Whether the density is the same at x and 1 - x.
bool is_symmetric_about_half(const PriorSpec& prior) {
  const auto argument = [&](std::size_t i) { return prior.arguments[i].values[0]; };
  switch (prior.family) {
    case PriorFamily::beta:
      return argument(0) == argument(1);
    case PriorFamily::uniform:
      return std::abs(argument(0) + argument(1) - 1) < 1e-12;
    case PriorFamily::fixed:
      return argument(0) == 0.5;
    default:
      return false;
  }
}

PriorSpec read_prior_of(const YamlValue& value, const PriorPart& part, const RunConfig& config,
                        PriorSet& nested) {
  PriorSpec prior{read_family(value, part), {}};
  const YamlValue body(value.node().items[0], value.key() + "." + family_name(prior.family));
  const std::vector<YamlValue> arguments = find_arguments(body, prior.family);
  const bool is_argument = part.name.find('.') != std::string::npos;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = argument_names(prior.family)[i];
    if (arguments[i].node().kind == YamlNode::Kind::map) {
      const auto sampled = sampled_argument_names(prior.family);
      if (is_argument || std::find(sampled.begin(), sampled.end(), name) == sampled.end())
        arguments[i].refuse("a prior stands where a number is expected; allowed: a number or a list of them");
      prior.arguments.push_back({.shape = {}, .values = {}, .is_sampled = true});
      const PriorPart own = part_of_argument(part, name);
      nested.blocks[own.name] = read_prior_of(arguments[i], own, config, nested);
      continue;
    }
    const ArrayArgument& array = prior.arguments.emplace_back(arguments[i].array());
    const bool is_matrix = part.domain == Domain::correlation && prior.family == PriorFamily::fixed;
    if (!is_matrix) check_shape(arguments[i], array, part, config);
    static const std::array<std::string, 5> free_names{"mean", "location", "meanlog", "lower", "upper"};
    const bool free = std::find(free_names.begin(), free_names.end(), name) != free_names.end();
    if (!free && prior.family != PriorFamily::fixed) require_above_zero(arguments[i], array);
  }
  if (prior.family == PriorFamily::uniform) check_uniform(body, prior, part.domain);
  if (prior.family == PriorFamily::fixed && part.domain != Domain::correlation)
    check_fixed(arguments[0], prior.arguments[0], part.domain,
                part.length > 0 ? part.length : config.likelihood.components);
  return prior;
}

}  // namespace

void read_prior(const YamlValue& value, const std::string& block, RunConfig& config) {
  PriorSet nested;
  const LikelihoodConfig& likelihood = config.likelihood;
  const PriorPart part = likelihood.is_expression() ? prior_part(likelihood.expression, block)
                                                    : prior_part(info_of(likelihood), block);
  const PriorSpec prior = read_prior_of(value, part, config, nested);
  config.prior.blocks[block] = prior;
  for (const auto& [name, spec] : nested.blocks) config.prior.blocks[name] = spec;
}

PriorSet default_prior(const LikelihoodConfig& likelihood) {
  const ModelInfo& model = info_of(likelihood);
  const auto source = std::make_shared<const std::string>("default of model " + model.name);
  RunConfig config;
  config.likelihood = likelihood;
  for (const PriorPart& part : prior_parts(model)) {
    const YamlNode written = parse_yaml(part.default_prior, {source, 1});
    read_prior({written, "prior." + part.name}, part.name, config);
  }
  return config.prior;
}

std::string order_key(const ModelInfo& model) {
  return prior_part(model, model.ordered_by).by_column ? model.ordered_by + ".0" : model.ordered_by;
}

namespace {

/// Refuses priors that differ between components, among them a weight of the first of two components that is
/// not distributed like that of the second.
void require_equal_components(const YamlValue& order, const std::string& key, const RunConfig& config) {
  const std::vector<PriorPart> parts = prior_parts(info_of(config.likelihood));
  for (const auto& [block, prior] : config.prior.blocks) {
    if (block.find('.') != std::string::npos) continue;  // an argument's prior, which all components share
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](const PriorPart& p) { return p.name == block; });
    for (const ArrayArgument& argument : prior.arguments) {
      if (!tells_components_apart(argument, *part)) continue;
      order.refuse(key + " needs the same prior for every component, and prior." + block +
                   " differs between them; allowed here: none");
    }
  }
  for (const PriorPart& part : parts) {
    const bool is_weight_of_first = part.domain == Domain::unit && part.influence == Influence::weights;
    if (is_weight_of_first && !is_symmetric_about_half(config.prior.blocks.at(part.name)))
      order.refuse(key + " needs a prior of " + part.name + " that is the same for 1 - " + part.name +
                   ", such as " + part.default_prior + "; allowed here: none");
  }
}

}  // namespace

std::string read_order(const YamlValue& order, RunConfig& config) {
  const ModelInfo& model = info_of(config.likelihood);
  const std::string& ordered = model.ordered_by;
  config.order_column.clear();
  if (ordered.empty()) {
    order.choice(std::array<std::string, 1>{"none"});
    return "";
  }
  const std::string key = order_key(model), by_column = ordered + ".";
  const std::string text = order.node().kind == YamlNode::Kind::scalar ? order.node().scalar : "";
  const std::string column = text.substr(std::min(by_column.size(), text.size()));
  const bool names_a_column = key != ordered && text.starts_with(by_column);
  const bool is_number =
      std::all_of(column.begin(), column.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (names_a_column && !column.empty() && !is_number) {
    config.order_column = column;  // compared with the data's columns when these are read
  } else {
    if (names_a_column && is_number && text != key)
      order.refuse(excerpt(text) + ": components are ordered by the first column; allowed: none, " + key +
                   ", or data.columns with another column first");
    if (order.choice(std::array<std::string, 2>{"none", key}) == "none") return "";
  }
  if (config.prior.blocks.at(ordered).family == PriorFamily::fixed) {
    order.refuse(key + " cannot order " + ordered + " that are fixed; allowed: none");
  }
  require_equal_components(order, key, config);
  return ordered;
}

}  // namespace emomc::app
