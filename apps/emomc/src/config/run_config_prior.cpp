#include "run_config_prior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/prior_rules.hpp"
#include "emomc/posterior/text_table.hpp"
#include "expression_config.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

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

/// Returns the arguments in order, from {name: value, ...} or from the bare value of a family with one
/// argument.
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

PriorSpec read_prior_of(const YamlValue& value, const PriorPart& part, const RunConfig& config,
                        PriorSet& nested) {
  PriorSpec prior{read_family(value, part), {}};
  const YamlValue body(value.node().items[0], value.key() + "." + family_name(prior.family));
  const std::vector<YamlValue> arguments = find_arguments(body, prior.family);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = argument_names(prior.family)[i];
    if (arguments[i].node().kind != YamlNode::Kind::map) {
      prior.arguments.push_back(arguments[i].array());
      continue;
    }
    prior.arguments.push_back({.shape = {}, .values = {}, .is_sampled = true});
    if (!may_be_sampled(part, prior.family, name)) continue;  // find_fault() reports this
    const PriorPart own = part_of_argument(part, name);
    nested.blocks[own.name] = read_prior_of(arguments[i], own, config, nested);
  }
  const PriorSizes sizes = prior_sizes(config.likelihood, static_cast<int>(config.data.columns.size()));
  if (const auto fault = find_fault(prior, part, sizes))
    (fault->argument < 0 ? body : arguments[static_cast<std::size_t>(fault->argument)]).refuse(fault->why);
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

std::string order_key(const ModelInfo& model) {
  return prior_part(model, model.ordered_by).by_column ? model.ordered_by + ".0" : model.ordered_by;
}

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
  if (const std::string why = why_no_order(model, config.prior, key); !why.empty()) order.refuse(why);
  return ordered;
}

}  // namespace emomc::app
