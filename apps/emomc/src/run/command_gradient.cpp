#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "code_options.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/gradient_check.hpp"
#include "run_config.hpp"
#include "sampling_options.hpp"

namespace emomc::app {
namespace {

struct Options : KeyOptions {
  std::string config, at;
};

nlohmann::ordered_json number(double x) {
  return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
}

nlohmann::ordered_json by_name(const std::vector<std::string>& names, const std::vector<double>& values) {
  auto json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < values.size(); ++i) json[names[i]] = number(values[i]);
  return json;
}

std::vector<double> point(const Options& options, const RunConfig& config, RunSetup& setup) {
  const auto dim = static_cast<std::size_t>(setup.target->dim());
  if (options.at.empty()) {
    std::vector<double> starts = find_starts(config, setup);
    starts.resize(dim);
    return starts;
  }
  std::vector<double> theta = read_parameter_file(options.at, setup.engine->layout());
  to_sampler_units(setup.engine->layout(), setup.loaded.units, theta);
  return setup.target->with_arguments_of(theta);
}

int gradient(const Options& options) {
  RunConfig config = load_run_config(options.config, options.overrides());
  if (config.backend == Backend::automatic)
    config.backend = Backend::cpu;  // compiling a GPU's kernels would take longer
  RunSetup setup = set_up(config);
  if (!setup.engine->capabilities().gradient)
    throw InputError(options.config + ": there is no gradient: " + why_no_gradient(setup));
  const std::vector<double> theta = point(options, config, setup);
  const PosteriorGradient at = posterior_gradient(*setup.target, *setup.engine, theta);
  const std::vector<std::string> names = element_names(setup.target->layout());
  nlohmann::ordered_json json{{"backend", backend_name(setup.backend)},
                              {"log_likelihood", number(at.log_likelihood)},
                              {"log_prior", number(at.log_prior)},
                              {"log_jacobian", number(at.log_jacobian)},
                              {"parameters", by_name(names, at.theta)},
                              {"likelihood_gradient", by_name(names, at.likelihood_gradient)}};
  if (const ColumnUnits& units = setup.loaded.units; !units.is_identity())
    json["units"] = {{"shift", units.mean}, {"scale", units.sd}};
  json["unconstrained"] = nlohmann::ordered_json::array();
  json["gradient"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < at.u.size(); ++i) {
    json["unconstrained"].push_back(number(at.u[i]));
    json["gradient"].push_back(number(at.gradient[i]));
  }
  std::cout << json.dump(1) << '\n';
  if (std::isfinite(at.log_likelihood + at.log_prior + at.log_jacobian)) return kDone;
  std::cerr << "the log density is not finite at these parameters, so that the gradient is meaningless\n";
  return kCheckFailed;
}

}  // namespace

void add_gradient(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("gradient", "Log density of a posterior and its gradient at a point, as JSON");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "YAML configuration")->required();
  command->add_option(
      "--at", options->at,
      "JSON file of the parameters, as loglik --parameters (default: the first chain's start)");
  add_key_options(*command, *options);
  command->footer(
      "likelihood_gradient: of the log likelihood with respect to the parameters. gradient: of log "
      "likelihood, log\n"
      "prior and log Jacobian with respect to the unconstrained coordinates. units, where it is there: all "
      "numbers\n"
      "are for columns from which `shift` is taken and which are divided by `scale`.\n"
      "Example: emomc gradient configs/sad.yaml");
  add_code_options(*command);
  command->callback([options, &status] { status = gradient(*options); });
}

}  // namespace emomc::app
