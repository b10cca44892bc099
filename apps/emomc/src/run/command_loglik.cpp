#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "code_options.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/input_path.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/posterior/json_value.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "run_config.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

constexpr std::uintmax_t kMostParameterBytes = 16 << 20;

struct Options {
  std::vector<std::string> data, columns;
  std::string config;  ///< configuration with a likelihood of the user's own
  std::string model = ModelSpec{}.name, parameters, backend = "auto", precision = "double";
  std::string header = "auto", separator = "auto", decimal = "auto";
  int threads = 0;
  bool pointwise = false, json = false;
};

std::string read_text_file(const std::string& name) {
  refuse_link_cycle(name);
  std::error_code error;
  if (!std::filesystem::is_regular_file(name, error))
    throw InputError(name + ": no such parameter file; a JSON file is needed");
  return read_text(name, kMostParameterBytes);
}

void print(const Options& options, double sum, const std::vector<double>& rows, const LoadedData& loaded,
           Backend backend) {
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
  };
  if (!options.json) {
    if (options.pointwise)
      for (double x : rows) std::cout << shortest_text(x) << '\n';
    std::cout << "log_likelihood " << shortest_text(sum) << '\n';
    return;
  }
  nlohmann::ordered_json json{{"log_likelihood", number(sum)},
                              {"rows", loaded.data.num_rows},
                              {"model", options.config.empty() ? options.model : options.config},
                              {"backend", backend_name(backend)},
                              {"precision", backend == Backend::reference ? "double" : options.precision}};
  if (options.pointwise) {
    json["pointwise"] = nlohmann::ordered_json::array();
    for (double x : rows) json["pointwise"].push_back(number(x));
  }
  std::cout << json.dump(options.pointwise ? -1 : 1) << '\n';
}

CsvFormat format_of(const Options& options) {
  CsvFormat format;
  if (options.header != "auto") format.header = options.header == "true";
  format.separator = options.separator == "comma"       ? ','
                     : options.separator == "semicolon" ? ';'
                     : options.separator == "tab"       ? '\t'
                                                        : '\0';
  format.decimal = options.decimal == "comma" ? ',' : options.decimal == "point" ? '.' : '\0';
  return format;
}

int tell(const Options& options, double sum, const std::vector<double>& rows, const LoadedData& loaded,
         Backend backend) {
  print(options, sum, rows, loaded, backend);
  if (std::isfinite(sum)) return kDone;
  std::cerr
      << "the log likelihood is not finite: the density of a row is 0 at these parameters, or not a number\n";
  return kCheckFailed;
}

int loglik_of_config(const Options& options, Precision precision) {
  RunConfig config = load_run_config(options.config);
  if (!config.likelihood.is_expression())
    throw InputError(options.config +
                     ": --config is for likelihoods of your own (likelihood.log_density); for " +
                     config.likelihood.model + " use --data and --model");
  if (!options.data.empty()) config.data.files = options.data;
  const LoadedExpression own =
      load_expression(config.data, config.likelihood.expression, backend_of_name(options.backend), 1);
  const std::vector<double> theta =
      parse_parameters(read_text_file(options.parameters), options.parameters, own.expression->layout());
  const auto device = make_device(own.backend);
  const auto engine =
      make_engine(own.backend, own.model, precision, own.loaded.data, *device, options.threads);
  engine->allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  double sum = 0;
  engine->sums_by_segment(theta.data(), 1, &sum);
  std::vector<double> rows;
  if (options.pointwise) {
    rows.resize(own.loaded.data.num_rows);
    engine->evaluate_rows(theta.data(), rows.data());
  }
  return tell(options, sum, rows, own.loaded, own.backend);
}

int loglik(const Options& options) {
  const Precision precision = options.precision == "mixed" ? Precision::mixed : Precision::float64;
  if (!options.config.empty()) return loglik_of_config(options, precision);
  if (options.data.empty())
    throw InputError("--data: a file is needed, or --config with a likelihood of your own");
  const std::string text = read_text_file(options.parameters);
  const ModelSpec model = model_of_parameters(text, options.parameters, options.model);
  // Data are standardised also for float64: the value is the same, and columns far from 0 lose no accuracy.
  const LoadedData loaded = load_data({options.data, options.columns, true, format_of(options)}, model);
  const ParameterLayout layout = model_layout(model, loaded.data.dim);
  std::vector<double> theta = parse_parameters(text, options.parameters, layout);
  to_sampler_units(layout, loaded.units, theta);

  const Backend backend = resolve_backend(backend_of_name(options.backend), model, loaded.data, 1);
  const auto device = make_device(backend);
  const auto engine = make_engine(backend, model, precision, loaded.data, *device, options.threads);
  engine->allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  double sum = 0;
  engine->sums_by_segment(theta.data(), 1, &sum);
  sum += log_likelihood_offset(loaded.units, loaded.data.num_rows);
  std::vector<double> rows;
  if (options.pointwise) {
    rows.resize(loaded.data.num_rows);
    engine->evaluate_rows(theta.data(), rows.data());
    const double offset = log_likelihood_offset(loaded.units, 1);
    for (double& x : rows) x += offset;
  }
  return tell(options, sum, rows, loaded, backend);
}

}  // namespace

void add_loglik(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("loglik", "The log-likelihood of data at given parameters");
  auto options = std::make_shared<Options>();
  command->add_option("--data", options->data, "CSV with a header or .npy; files or globs");
  command->add_option(
      "--config", options->config,
      "Configuration with a likelihood of your own (likelihood.log_density), in place of --model");
  command->add_option("--columns", options->columns, "Columns to use, in this order (default: all data)")
      ->delimiter(',');
  command->add_option("--header", options->header, "As data.header: auto, true or false")
      ->check(CLI::IsMember({"auto", "true", "false"}));
  command->add_option("--separator", options->separator, "As data.separator: auto, comma, semicolon or tab")
      ->check(CLI::IsMember({"auto", "comma", "semicolon", "tab"}));
  command->add_option("--decimal", options->decimal, "As data.decimal: auto, point or comma")
      ->check(CLI::IsMember({"auto", "point", "comma"}));
  command->add_option("--model", options->model, "Model")
      ->check(CLI::IsMember(model_names()))
      ->capture_default_str();
  command
      ->add_option("--parameters", options->parameters,
                   "JSON file in the data's own units: {\"weights\": [K], \"means\": [K][d], "
                   "\"scales\": [K][d]}; [K] for a spherical mixture, \"covariance\": [d][d] for a tied, "
                   "\"covariances\": [K][d][d] for a full one")
      ->required();
  command->add_option("--backend", options->backend, "auto, reference, cpu or cuda")
      ->check(CLI::IsMember({"auto", "reference", "cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--precision", options->precision, "double, or mixed: float32 terms, float64 sums")
      ->check(CLI::IsMember({"mixed", "double"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of the cpu backend; 0: all")
      ->check(CLI::Range(0, 4096));
  command->add_flag("--pointwise", options->pointwise, "Also the log density of each row");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: emomc loglik --data features.csv --model " + options->model +
                  " --parameters fit.json");
  add_code_options(*command);
  command->callback([options, command, &status] {
    for (const char* name : {"--columns", "--header", "--separator", "--decimal", "--model"})
      if (!options->config.empty() && command->count(name) > 0)
        throw InputError(std::string(name) + ": not used with --config, whose file states it; remove it");
    status = loglik(*options);
  });
}

}  // namespace emomc::app
