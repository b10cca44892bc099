#include "column_keys.hpp"

#include <algorithm>
#include <array>

#include "emomc/core/nearest_name.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/posterior/text_table.hpp"
#include "yaml_parts.hpp"

namespace emomc::app {
namespace {

void read_categories(const YamlValue& value, RunConfig& config) {
  for_each_named(value, "a map of columns, such as {school: auto, sex: [f, m]}",
                 [&](const std::string& name, const YamlValue& levels) {
                   CategoryColumn column{name, {}};
                   const YamlNode& node = levels.node();
                   if (node.kind == YamlNode::Kind::list) {
                     for (const YamlNode& item : node.items) {
                       column.levels.push_back(YamlValue(item, levels.key()).text("a text"));
                       if (std::count(column.levels.begin(), column.levels.end(), column.levels.back()) > 1)
                         YamlValue(item, levels.key())
                             .refuse(excerpt(column.levels.back()) + " is listed twice; remove one");
                     }
                     if (column.levels.empty()) levels.refuse_type("auto, or a list of texts");
                   } else if (node.kind != YamlNode::Kind::scalar || node.scalar != "auto") {
                     levels.refuse_type("auto, or a list of texts");
                   }
                   config.data.categories.push_back(std::move(column));
                 });
}

std::string write_categories(const std::vector<CategoryColumn>& categories) {
  std::string text;
  for (const CategoryColumn& column : categories) {
    std::string levels;
    for (const std::string& level : column.levels) levels += (levels.empty() ? "" : ", ") + quoted(level);
    text += (text.empty() ? "" : ", ") + yaml_text(column.name) + ": " +
            (levels.empty() ? "auto" : "[" + levels + "]");
  }
  return "{" + text + "}";
}

void read_renames(const YamlValue& value, RunConfig& config) {
  for_each_named(
      value, "a map of names, such as {mass: \"Body Mass (g)\"}",
      [&](const std::string& name, const YamlValue& in_file) {
        ColumnRename rename{name, in_file.text("the name of a column in the file"), place_of(in_file)};
        if (!is_expression_name(name))
          in_file.refuse(
              excerpt(name) +
              " is no name; allowed: a letter or underscore, then letters, digits and underscores");
        for (const ColumnRename& other : config.data.renames)
          if (other.in_file == rename.in_file)
            in_file.refuse("column " + excerpt(rename.in_file) + " is renamed to " + other.name +
                           " already; remove one");
        config.data.renames.push_back(std::move(rename));
      });
}

std::string write_renames(const std::vector<ColumnRename>& renames) {
  std::string text;
  for (const ColumnRename& rename : renames)
    text += (text.empty() ? "" : ", ") + yaml_text(rename.name) + ": " + quoted(rename.in_file);
  return "{" + text + "}";
}

void read_kinds(const YamlValue& value, RunConfig& config) {
  static const std::array<std::string, 2> kKinds{"integer", "real"};
  ExpressionSpec& spec = config.likelihood.expression;
  for_each_named(value, "a map of columns, such as {id: integer, x: real}",
                 [&](const std::string& name, const YamlValue& kind) {
                   for (const CategoryColumn& column : config.data.categories)
                     if (column.name == name)
                       kind.refuse("this column is a category in data.categories; remove one of them");
                   if (kind.node().scalar.starts_with("categor"))
                     kind.refuse(excerpt(kind.node().scalar) + ": write data.categories: {" + name +
                                 ": auto} for this; allowed here: " + joined(kKinds));
                   (kind.choice(kKinds) == kKinds[0] ? spec.integers : spec.reals).push_back(name);
                 });
}

std::string write_kinds(const ExpressionSpec& spec) {
  std::string text;
  const auto write = [&](const std::vector<std::string>& columns, const char* kind) {
    for (const std::string& name : columns)
      text += (text.empty() ? "" : ", ") + yaml_text(name) + ": " + kind;
  };
  write(spec.integers, "integer");
  write(spec.reals, "real");
  return "{" + text + "}";
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the reason why a column of a likelihood of the user's own cannot be standardised. The text is
/// empty if the column can be standardised, as far as is known without the expressions and the data.
std::string why_not_standardized(const std::string& name, const RunConfig& config) {
  const ExpressionSpec& spec = config.likelihood.expression;
  for (const CategoryColumn& column : config.data.categories)
    if (column.name == name) return name + " is a category (data.categories)";
  if (name == spec.weights) return name + " is the column of weights (data.weights)";
  if (is_among(name, spec.integers)) return name + " is an integer (data.kinds)";
  if (is_among(name, simulated_columns(spec))) return name + " is drawn by likelihood.simulate";
  return "";
}

void read_standardize(const YamlValue& value, RunConfig& config) {
  ExpressionSpec& spec = config.likelihood.expression;
  if (value.node().kind != YamlNode::Kind::list) {
    config.data.standardize = value.boolean();
    if (config.data.standardize && config.likelihood.is_expression())
      value.refuse(
          "true is not for a likelihood of your own, which takes the data in their own units; allowed: "
          "false, or a list of predictor columns");
    return;
  }
  if (!config.likelihood.is_expression())
    value.refuse(
        "a list of columns is only for a likelihood of your own (likelihood.log_density); allowed: true, "
        "false");
  if (value.node().items.empty()) value.refuse_type("false, or a list of columns");
  const std::vector<std::string> columns = names_of_columns(spec);
  for (const YamlNode& item : value.node().items) {
    const YamlValue entry(item, value.key());
    const std::string name = entry.text("a column");
    if (is_among(name, spec.standardized)) entry.refuse(excerpt(name) + " is listed twice; remove one");
    if (!is_among(name, columns))
      entry.refuse("no expression uses the column " + excerpt(name) + "; " +
                   did_you_mean(nearest_name(name, columns)) + "allowed: " + joined(columns));
    if (const std::string why = why_not_standardized(name, config); !why.empty())
      entry.refuse(why + ", and cannot be standardised; remove it from one of them");
    spec.standardized.push_back(name);
  }
}

std::string write_standardize(const RunConfig& config) {
  const std::vector<std::string>& columns = config.likelihood.expression.standardized;
  if (columns.empty()) return config.data.standardize ? "true" : "false";
  std::string text;
  for (const std::string& name : columns) text += (text.empty() ? "" : ", ") + yaml_text(name);
  return "[" + text + "]";
}

}  // namespace

ConfigKey standardize_key() {
  return {
      "data.standardize",
      "true: priors refer to columns with mean 0 and sd 1; false: to the data's own units; with a likelihood "
      "of your own false, or a list of columns that it gets with mean 0 and sd 1",
      read_standardize, write_standardize};
}

std::vector<ConfigKey> column_keys() {
  return {
      {"data.rename",
       "{mass: \"Body Mass (g)\"}: names for columns whose names in the file cannot be used in expressions",
       read_renames, [](const RunConfig& c) { return write_renames(c.data.renames); }},
      {"data.weights", "a column by which each row's log density is multiplied, as for counts of equal rows",
       [](const YamlValue& v, RunConfig& c) { c.likelihood.expression.weights = v.text("a column"); },
       [](const RunConfig& c) { return yaml_text(c.likelihood.expression.weights); }},
      {"data.categories",
       "{school: auto, sex: [f, m]}: columns of texts, which become 0, 1, ... in this order; auto: sorted",
       read_categories, [](const RunConfig& c) { return write_categories(c.data.categories); }},
      {"data.kinds",
       "{id: integer, x: real}: integer: every value has to be one; real: neither a count nor an index",
       read_kinds, [](const RunConfig& c) { return write_kinds(c.likelihood.expression); }},
  };
}

void refuse_unused_columns(const YamlNode& root, const RunConfig& config) {
  const std::vector<std::string> columns =
      names_of_columns(config.likelihood.expression);  // throws if an expression cannot be parsed
  const auto refuse_unused = [&](const std::string& key, const std::string& name) {
    if (!is_among(name, columns))
      YamlValue(*find_value(root, key), key + "." + name)
          .refuse("no expression uses this column; " + did_you_mean(nearest_name(name, columns)) +
                  "allowed: " + joined(columns));
  };
  for (const CategoryColumn& column : config.data.categories) refuse_unused("data.categories", column.name);
  for (const auto* kind : {&config.likelihood.expression.integers, &config.likelihood.expression.reals})
    for (const std::string& name : *kind) refuse_unused("data.kinds", name);
}

}  // namespace emomc::app
