#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/input_path.hpp"
#include "emomc/likelihood/mixture_fit.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/posterior/mixture_fits.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/output_file.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/sampler/starts.hpp"
#include "fit_errors.hpp"
#include "kept_inputs.hpp"
#include "rank_setup.hpp"
#include "ranks.hpp"
#include "run_config.hpp"
#include "sampling_options.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

struct Options : KeyOptions {
  std::string config, file, start, maximize = "likelihood";
  int restarts = 8, max_rounds = 10000;
  double tolerance = 1e-10;
  bool json = false, quiet = false, errors = false;
};

// Increases f(theta(u)) + log prior one coordinate at a time, by a Newton step with finite differences that
// is halved until the value increases.
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

// Returns a start for a pair with a common mean: a narrower and a wider component than the data's own sd.
std::vector<double> start_of_pair(const LoadedData& loaded, int restart) {
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

// Runs EM from several starts on at most 20,000 evenly spaced rows. Returns the distinct optima, after
// Newton's method has moved each uphill on all rows; on many rows this takes a tenth of the time of EM.
FitStarts starts_of_pair(const Options& options, const RunConfig& config, const RunSetup& setup) {
  constexpr std::size_t kMostRows = 20'000;
  constexpr int kRounds = 1000;
  const DataSet& data = setup.loaded.data;
  DataSet some = data;
  if (data.num_rows > kMostRows) {
    std::vector<double> values;
    for (std::size_t i = 0; i < kMostRows; ++i) values.push_back(data.values[i * data.num_rows / kMostRows]);
    some = DataSet::single_segment(1, std::move(values));
  }
  std::vector<std::vector<double>> fits;
  for (int i = 0; i < options.restarts; ++i)
    fits.push_back(refine_by_em(some, setup.model, start_of_pair(setup.loaded, i), kRounds, config.threads));
  const auto host = make_device(Backend::cpu);
  const auto engine = make_engine(Backend::cpu, setup.model, Precision::float64, some, *host, config.threads);
  FitObjective objective(config, setup, options.maximize == "posterior");
  FitStarts starts;
  for (const auto& group : equal_fits(*engine, fits, static_cast<double>(some.num_rows))) {
    starts.points.push_back(objective.polished(fits[group.front()]));
    starts.num_fits.push_back(group.size());
  }
  starts.num_short_fits = fits.size();
  return starts;
}

FitStarts starts_of(const Options& options, const RunConfig& config, const RunSetup& setup) {
  FitStarts starts;
  if (!options.start.empty()) {
    auto theta = read_parameter_file(options.start, setup.engine->layout());
    to_sampler_units(setup.engine->layout(), setup.loaded.units, theta);
    starts.points = {theta};
  } else if (is_pair(info_of(config.likelihood))) {
    return starts_of_pair(options, config, setup);
  } else {
    return fit_starts(config, setup, options.restarts);
  }
  starts.num_fits.assign(starts.points.size(), 1);
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

// Prints a line for a reader about each parameter with its standard error; --json has the numbers for
// programs.
void print_errors(const ParameterLayout& layout, std::span<const double> theta,
                  const FitObjective::Errors& errors) {
  constexpr std::size_t kMostLines = 40;
  if (errors.standard_errors.empty()) {
    std::cerr << "no standard errors: " << errors.why_none << '\n';
    return;
  }
  std::vector<double> values(theta.begin(), theta.end());
  to_written(layout, values);
  const std::vector<std::string> names = element_names(layout);
  for (std::size_t p = 0; p < std::min(names.size(), kMostLines); ++p) {
    const double error = errors.standard_errors[p];
    // The error has two digits, and the value has the same number of decimal places.
    const int places = error > 0 ? std::max(0, 1 - static_cast<int>(std::floor(std::log10(error)))) : 6;
    std::cerr << fmt::format("{} = {:.{}f} +- {:.{}f}\n", names[p], values[p], places, error, places);
  }
  if (names.size() > kMostLines)
    std::cerr << fmt::format("... and {} more; --json has all\n", names.size() - kMostLines);
}

// Returns the name of weights whose Dirichlet prior is unbounded at the edge of the simplex, or an empty
// text.
std::string weights_without_highest_point(const RunConfig& config) {
  for (const auto& [name, prior] : config.prior.blocks) {
    if (prior.family != PriorFamily::dirichlet || prior.arguments.empty()) continue;
    const std::vector<double>& a = prior.arguments[0].values;
    if (std::any_of(a.begin(), a.end(), [](double x) { return x < 1; })) return name;
  }
  return "";
}

// Returns the names of the models with EM.
std::string models_with_em() {
  std::vector<std::string> names;
  for (const ModelInfo& model : known_models())
    if (model.has_em && (names.empty() || names.back() != model.name)) names.push_back(model.name);
  return joined(names);
}

void print(const Options& options, const RunConfig& config, const RunSetup& setup, const ChosenFit& chosen,
           const FitStarts& starts, const FitObjective::Errors& errors, double seconds_per_round) {
  const FitResult& best = chosen.best;
  const std::size_t num_starts = starts.num_short_fits > 0 ? starts.num_short_fits : starts.points.size();
  const ParameterLayout& layout = setup.engine->layout();
  std::vector<double> theta = best.theta;
  to_data_units(layout, setup.loaded.units, theta);
  const std::string parameters = parameters_to_json(layout, theta);
  const double log_likelihood =
      best.log_likelihood + log_likelihood_offset(setup.loaded.units, setup.loaded.data.num_rows);
  if (!options.file.empty()) write_output(options.file, parameters);
  if (!chosen.degenerate.empty())
    std::cerr << fmt::format("warning: the fit is degenerate, {}; {}\n", chosen.degenerate,
                             num_starts > 1 ? "so are those from all other starts: use fewer components"
                                            : "start elsewhere, or use fewer components");
  if (const std::string weights = weights_without_highest_point(config);
      options.maximize == "posterior" && !weights.empty())
    std::cerr << "warning: prior." + weights +
                     ": with an argument below 1 the posterior density of the weights grows without bound as "
                     "one of them goes to 0; this is a local mode\n";
  if (options.json) {
    nlohmann::ordered_json json{{"maximized", options.maximize},
                                {"log_likelihood", log_likelihood},
                                {"rounds", best.rounds},
                                {"converged", best.converged},
                                {"starts", num_starts},
                                {"followed", starts.points.size()},
                                {"reached_from", chosen.num_reached},
                                {"degenerate_starts", chosen.num_degenerate},
                                {"degenerate", !chosen.degenerate.empty()},
                                {"seconds_per_round", seconds_per_round},
                                {"backend", backend_name(setup.backend)}};
    if (options.maximize == "posterior")
      json["log_prior"] = best.objective - best.log_likelihood + setup.log_prior_offset;
    json["parameters"] = nlohmann::ordered_json::parse(parameters);
    if (errors.standard_errors.empty()) {
      json["standard_errors"] = nullptr;
      json["no_standard_errors"] = errors.why_none;
    } else {
      json["standard_errors"] =
          nlohmann::ordered_json::parse(written_to_json(layout, errors.standard_errors));
    }
    std::cout << json.dump(1) << '\n';
    return;
  }
  if (!options.quiet) {
    std::cerr << fmt::format("log likelihood {}, {} rounds{}, reached from {} of {} starts\n",
                             shortest_text(log_likelihood), best.rounds,
                             best.converged ? "" : " (not converged)", chosen.num_reached, num_starts);
    if (chosen.num_degenerate > 0 && chosen.degenerate.empty())
      std::cerr << fmt::format(
          "{} of {} starts ended with a scale at its floor or a component of fewer rows than columns + 2, "
          "and are not used\n",
          chosen.num_degenerate, num_starts);
  }
  if (options.file.empty()) std::cout << parameters;
  if (!options.quiet || options.errors) print_errors(layout, theta, errors);
}

// Fits from all starts, which are divided among ranks: processes, or GPUs of this process.
std::vector<FitResult> follow_starts(
    const std::vector<std::vector<double>>& starts, int dim, RankTeam<MixtureFitter>& fitters,
    const FitOptions& how,
    const std::function<void(std::size_t, std::size_t, const FitResult&, double)>& finished) {
  if (!is_several())
    return fits_from(starts, fitters, how, [&](std::size_t done, const FitResult& last, double seconds) {
      finished(done, starts.size(), last, seconds);
    });
  constexpr std::size_t kBesideTheta = 4;
  FitResult last;
  double seconds = 0;
  const auto width = static_cast<std::size_t>(dim) + kBesideTheta;
  const std::vector<double> numbers = divided(
      std::vector<std::size_t>(starts.size(), width),
      [&](std::size_t i, std::span<double> to) {
        last = fits_from({starts[i]}, fitters, how, [&](std::size_t, const FitResult&, double s) {
                 seconds = s;
               }).front();
        double* next = std::copy(last.theta.begin(), last.theta.end(), to.data());
        *next++ = last.log_likelihood;
        *next++ = last.objective;
        *next++ = last.rounds;
        *next++ = last.converged ? 1 : 0;
      },
      [&](std::size_t done, std::size_t own) { finished(done, own, last, seconds); });
  std::vector<FitResult> results;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::span<const double> one = std::span(numbers).subspan(i * width, width);
    const auto beside = one.last(kBesideTheta);
    results.push_back({{one.begin(), one.end() - kBesideTheta},
                       beside[0],
                       beside[1],
                       static_cast<int>(beside[2]),
                       beside[3] == 1});
  }
  return results;
}

// Throws InputError if the parameters would be written over a file that the fit reads.
void refuse_own_input(const Options& options, const Table& table) {
  std::vector<std::filesystem::path> inputs{options.config, options.start};
  inputs.insert(inputs.end(), table.files.begin(), table.files.end());
  refuse_input_as_output(options.file, inputs);
}

int fit(const Options& options) {
  const RunConfig config = config_of_rank(load_run_config(options.config, options.overrides()));
  const bool says = is_first() && !options.quiet;
  if (config.likelihood.is_expression())
    throw InputError(
        options.config +
        ": likelihood: fit has no method for a likelihood of your own; allowed: likelihood.model: " +
        models_with_em() + ", or emomc run");
  if (!info_of(config.likelihood).has_em)
    throw InputError(options.config + ": likelihood.model: fit has no EM for " + config.likelihood.model +
                     "; allowed: " + models_with_em());
  if (!options.start.empty()) refuse_link_cycle(options.start);
  if (!options.file.empty()) require_possible_output(options.file);
  const RunSetup setup = set_up_fits(config);
  if (!options.file.empty()) refuse_own_input(options, setup.loaded.table);
  refuse_other_ranks(config, setup, setup.loaded.fingerprint.sha256);
  const FitOptions how = fit_options(options, config, setup);
  if (says) {
    for (const auto& line : describe(setup.loaded)) std::cerr << line << '\n';
    for (const auto& line : warnings(setup)) std::cerr << "warning: " << line << '\n';
  }
  FitStarts starts = starts_of(options, config, setup);
  if (how.raise)
    for (std::vector<double>& start : starts.points) setup.target->move_inside(start);
  const auto fitters = make_fitters(config, setup, starts.points.size());
  if (says && fitters->size() > 1) std::cerr << "starts are divided among " << fitters->size() << " GPUs\n";
  const double offset = log_likelihood_offset(setup.loaded.units, setup.loaded.data.num_rows);
  int rounds = 0;
  double seconds = 0;
  const std::vector<FitResult> results =
      follow_starts(starts.points, setup.engine->layout().dim(), *fitters, how,
                    [&](std::size_t done, std::size_t own, const FitResult& last, double seconds_of_last) {
                      rounds += last.rounds;
                      seconds += seconds_of_last;
                      if (says && starts.points.size() > 1)
                        std::cerr << fmt::format("start {} of {}: {} rounds, log likelihood {:.6f}\n", done,
                                                 own, last.rounds, last.log_likelihood + offset);
                    });
  if (!is_first()) return wait_for_first();
  enter(RankPhase::finishing);
  const ChosenFit chosen = choose_fit(results, starts, config, setup);
  FitObjective::Errors errors;
  if (!chosen.degenerate.empty())
    errors.why_none = "the fit is degenerate";
  else if (!chosen.best.converged && !options.errors)
    errors.why_none = "EM has not converged";
  else
    errors = FitObjective(config, setup, options.maximize == "posterior")
                 .errors_at(chosen.best.theta, options.errors ? 0 : kWorkOfErrors);
  print(options, config, setup, chosen, starts, errors, seconds / std::max(rounds, 1));
  return chosen.best.converged ? kDone : kCheckFailed;
}

}  // namespace

void add_fit(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("fit", "Maximum likelihood or a posterior mode by EM, as a parameter file");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "YAML configuration, as of emomc run")->required();
  add_key_options(*command, *options);
  command->add_option("-o,--output", options->file, "File to write the parameters to (default: print them)");
  command
      ->add_option("--maximize", options->maximize,
                   "likelihood, or posterior: with the configuration's priors")
      ->check(CLI::IsMember({"likelihood", "posterior"}))
      ->capture_default_str();
  auto* restarts =
      command
          ->add_option("--restarts", options->restarts,
                       "Distinct optima of the pool of short fits that are followed to convergence")
          ->check(CLI::Range(1, MixturePool::kSeeded))
          ->capture_default_str();
  command->add_option("--start", options->start, "One start: a parameter file")->excludes(restarts);
  command->add_option("--max-rounds", options->max_rounds, "Rounds of each start")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--tolerance", options->tolerance, "Least rise of a round, in log likelihood a row")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--errors", options->errors,
                    "Standard errors from the Hessian even if it takes more than about ten seconds");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "Errors only");
  command->footer(
      "Example: emomc fit configs/sad.yaml -o fit.json\n"
      "Exit code 1 where EM has not converged. prior.scale_floor bounds scales from below, as it does in a "
      "run.");
  command->callback([options, &status] {
    if (options->file == "-") options->file.clear();  // standard output, as without -o
    status = fit(*options);
  });
}

}  // namespace emomc::app
