#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "bench_measure.hpp"
#include "code_options.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "run_config.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string config;  ///< configuration with a likelihood of the user's own
  std::vector<std::string> methods;
  std::vector<std::size_t> rows{100, 1'000, 10'000, 100'000, 1'000'000};
  std::vector<int> chains{1, 16, 256};
  int dim = 13, components = 8, threads = 0;
  std::string model = ModelSpec{}.name, precision = "mixed", covariance = ModelSpec{}.covariance;
  std::string proposal = "random_walk";
  double seconds = 0.3;
  std::string kernels = step_kernels_names().front();
  bool gradient = false, json = false;
  std::vector<int> ranks;  ///< numbers of ranks among which rows are divided; empty: no such measurement
};

// Each line is printed as soon as it is measured. Columns therefore have fixed widths, which together stay
// below 80 characters.
void print_line(const std::string& line) { fmt::print("{}\n", cut_to(line, terminal_width(STDOUT_FILENO))); }

BenchCase bench_case(const Options& options, const std::string& method, std::size_t rows, int chains) {
  return {.backend = backend_of_name(method),
          .precision = options.precision == "mixed" ? Precision::mixed : Precision::float64,
          .rows = rows,
          .dim = options.dim,
          .components = options.components,
          .chains = chains,
          .threads = options.threads,
          .seconds = options.seconds,
          .model = options.model,
          .covariance = options.covariance,
          .proposal = options.proposal,
          .gradient = options.gradient,
          .kernels = step_kernels_of_name(options.kernels)};
}

void bench(Options options) {
  const ModelInfo& model = model_info(options.model, options.covariance);
  if (model.fixed_dim) options.dim = model.fixed_dim;
  if (model.fixed_components) options.components = model.fixed_components;
  std::vector<std::string> methods = options.methods;
  if (methods.empty()) {
    methods = {"reference", "cpu"};
    if (!list_cuda_devices().empty()) methods.push_back("cuda");
  }
  for (const auto& method : methods)
    if (method == "cuda") make_device(Backend::cuda);  // refuses a missing GPU before anything is measured
  auto results = nlohmann::ordered_json::array();
  if (!options.json) {
    const auto columns = options.gradient ? fmt::format("{:>11}", "us/gradient")
                                          : fmt::format("{:>9} {:>9}", "us/step", "us/sweep");
    print_line(fmt::format("{:<9} {:>8} {:>3} {:>3} {:>6} {:>9} {:>13} {}", "method", "n", "dim", "K",
                           "chains", "precision", "us/evaluation", columns));
  }
  for (const auto& method : methods)
    for (const std::size_t rows : options.rows)
      for (const int chains : options.chains) {
        const bool reference = method == "reference";
        if (reference && chains > 1) continue;  // the engine is serial: the same work, `chains` times
        const BenchCase one = bench_case(options, method, rows, chains);
        const BenchResult result = measure(one);
        const std::string precision = reference ? "double" : options.precision;
        if (options.json) {
          results.push_back({{"method", method},
                             {"model", options.model},
                             {"n", rows},
                             {"dim", options.dim},
                             {"components", options.components},
                             {"covariance", options.covariance},
                             {"proposal", options.proposal},
                             {"chains", chains},
                             {"precision", precision},
                             {"microseconds_per_evaluation", result.microseconds_per_evaluation},
                             {"microseconds_per_step", result.microseconds_per_step},
                             {"microseconds_per_sweep", result.microseconds_per_sweep},
                             {"device", result.device}});
          if (method == "cuda") {
            results.back()["step_kernels"] = result.step_kernels;
            results.back()["sweep_kernels"] = result.sweep_kernels;
          }
          if (options.gradient) {
            for (const char* step : {"microseconds_per_step", "microseconds_per_sweep", "step_kernels",
                                     "sweep_kernels", "proposal"})
              results.back().erase(step);
            results.back()["microseconds_per_gradient"] = nullptr;
            if (result.microseconds_per_gradient)
              results.back()["microseconds_per_gradient"] = *result.microseconds_per_gradient;
          }
          if (method == "cpu")
            results.back()["threads"] =
                options.threads ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
        } else {
          const auto& gradient = result.microseconds_per_gradient;
          const auto columns =
              options.gradient ? fmt::format("{:>11}", gradient ? fmt::format("{:.4g}", *gradient) : "none")
                               : fmt::format("{:>9.4g} {:>9.4g}", result.microseconds_per_step,
                                             result.microseconds_per_sweep);
          print_line(fmt::format("{:<9} {:>8} {:>3} {:>3} {:>6} {:>9} {:>13.4g} {}", method, rows,
                                 options.dim, options.components, chains, precision,
                                 result.microseconds_per_evaluation, columns));
          std::fflush(stdout);
        }
      }
  if (options.json)
    std::cout << results.dump(1) << '\n';
  else
    fmt::print(
        "Covariance {}. Per parameter vector, per chain: wall time divided by the number of chains.{}\n",
        options.covariance,
        options.gradient ? " gradient: an evaluation with its gradient."
                         : " step: a step of " + options.proposal +
                               "; sweep: a step of component_wise over all its blocks.");
}

/// Measures evaluations of a likelihood of the user's own, without and with gradients.
void bench_config(const Options& options) {
  const RunConfig config = load_run_config(options.config);
  if (!config.likelihood.is_expression())
    throw InputError(options.config + ": --config is for likelihoods of your own (likelihood.log_density)");
  std::vector<std::string> methods = options.methods;
  if (methods.empty()) {
    methods = {"cpu"};
    if (!list_cuda_devices().empty()) methods.emplace_back("cuda");
  }
  auto results = nlohmann::ordered_json::array();
  bool is_first = true;  // the heading is printed after the first measurement, so that a fault of the
                         // configuration precedes all output
  for (const auto& method : methods)
    for (const int chains : options.chains) {
      BenchCase one = bench_case(options, method, 0, chains);  // measure() sets the number of rows
      const BenchResult result = measure(one, config);
      if (!options.json && std::exchange(is_first, false))
        print_line(fmt::format("{:<9} {:>8} {:>6} {:>9} {:>13} {:>11}", "method", "n", "chains", "precision",
                               "us/evaluation", "us/gradient"));
      const auto& gradient = result.microseconds_per_gradient;
      if (options.json) {
        results.push_back({{"method", method},
                           {"config", options.config},
                           {"n", one.rows},
                           {"chains", chains},
                           {"precision", method == "reference" ? "double" : options.precision},
                           {"microseconds_per_evaluation", result.microseconds_per_evaluation},
                           {"microseconds_per_gradient", nullptr},
                           {"device", result.device}});
        if (gradient) results.back()["microseconds_per_gradient"] = *gradient;
        continue;
      }
      print_line(fmt::format("{:<9} {:>8} {:>6} {:>9} {:>13.4g} {:>11}", method, one.rows, chains,
                             method == "reference" ? "double" : options.precision,
                             result.microseconds_per_evaluation,
                             gradient ? fmt::format("{:.4g}", *gradient) : "none"));
      std::fflush(stdout);
    }
  if (options.json) std::cout << results.dump(1) << '\n';
}

/// Measures evaluations with rows divided among ranks.
void bench_shared_rows(Options options) {
  const ModelInfo& model = model_info(options.model, options.covariance);
  if (model.fixed_dim) options.dim = model.fixed_dim;
  if (model.fixed_components) options.components = model.fixed_components;
  if (options.methods.size() > 1)
    throw InputError("--ranks measures one method; --method " + options.methods[0]);
  const std::string method = !options.methods.empty()      ? options.methods[0]
                             : list_cuda_devices().empty() ? "cpu"
                                                           : "cuda";
  if (method == "reference") throw InputError("--ranks: the method reference does not divide rows");
  const auto num_gpus = static_cast<int>(list_cuda_devices().size());
  for (const int ranks : options.ranks)
    if (method == "cuda" && ranks > num_gpus)
      throw InputError("--ranks: " + std::to_string(ranks) + " ranks need a GPU each; this machine has " +
                       std::to_string(num_gpus));
  auto results = nlohmann::ordered_json::array();
  if (!options.json)
    print_line(fmt::format("{:<6} {:>10} {:>3} {:>3} {:>6} {:>9} {:>5} {:>13} {:>9}", "method", "n", "dim",
                           "K", "chains", "precision", "ranks",
                           options.gradient ? "us/gradient" : "us/evaluation", "comm."));
  for (const std::size_t rows : options.rows)
    for (const int chains : options.chains) {
      const BenchCase one = bench_case(options, method, rows, chains);
      const std::vector<SharedRowsResult> measured = measure_shared_rows(one, options.ranks);
      for (std::size_t i = 0; i < measured.size(); ++i) {
        const SharedRowsResult& result = measured[i];
        const int ranks = options.ranks[i];
        if (options.json) {
          results.push_back({{"method", method},
                             {"model", options.model},
                             {"n", rows},
                             {"dim", options.dim},
                             {"components", options.components},
                             {"covariance", options.covariance},
                             {"chains", chains},
                             {"precision", options.precision},
                             {"gradient", options.gradient},
                             {"ranks", ranks},
                             {"microseconds", result.microseconds_per_evaluation},
                             {"communication", result.communication},
                             {"device", result.device},
                             {"way", result.way}});
          continue;
        }
        print_line(fmt::format("{:<6} {:>10} {:>3} {:>3} {:>6} {:>9} {:>5} {:>13.4g} {:>9.1f} %", method,
                               rows, options.dim, options.components, chains, options.precision, ranks,
                               result.microseconds_per_evaluation, 100 * result.communication));
        std::fflush(stdout);
      }
    }
  if (options.json)
    std::cout << results.dump(1) << '\n';
  else
    fmt::print(
        "Rows divided over ranks. Per parameter vector, per chain. comm.: share of this time that an engine "
        "with only one rank's rows does not take.\n");
}

// Returns "; NAME has one column" for each model with one column.
std::string notes_of_one_column() {
  std::string text;
  for (const ModelInfo& model : known_models())
    if (model.fixed_dim == 1) text += "; " + model.name + " has one column";
  return text;
}

}  // namespace

void add_bench(CLI::App& app, int&) {
  auto* command = app.add_subcommand("bench", "Time per evaluation and per step of a chain");
  auto options = std::make_shared<Options>();
  command->add_option("--config", options->config,
                      "Configuration with a likelihood of your own: evaluations of it on its data, without "
                      "and with gradients");
  command->add_option("--method", options->methods, "reference, cpu, cuda (default: all available)")
      ->delimiter(',')
      ->check(CLI::IsMember({"reference", "cpu", "cuda"}));
  command->add_option("--rows", options->rows, "Numbers of rows")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000}))
      ->capture_default_str();
  command->add_option("--chains", options->chains, "Numbers of chains")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--model", options->model, "Model" + notes_of_one_column())
      ->check(CLI::IsMember(model_names()))
      ->capture_default_str();
  command->add_option("--dim", options->dim, "Columns")->check(CLI::Range(1, 4096))->capture_default_str();
  command->add_option("--components", options->components, "Components")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--covariance", options->covariance, "Covariance of the mixture")
      ->check(CLI::IsMember(covariance_names()))
      ->capture_default_str();
  command->add_option("--proposal", options->proposal, "Proposal of the step that is timed")
      ->check(CLI::IsMember(proposal_names()))
      ->capture_default_str();
  command->add_option("--precision", options->precision, "mixed or double")
      ->check(CLI::IsMember({"mixed", "double"}))
      ->capture_default_str();
  command
      ->add_option("--kernels", options->kernels,
                   "Kernels that run steps on a GPU: automatic, or one form if the chains fit it (--json "
                   "tells which ran)")
      ->check(CLI::IsMember(step_kernels_names()))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of the cpu method; 0: all")
      ->check(CLI::Range(0, 4096));
  command->add_option("--seconds", options->seconds, "Least time of each measurement")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  command->add_flag("--gradient", options->gradient,
                    "Evaluations without and with gradients in place of steps");
  command
      ->add_option("--ranks", options->ranks,
                   "Evaluations with the rows divided over this many ranks (threads, each with its own GPU "
                   "or its share of the processors), and the share of communication")
      ->delimiter(',')
      ->check(CLI::Range(1, 64));
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: emomc bench --method cpu --rows 10000,1000000 --chains 1,4");
  add_code_options(*command);
  command->callback([options] {
    if (!options->ranks.empty())
      bench_shared_rows(*options);
    else if (options->config.empty())
      bench(*options);
    else
      bench_config(*options);
  });
}

}  // namespace emomc::app
