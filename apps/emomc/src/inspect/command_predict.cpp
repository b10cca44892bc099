#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/output_file.hpp"
#include "expression_run.hpp"
#include "mixture_prediction.hpp"
#include "row_summaries.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string run, output = "-";
  std::vector<std::string> data;
  int draws = 1000;
  bool json = false;
};

std::string to_csv(const std::vector<std::string>& outputs, const std::vector<RowSummary>& all) {
  std::string text = "row";
  for (const auto& name : outputs)
    for (const char* what : {"mean", "sd", "q5", "q50", "q95"}) text += "," + name + "_" + what;
  text += '\n';
  for (std::size_t i = 0; i < all.size(); i += outputs.size()) {
    text += std::to_string(i / outputs.size() + 1);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const RowSummary& s = all[i + o];
      text += "," + shortest_text(s.mean) + "," + shortest_text(s.sd);
      for (double q : s.quantiles) text += "," + shortest_text(q);
    }
    text += '\n';
  }
  return text;
}

/// Returns the predictions of the expressions in `likelihood.rows` as text.
std::string predict_expression(const Options& options, const Expression& expression) {
  if (expression.row_outputs().empty())
    throw InputError(
        options.run +
        ": its configuration has no likelihood.rows, which say what to predict for each row, as in "
        "rows: {p: \"inv_logit(eta)\"}");
  const RunData known = read_run_data(options.run, 0);
  if (options.data.empty()) check_data_files(options.run, known);
  TableRequest request = known.request({});
  if (!options.data.empty()) {
    request.files = options.data;
    request.format = CsvFormat{};
  }
  const ExpressionRows rows =
      read_expression_rows(expression, known.columns, Expression::Part::row_outputs, request, known.units());
  const DrawSet draws = read_run_draws(options.run);
  const std::size_t total = draws.num_chains() * draws.num_draws,
                    count = std::min(total, static_cast<std::size_t>(options.draws)),
                    dim = static_cast<std::size_t>(expression.layout().dim()),
                    columns = expression.used_columns().size();
  std::vector<std::vector<double>> thetas(count, std::vector<double>(dim));
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t j = 0; j < dim; ++j)
      thetas[s][j] = draws.values[(draws.num_log_densities + j) * total + s * total / count];
  RowQuantities quantities;
  quantities.names = expression.row_outputs();
  quantities.num_rows = rows.table.num_rows;
  quantities.num_draws = count;
  quantities.evaluate = [&](std::size_t s, std::size_t first, std::size_t num_rows, double* out) {
    expression.evaluate_row_outputs(thetas[s].data(),
                                    {rows.values.data() + first * columns, num_rows * columns}, out);
  };
  quantities.fault = [&](std::size_t quantity, double value) {
    return fmt::format("likelihood.rows.{}: {}", quantities.names[quantity], value);
  };
  ThreadPool threads(0);
  const std::vector<RowSummary> all = summarize_rows(quantities, threads);
  const std::size_t outputs = quantities.names.size();
  if (!options.json) return to_csv(quantities.names, all);
  nlohmann::ordered_json json{{"run", options.run}, {"draws", count}, {"rows", all.size() / outputs}};
  for (std::size_t o = 0; o < outputs; ++o) json["outputs"][quantities.names[o]] = to_json(all, o, outputs);
  return json.dump(1) + "\n";
}

std::string component_name(std::size_t k) { return "component_" + std::to_string(k); }

// Quantiles are left out, because a reader cannot take in five columns for each of eight components.
std::string to_csv(const MixturePrediction& predicted) {
  const auto K = static_cast<std::size_t>(predicted.num_components);
  std::string text = "row,partition";
  for (std::size_t k = 0; k < K; ++k) text += "," + component_name(k) + "_mean," + component_name(k) + "_sd";
  text += '\n';
  for (std::size_t i = 0; i < predicted.num_rows(); ++i) {
    text += std::to_string(i + 1) + "," + std::to_string(predicted.partition[i]);
    for (std::size_t k = 0; k < K; ++k) {
      const RowSummary& s = predicted.probabilities[i * K + k];
      text += "," + shortest_text(s.mean) + "," + shortest_text(s.sd);
    }
    text += '\n';
  }
  return text;
}

std::string to_json(const MixturePrediction& predicted, const std::string& run) {
  const auto K = static_cast<std::size_t>(predicted.num_components);
  nlohmann::ordered_json json{
      {"run", run},
      {"draws", predicted.num_draws},
      {"rows", predicted.num_rows()},
      {"components", K},
      {"labels", labels_name(predicted.labels)},
      {"partition",
       {{"criterion", "Binder's loss with equal costs (the least squares of Dahl 2006)"},
        {"candidates", predicted.num_candidates},
        {"draws", predicted.num_partition_draws},
        {"pairs_that_differ", predicted.pairs_that_differ},
        {"is_most_probable", predicted.is_most_probable},
        {"component", predicted.partition}}}};
  for (std::size_t k = 0; k < K; ++k)
    json["outputs"][component_name(k)] = to_json(predicted.probabilities, k, K);
  return json.dump(1) + "\n";
}

std::string predict_components(const Options& options) {
  const MixturePrediction predicted =
      predict_mixture(options.run, options.data, static_cast<std::size_t>(options.draws));
  if (!predicted.overlap.empty())
    std::cerr << "emomc: warning: " << options.run << ": " << predicted.overlap
              << "; their probabilities depend on how draws are matched, the partition only in what they are "
                 "called\n";
  std::cerr << fmt::format(
      "note: the partition is the best of {} by {}; {:.2g} % of the pairs of rows are expected to be "
      "together "
      "here and apart in truth, or the reverse\n",
      counted(predicted.num_candidates, "candidate"), counted(predicted.num_partition_draws, "draw"),
      100 * predicted.pairs_that_differ);
  return options.json ? to_json(predicted, options.run) : to_csv(predicted);
}

void predict(const Options& options) {
  if (options.output != "-") require_possible_output(options.output);
  if (!std::filesystem::is_directory(options.run))
    throw InputError(options.run + ": there is no such run directory");
  refuse_many_posteriors(options.run);
  const auto expression = expression_of_run(options.run);
  const std::string text =
      expression ? predict_expression(options, *expression) : predict_components(options);
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
