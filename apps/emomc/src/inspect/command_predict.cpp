#include <fmt/format.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/input_path.hpp"
#include "emomc/posterior/data_setup.hpp"
#include "emomc/posterior/row_prediction.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/output_file.hpp"
#include "expression_run.hpp"
#include "inspection.hpp"
#include "kept_inputs.hpp"
#include "progress.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

/// The names of the default PredictionOptions::quantiles in CSV files.
constexpr std::array<const char*, 3> kQuantileNames{"q5", "q50", "q95"};

struct Options {
  std::string run, output = "-";
  std::vector<std::string> data;
  int draws = 1000;
  bool json = false;
};

PredictionOptions with_progress(const Options& options, CountLine& progress) {
  return {.draws = static_cast<std::size_t>(options.draws),
          .on_rows = [&progress](std::size_t count) { progress.add(count); }};
}

/// The rows of the run's data. Throws InputError if they are not those that the run was made with.
Table rows_of_run(const std::filesystem::path& directory, const RunData& known) {
  check_data_files(directory, known);
  Table table = read_table(known.request(known.columns));
  if (hash_table(table) != known.sha256)
    throw InputError(known.paths.at(0) + ": these are not the data that " + directory.string() +
                     " was made with (another SHA-256); --data predicts other rows");
  return table;
}

/// The rows of the run's data, or of other files.
Table rows_of(const Options& options) {
  const RunData known = read_run_data(options.run, 0);
  if (known.columns.empty()) refuse_without_columns(options.run);
  return options.data.empty() ? rows_of_run(options.run, known) : read_table({options.data, known.columns});
}

/// What `likelihood.rows` says.
RowPrediction predict_expression(const Options& options, const Expression& expression) {
  if (expression.row_outputs().empty())
    throw InputError(
        options.run +
        ": its configuration has no likelihood.rows, which say what to predict for each row, as in "
        "rows: {p: \"inv_logit(eta)\"}");
  const RunData known = read_run_data(options.run, 0);
  if (options.data.empty()) rows_of_run(options.run, known);
  TableRequest request = known.request({});
  if (!options.data.empty()) {
    request.files = options.data;
    request.format = CsvFormat{};
  }
  const ExpressionRows rows =
      read_expression_rows(expression, known.columns, Expression::Part::row_outputs, request, known.units());
  CountLine progress("predict: rows", rows.table.num_rows, Verbosity::normal);
  RowPrediction predicted = predict_outputs(expression, rows.values, read_run_draws(options.run),
                                            "likelihood.rows", with_progress(options, progress));
  progress.end();
  return predicted;
}

RowPrediction predict_mixture(const Options& options) {
  Table rows = rows_of(options);
  const Inspection inspection = inspect_run(options.run, Numbering::mended);
  CountLine progress("predict: rows", rows.num_rows, Verbosity::normal);
  RowPrediction predicted =
      predict_components(inspection, std::move(rows), options.run, with_progress(options, progress));
  progress.end();
  if (!predicted.partition) throw std::logic_error("predictions of a mixture without a partition");
  const MixturePartition& partition = *predicted.partition;
  if (!partition.overlap.empty())
    std::cerr << "emomc: warning: " << options.run << ": " << partition.overlap
              << "; their probabilities depend on how draws are matched, but of the partition only the "
                 "numbers of the components do\n";
  std::cerr << fmt::format(
      "note: the partition is the best of {} by {}; {:.2g} % of the pairs of rows are expected to be in one "
      "component here and in different ones in truth, or the reverse\n",
      counted(partition.num_candidates, "candidate"), counted(partition.num_draws, "draw"),
      100 * partition.pairs_that_differ);
  return predicted;
}

// Quantiles of mixtures are left out, because five columns for each of eight components are too many to read.
std::string to_csv(const RowPrediction& predicted) {
  const RowSummaries& rows = predicted.rows;
  const std::size_t levels = predicted.partition ? 0 : rows.levels.size();
  std::string text = predicted.partition ? "row,partition" : "row";
  for (const std::string& name : predicted.outputs) {
    text += "," + name + "_mean," + name + "_sd";
    for (std::size_t q = 0; q < levels; ++q) text += "," + name + "_" + kQuantileNames.at(q);
  }
  text += '\n';
  for (std::size_t i = 0, at = 0; i < rows.num_rows; ++i) {
    text += std::to_string(i + 1);
    if (predicted.partition) text += "," + std::to_string(predicted.partition->components[i]);
    for (std::size_t o = 0; o < rows.num_quantities; ++o, ++at) {
      text += "," + shortest_text(rows.mean[at]) + "," + shortest_text(rows.sd[at]);
      for (std::size_t q = 0; q < levels; ++q) text += "," + shortest_text(rows.quantiles[at * levels + q]);
    }
    text += '\n';
  }
  return text;
}

std::string to_json(const RowPrediction& predicted, const std::string& run) {
  const RowSummaries& rows = predicted.rows;
  nlohmann::ordered_json json{{"run", run}, {"draws", predicted.num_draws}, {"rows", rows.num_rows}};
  if (predicted.partition) {
    const MixturePartition& partition = *predicted.partition;
    json["components"] = rows.num_quantities;
    json["labels"] = labels_name(partition.labels);
    json["partition"] = {{"criterion", "Binder's loss with equal costs (the least squares of Dahl 2006)"},
                         {"candidates", partition.num_candidates},
                         {"draws", partition.num_draws},
                         {"pairs_that_differ", partition.pairs_that_differ},
                         {"is_most_probable", partition.is_most_probable},
                         {"component", partition.components}};
  }
  for (std::size_t o = 0; o < rows.num_quantities; ++o) {
    nlohmann::ordered_json& output = json["outputs"][predicted.outputs[o]];
    for (std::size_t at = o; at < rows.mean.size(); at += rows.num_quantities) {
      output["mean"].push_back(rows.mean[at]);
      output["sd"].push_back(rows.sd[at]);
      for (std::size_t q = 0; q < rows.levels.size(); ++q)
        output[kQuantileNames.at(q)].push_back(rows.quantiles[at * rows.levels.size() + q]);
    }
  }
  return json.dump(1) + "\n";
}

void predict(const Options& options) {
  if (options.output != "-") require_possible_output(options.output);
  refuse_link_cycle(options.run);
  if (!std::filesystem::is_directory(options.run))
    throw InputError(options.run + ": there is no such run directory");
  refuse_many_posteriors(options.run);
  if (options.output != "-") {
    std::vector<std::string> read{options.run};
    read.insert(read.end(), options.data.begin(), options.data.end());
    refuse_input_as_output(options.output, files_read_from(read));
  }
  const auto expression = expression_of_run(options.run);
  const RowPrediction predicted =
      expression ? predict_expression(options, *expression) : predict_mixture(options);
  const std::string text = options.json ? to_json(predicted, options.run) : to_csv(predicted);
  if (options.output == "-")
    std::cout << text;
  else
    write_output(options.output, text);
}

}  // namespace

void add_predict(CLI::App& app, int&) {
  auto* command = app.add_subcommand("predict",
                                     "For each row: the probability of each component of a mixture, or "
                                     "likelihood.rows of a likelihood of your own");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "Run directory")->required();
  command->add_option("--data", options->data, "Other rows: CSV or .npy (default: the run's data)");
  command->add_option("-o,--output", options->output, "File to write (default: standard output)");
  command->add_option("--draws", options->draws, "Number of draws to use, at equal distances")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON, with quantiles");
  command->footer("Example: emomc predict runs/regression --data new.csv -o predictions.csv");
  command->callback([options] { predict(*options); });
}

}  // namespace emomc::app
