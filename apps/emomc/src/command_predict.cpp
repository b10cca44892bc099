#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/sampler/output_file.hpp"
#include "expression_run.hpp"
#include "run_data.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

constexpr std::array<double, 3> kLevels{0.05, 0.5, 0.95};
constexpr std::size_t kMostValues = std::size_t{1} << 26;  // draws x rows in memory: 512 MB

struct Options {
  std::string run, output = "-";
  std::vector<std::string> data;
  int draws = 1000;
  bool json = false;
};

struct Summary {
  double mean = 0, sd = 0;
  std::array<double, kLevels.size()> quantiles{};
};

Summary summary_of(std::span<double> values) {
  Summary s;
  const auto n = static_cast<double>(values.size());
  s.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  for (double x : values) s.sd += (x - s.mean) * (x - s.mean);
  s.sd = values.size() > 1 ? std::sqrt(s.sd / (n - 1)) : 0;
  std::sort(values.begin(), values.end());
  for (std::size_t q = 0; q < kLevels.size(); ++q) {
    const double at = kLevels[q] * (n - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    s.quantiles[q] = values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
  }
  return s;
}

/// Summaries over draws, one for each row and output, row-major.
std::vector<Summary> predict(const Expression& expression, const std::vector<std::vector<double>>& thetas,
                             const ExpressionRows& rows) {
  const std::size_t num_rows = rows.table.num_rows, outputs = expression.row_outputs().size(),
                    dim = expression.used_columns().size(), draws = thetas.size();
  const std::size_t at_once = std::max<std::size_t>(1, kMostValues / draws / outputs);
  std::vector<Summary> all(num_rows * outputs);
  ThreadPool threads(0);
  for (std::size_t first = 0; first < num_rows; first += at_once) {
    const std::size_t count = std::min(at_once, num_rows - first);
    const std::span<const double> part(rows.values.data() + first * dim, count * dim);
    std::vector<double> values(draws * count * outputs);
    threads.for_each(draws, [&](std::size_t s, int) {
      expression.evaluate_row_outputs(thetas[s].data(), part, values.data() + s * count * outputs);
    });
    std::vector<double> of_one(draws);
    for (std::size_t i = 0; i < count * outputs; ++i) {
      for (std::size_t s = 0; s < draws; ++s) of_one[s] = values[s * count * outputs + i];
      for (double x : of_one)
        if (!std::isfinite(x))
          throw InputError(fmt::format("likelihood.rows.{}: {} in row {} of the data",
                                       expression.row_outputs()[i % outputs], x, first + i / outputs + 1));
      all[first * outputs + i] = summary_of(of_one);
    }
  }
  return all;
}

std::string to_csv(const std::vector<std::string>& outputs, const std::vector<Summary>& all) {
  std::string text = "row";
  for (const auto& name : outputs)
    for (const char* what : {"mean", "sd", "q5", "q50", "q95"}) text += "," + name + "_" + what;
  text += '\n';
  for (std::size_t i = 0; i < all.size(); i += outputs.size()) {
    text += std::to_string(i / outputs.size() + 1);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const Summary& s = all[i + o];
      text += "," + shortest_text(s.mean) + "," + shortest_text(s.sd);
      for (double q : s.quantiles) text += "," + shortest_text(q);
    }
    text += '\n';
  }
  return text;
}

std::string to_json(const Options& options, const std::vector<std::string>& outputs,
                    const std::vector<Summary>& all, std::size_t draws) {
  nlohmann::ordered_json json{{"run", options.run}, {"draws", draws}, {"rows", all.size() / outputs.size()}};
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    nlohmann::ordered_json& of_output = json["outputs"][outputs[o]];
    for (std::size_t i = o; i < all.size(); i += outputs.size()) {
      of_output["mean"].push_back(all[i].mean);
      of_output["sd"].push_back(all[i].sd);
      of_output["q5"].push_back(all[i].quantiles[0]);
      of_output["q50"].push_back(all[i].quantiles[1]);
      of_output["q95"].push_back(all[i].quantiles[2]);
    }
  }
  return json.dump(1) + "\n";
}

void predict(const Options& options) {
  if (options.output != "-") require_possible_output(options.output);
  if (!std::filesystem::is_directory(options.run))
    throw InputError(options.run + ": there is no such run directory");
  const auto expression = expression_of_run(options.run);
  if (!expression || expression->row_outputs().empty())
    throw InputError(
        options.run +
        ": its configuration has no likelihood.rows, which say what to predict for each row, as in "
        "rows: {p: \"inv_logit(eta)\"}");
  const RunData known = read_run_data(options.run, 0);
  if (options.data.empty()) check_data_files(options.run, known);
  const ExpressionRows rows = read_expression_rows(*expression, known.columns, Expression::Part::row_outputs,
                                                   {options.data.empty() ? known.paths : options.data,
                                                    {},
                                                    options.data.empty() ? known.format : CsvFormat{},
                                                    known.categories});
  const DrawSet draws = read_run_draws(options.run);
  const std::size_t total = draws.num_chains() * draws.num_draws,
                    count = std::min(total, static_cast<std::size_t>(options.draws)),
                    dim = static_cast<std::size_t>(expression->layout().dim());
  std::vector<std::vector<double>> thetas(count, std::vector<double>(dim));
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t j = 0; j < dim; ++j)
      thetas[s][j] = draws.values[(draws.num_log_densities + j) * total + s * total / count];
  const std::vector<Summary> all = predict(*expression, thetas, rows);
  const std::string text = options.json ? to_json(options, expression->row_outputs(), all, count)
                                        : to_csv(expression->row_outputs(), all);
  if (options.output == "-")
    std::cout << text;
  else
    write_output(options.output, text);
}

}  // namespace

void add_predict(CLI::App& app, int&) {
  auto* command =
      app.add_subcommand("predict", "Quantities of each row under the posterior (likelihood.rows)");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "Run directory of a likelihood of your own")->required();
  command->add_option("--data", options->data, "Other rows: CSV or .npy (default: the run's data)");
  command->add_option("-o,--output", options->output, "File to write (default: standard output)");
  command->add_option("--draws", options->draws, "Number of draws to use, at equal distances")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: emomc predict runs/regression --data new.csv -o predictions.csv");
  command->callback([options] { predict(*options); });
}

}  // namespace emomc::app
