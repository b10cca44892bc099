#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/mixture_fit.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/sampler/output_file.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "run_setup.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string config, output, start, maximize = "likelihood";
  std::vector<std::string> set;
  int restarts = 8, max_rounds = 10000;
  double tolerance = 1e-10;
  bool json = false, quiet = false;
};

// Raises f(theta(u)) + log prior coordinate by coordinate: a Newton step by differences, halved until it goes
// up.
std::vector<double> raise_by_coordinates(const Target& target, std::span<const double> start,
                                         const ThetaFunction& f) {
  constexpr double kStep = 1e-4, kLongest = 1.0;
  constexpr int kHalvings = 20;
  std::vector<double> theta(start.begin(), start.end());
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
  target.unconstrain(theta, u);
  const auto value = [&] {
    target.constrain(u, theta);
    return f(theta) + target.log_prior(theta);
  };
  double here = value();
  for (double& x : u) {
    const double keep = x;
    x = keep + kStep;
    const double above = value();
    x = keep - kStep;
    const double below = value();
    const double slope = (above - below) / (2 * kStep), bend = (above - 2 * here + below) / (kStep * kStep);
    double step = bend < 0 ? -slope / bend : std::copysign(kStep, slope);
    step = std::clamp(step, -kLongest, kLongest);
    bool better = false;
    for (int halving = 0; halving < kHalvings && !better; ++halving, step /= 2) {
      x = keep + step;
      const double there = value();
      better = there > here;
      if (better) here = there;
    }
    if (!better) x = keep;
  }
  target.constrain(u, theta);
  return theta;
}

// Two Gaussians with one mean: splits of the data's own width.
std::vector<double> two_gaussian_start(const LoadedData& loaded, int restart) {
  const std::vector<double>& x = loaded.data.values;
  double mean = 0, variance = 0;
  for (double v : x) mean += v / static_cast<double>(x.size());
  for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  constexpr int kFractions = 3;
  const int wider = restart / kFractions;
  const double sd = std::sqrt(variance), ratio = 1.5 + 0.5 * wider,
               fraction = 0.3 + 0.2 * (restart % kFractions);
  return {fraction, mean, sd / ratio, sd * ratio};
}

std::vector<std::vector<double>> starts_of(const Options& options, const RunConfig& config,
                                           const RunSetup& setup) {
  if (!options.start.empty()) {
    auto theta = read_parameter_file(options.start, setup.engine->layout());
    to_sampler_units(setup.engine->layout(), setup.loaded.units, theta);
    return {theta};
  }
  std::vector<std::vector<double>> starts;
  if (setup.model.name == "two_gaussian") {
    for (int i = 0; i < options.restarts; ++i) starts.push_back(two_gaussian_start(setup.loaded, i));
    return starts;
  }
  const MixtureStarts pool(setup.loaded.data, setup.model.components, config.sampler.seed);
  for (int i = 0; i < options.restarts; ++i)
    starts.push_back(in_layout(setup.engine->layout(), pool.ranked(static_cast<std::size_t>(i))));
  return starts;
}

FitOptions fit_options(const Options& options, const RunConfig& config, const RunSetup& setup) {
  FitOptions fit;
  fit.tolerance = options.tolerance;
  fit.max_rounds = options.max_rounds;
  for (double sd : setup.loaded.column_sd) fit.smallest_scale.push_back(config.prior.scale_floor * sd);
  if (options.maximize == "likelihood") return fit;
  if (setup.target->dim() != setup.engine->layout().dim())
    throw InputError(
        "--maximize posterior: a density whose priors have sampled arguments has no mode; give "
        "them numbers");
  const Target& target = *setup.target;
  fit.log_prior = [&target](std::span<const double> theta) { return target.log_prior(theta); };
  fit.raise = [&target](std::span<const double> theta, const ThetaFunction& expected) {
    return raise_by_coordinates(target, theta, expected);
  };
  return fit;
}

void print(const Options& options, const RunSetup& setup, const FitResult& best, std::size_t num_starts,
           double seconds_per_round) {
  const ParameterLayout& layout = setup.engine->layout();
  std::vector<double> theta = best.theta;
  to_data_units(layout, setup.loaded.units, theta);
  const std::string parameters = parameters_to_json(layout, theta);
  const double log_likelihood =
      best.log_likelihood + log_likelihood_offset(setup.loaded.units, setup.loaded.data.num_rows);
  if (!options.output.empty()) write_output(options.output, parameters);
  if (options.json) {
    nlohmann::ordered_json json{{"maximized", options.maximize},
                                {"log_likelihood", log_likelihood},
                                {"rounds", best.rounds},
                                {"converged", best.converged},
                                {"starts", num_starts},
                                {"seconds_per_round", seconds_per_round},
                                {"backend", backend_name(setup.backend)}};
    if (options.maximize == "posterior") json["log_prior"] = best.objective - best.log_likelihood;
    json["parameters"] = nlohmann::ordered_json::parse(parameters);
    std::cout << json.dump(1) << '\n';
    return;
  }
  if (!options.quiet)
    std::cerr << fmt::format("log likelihood {}, {} rounds{}, best of {} starts\n",
                             shortest_text(log_likelihood), best.rounds,
                             best.converged ? "" : " (not converged)", num_starts);
  if (options.output.empty()) std::cout << parameters;
}

int fit(const Options& options) {
  const RunConfig config = load_run_config(options.config, options.set);
  if (!options.output.empty()) require_possible_output(options.output);
  const RunSetup setup = set_up(config);
  const FitOptions how = fit_options(options, config, setup);
  if (!options.quiet) {
    for (const auto& line : describe(setup.loaded)) std::cerr << line << '\n';
    for (const auto& line : warnings(setup.loaded)) std::cerr << "warning: " << line << '\n';
  }
  const auto fitter =
      make_fitter(setup.backend, setup.model, setup.loaded.data, *setup.device, config.threads);
  const auto starts = starts_of(options, config, setup);
  const double offset = log_likelihood_offset(setup.loaded.units, setup.loaded.data.num_rows);
  FitResult best;
  const auto began = std::chrono::steady_clock::now();
  int rounds = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::vector<double> start = starts[i];
    if (how.raise) setup.target->move_inside(start);
    const FitResult result = fitter->fit(start, how);
    if (!options.quiet && starts.size() > 1)
      std::cerr << fmt::format("start {} of {}: {} rounds, log likelihood {:.6f}\n", i + 1, starts.size(),
                               result.rounds, result.log_likelihood + offset);
    rounds += result.rounds;
    if (i == 0 || result.objective > best.objective) best = result;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  print(options, setup, best, starts.size(), seconds.count() / std::max(rounds, 1));
  return best.converged ? kDone : kCheckFailed;
}

}  // namespace

void add_fit(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("fit", "Maximum likelihood or a posterior mode by EM, as a parameter file");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "YAML configuration, as of emomc run")->required();
  command->add_option("--set", options->set, "Override a key: --set likelihood.components=4")
      ->allow_extra_args(false);
  command->add_option("-o,--output", options->output,
                      "File to write the parameters to (default: print them)");
  command
      ->add_option("--maximize", options->maximize,
                   "likelihood, or posterior: with the configuration's priors")
      ->check(CLI::IsMember({"likelihood", "posterior"}))
      ->capture_default_str();
  auto* restarts =
      command->add_option("--restarts", options->restarts, "Starts, the best of 64 k-means clusterings")
          ->check(CLI::Range(1, MixtureStarts::kCandidates))
          ->capture_default_str();
  command->add_option("--start", options->start, "One start: a parameter file")->excludes(restarts);
  command->add_option("--max-rounds", options->max_rounds, "Rounds of each start")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--tolerance", options->tolerance, "Least rise of a round, in log likelihood a row")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "Errors only");
  command->footer(
      "Example: emomc fit configs/sad.yaml -o fit.json\n"
      "Exit code 1 where EM has not converged. prior.scale_floor bounds scales from below, as it does in a "
      "run.");
  command->callback([options, &status] { status = fit(*options); });
}

}  // namespace emomc::app
