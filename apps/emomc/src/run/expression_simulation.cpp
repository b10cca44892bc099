#include "expression_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/expression_rows.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/output_file.hpp"
#include "emomc/sampler/target.hpp"
#include "expression_run.hpp"
#include "kept_inputs.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

namespace fs = std::filesystem;

/// Returns a field of CSV, in quotes if needed.
std::string csv_field(const std::string& text, char separator) {
  const bool is_plain = text.find_first_of("\"\r\n") == std::string::npos &&
                        text.find(separator) == std::string::npos && !text.empty() && text.front() != ' ' &&
                        text.back() != ' ';
  if (is_plain) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

/// Returns the table of the columns `names` as CSV that the configuration can read. The columns `drawn` have
/// the `values` [num_rows x drawn.size()]. The other ones of the first `num_given` columns have the values of
/// the data. Columns have the names and the order of the data's file.
std::string simulated_table(const RunConfig& config, const std::vector<std::string>& names,
                            std::size_t num_given, const std::vector<std::string>& drawn,
                            const std::vector<double>& values, std::size_t num_rows) {
  const CsvFormat& format = config.data.format;
  const std::vector<std::string> used = names_of_columns(config.likelihood.expression);
  const char separator = format.separator != 0 ? format.separator : format.decimal == ',' ? ';' : ',';
  std::vector<std::string> kept;
  std::vector<std::size_t> place;  // index of each column in `drawn`, or behind these in `kept`
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto at = std::find(drawn.begin(), drawn.end(), names[j]) - drawn.begin();
    place.push_back(static_cast<std::size_t>(at) < drawn.size() ? static_cast<std::size_t>(at)
                                                                : drawn.size() + kept.size());
    if (place.back() >= drawn.size() && j < num_given) kept.push_back(names[j]);
  }
  TableRequest request = table_request(config.data, config.likelihood.expression, kept);
  // Columns that no expression uses are copied unchanged, whatever they contain.
  if (std::none_of(config.data.files.begin(), config.data.files.end(),
                   [](const std::string& file) { return file.ends_with(".npy"); }))
    for (const std::string& name : kept)
      if (std::find(used.begin(), used.end(), name) == used.end()) request.categories.push_back({name, {}});
  Table given;
  if (!kept.empty()) given = read_table(request);
  std::vector<const CategoryColumn*> texts(kept.size(), nullptr);
  for (const CategoryColumn& column : given.categories)
    texts[static_cast<std::size_t>(std::find(kept.begin(), kept.end(), column.name) - kept.begin())] =
        &column;
  const auto number_text = [&](double value) {
    std::string text = shortest_text(value);
    if (format.decimal == ',') std::replace(text.begin(), text.end(), '.', ',');
    return text;
  };
  std::string text;
  if (format.header != false) {
    for (std::size_t j = 0; j < names.size(); ++j)
      text += (j ? std::string(1, separator) : "") +
              csv_field(name_in_file(names[j], config.data.renames), separator);
    text += '\n';
  }
  for (std::size_t i = 0; i < num_rows; ++i) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      const bool is_drawn = place[j] < drawn.size();
      const std::size_t k = is_drawn ? place[j] : place[j] - drawn.size();
      const double value = is_drawn ? values[i * drawn.size() + k] : given.values[i * kept.size() + k];
      const std::string field = is_drawn || texts[k] == nullptr
                                    ? number_text(value)
                                    : texts[k]->levels[static_cast<std::size_t>(value)];
      text += (j ? std::string(1, separator) : "") + csv_field(field, separator);
    }
    text += '\n';
  }
  return text;
}

/// Returns the mean and sd of the standardised columns of the configuration's data, and 0 and 1 for the other
/// columns.
ColumnUnits units_of_names(const RunConfig& config, const std::vector<std::string>& names) {
  const ExpressionSpec& spec = config.likelihood.expression;
  if (spec.standardized.empty()) return {};
  const Table table = read_table(table_request(config.data, spec, spec.standardized));
  const ColumnUnits read = standardized_units(spec, table.columns, table.values);
  ColumnUnits units{std::vector<double>(names.size(), 0.0), std::vector<double>(names.size(), 1.0)};
  for (std::size_t j = 0; j < names.size(); ++j)
    for (std::size_t k = 0; k < table.columns.size(); ++k)
      if (table.columns[k] == names[j]) {
        units.mean[j] = read.mean[k];
        units.sd[j] = read.sd[k];
      }
  return units;
}

/// Returns the names of the columns that the simulation reads from the data.
std::vector<std::string> columns_read(const ExpressionSpec& spec, const std::vector<std::string>& drawn) {
  std::vector<std::string> names = names_of_columns(spec);
  for (const std::string& name : drawn)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  const Expression expression(spec, names);
  std::vector<std::string> read =
      names_of_used(expression, names, expression.columns_of(Expression::Part::simulation));
  std::erase_if(read, [&](const std::string& name) {
    return std::find(drawn.begin(), drawn.end(), name) != drawn.end();
  });
  return read;
}

}  // namespace

void simulate_expression(const RunConfig& config, const std::string& config_file, const std::string& output,
                         const std::string& parameters, std::size_t num_rows, bool quiet) {
  const ExpressionSpec spec = with_simulation(config.likelihood.expression);
  const std::vector<std::string> drawn = simulated_columns(spec);
  const fs::path data_file = config.data.files.size() == 1 ? config.data.files[0] : std::string("data.csv");
  std::vector<std::string> names;
  const std::vector<std::string> read = columns_read(spec, drawn);
  if (num_rows > 0 && !read.empty())
    throw InputError("--rows: the simulation reads columns of the data (" + joined(read) +
                     "), whose file has the number of rows; remove --rows");
  if (num_rows == 0) {
    if (!fs::exists(data_file))
      throw InputError("data.file: " + data_file.string() + ": there is no such file" +
                       (read.empty()
                            ? "; the simulation reads none of its columns, so that --rows can set the "
                              "number of rows instead"
                            : "; the simulation reads columns of it: " + joined(read)));
    names = read_column_names(table_request(config.data, spec, names_of_columns(spec)));
  }
  const std::size_t num_given = names.size();
  for (const std::string& name : drawn)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  // Without data, columns of the log density that the simulation does not read are no columns of the result.
  std::vector<std::string> all = names;
  for (const std::string& name : names_of_columns(spec))
    if (num_rows > 0 && std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  const Expression expression(spec, all);
  ExpressionRows rows;
  if (num_rows > 0) {
    rows.table.num_rows = num_rows;
    rows.values.assign(num_rows * expression.used_columns().size(), 0.0);
  } else {
    rows = read_expression_rows(expression, names, Expression::Part::simulation,
                                table_request(config.data, spec, {}), units_of_names(config, names));
  }
  const Target target(expression.layout(), config.prior, std::span<const double>());
  const std::vector<double> theta = parameters.empty() ? target.draw_from_prior(config.sampler.seed, 0, 0)
                                                       : read_parameter_file(parameters, expression.layout());
  std::vector<double> values(rows.table.num_rows * drawn.size());
  expression.simulate(theta.data(), rows.values, config.sampler.seed, 0, values.data());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isnan(values[i]))
      throw InputError(
          fmt::format("likelihood.simulate.{}: the arguments of its distribution are not allowed in "
                      "row {} at these parameters; choose others with --parameters or another "
                      "sampler.seed",
                      drawn[i % drawn.size()], i / drawn.size() + 1));
  fs::path file = fs::path(output) / data_file.filename();
  if (file.extension() == ".npy") file.replace_extension(".csv");
  const fs::path truth = fs::path(output) / "truth.json";
  std::vector<fs::path> inputs{config_file, parameters};
  inputs.insert(inputs.end(), rows.table.files.begin(), rows.table.files.end());
  for (const fs::path& written : {file, truth}) refuse_input_as_output(written, inputs);
  const std::string table = simulated_table(config, names, num_given, drawn, values, rows.table.num_rows);
  std::error_code error;
  fs::create_directories(output, error);
  if (error) throw MachineError(output + ": cannot be made: " + error.message());
  write_output(file, table);
  const auto dim = static_cast<std::size_t>(expression.layout().dim());
  write_output(truth, parameters_to_json(expression.layout(), std::span(theta).first(dim)) + "\n");
  if (!quiet)
    fmt::print("{}: {} rows x {} columns, truth in truth.json\n", file.string(), rows.table.num_rows,
               names.size());
}

}  // namespace emomc::app
