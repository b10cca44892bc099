#include "sample_config.hpp"

#include <algorithm>
#include <array>

#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/prior_rules.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000'000;

[[noreturn]] void refuse(const std::string& option, const std::string& value, const std::string& allowed) {
  throw InputError(option + ": " + value + " is out of range; allowed: " + allowed);
}

template <class Number>
Number in_range(const std::string& option, Number value, Number lowest, Number highest) {
  if (value < lowest || value > highest)
    refuse(option, std::to_string(value), std::to_string(lowest) + " to " + std::to_string(highest));
  return value;
}

double real_in_range(const std::string& option, double value, double lowest, double highest) {
  if (!(value >= lowest && value <= highest))
    refuse(option, shortest_text(value), shortest_text(lowest) + " to " + shortest_text(highest));
  return value;
}

std::string one_of(const std::string& option, const std::string& value,
                   const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), value) != names.end()) return value;
  std::string allowed;
  for (const std::string& name : names) allowed += (allowed.empty() ? "" : ", ") + name;
  throw InputError(option + ": " + value + " is unknown; " + did_you_mean(nearest_name(value, names)) +
                   "allowed: " + allowed);
}

void check_parameter(const ExpressionParameter& parameter) {
  const std::string key = "parameters." + parameter.name + ": ";
  const int length = parameter.shape.empty() ? 0 : parameter.shape[0];
  if (parameter.support == Support::covariance || parameter.shape.size() > 1 || length < 0)
    throw InputError(
        key + "allowed: a number or a list, real, positive, of the unit interval, an angle or a simplex");
  if (parameter.support == Support::simplex && length < 2)
    throw InputError(key + "a simplex is a list of weights that sum to 1; allowed: lengths from 2");
  if (parameter.order != ListOrder::none &&
      (parameter.support == Support::simplex || parameter.support == Support::circular || length == 0))
    throw InputError(key + "an order is of a list of real, positive or unit numbers");
}

void set_length(const SampleOptions& options, SamplerConfig& sampler) {
  sampler.chooses_warmup = !options.warmup;
  sampler.warmup =
      options.warmup ? in_range<std::int64_t>("warmup", *options.warmup, 0, kMostSteps) : kFirstWarmup;
  sampler.thin = in_range<std::int64_t>("thin", options.thin, 1, 1'000'000'000);
  sampler.chooses_draws = !options.draws;
  sampler.draws = options.draws
                      ? in_range<std::int64_t>("draws", *options.draws, 1, kMostSteps / sampler.thin)
                      : in_range<std::int64_t>("max_draws", options.max_draws, 1, kMostSteps / sampler.thin);
  sampler.until.ess = real_in_range("until.ess", options.until.ess, 0, 1e9);
  sampler.until.seconds = real_in_range("until.seconds", options.until.seconds, 0, 1e9);
}

void set_proposal(const SampleOptions& options, RunConfig& config) {
  ProposalConfig& proposal = config.sampler.proposal;
  if (!options.proposal.empty()) {
    std::vector<std::string> names = proposal_names();
    names.insert(names.begin(), kAutomatic);
    proposal.kind = one_of("proposal", options.proposal, names);
    set_proposal_defaults(config);
  }
  if (!options.shape.empty())
    proposal.shape = one_of("shape", options.shape, {"isotropic", "diagonal", "dense"});
  if (options.target_acceptance == 0) return;
  if (!(options.target_acceptance > 0 && options.target_acceptance < 1))
    refuse("target_acceptance", shortest_text(options.target_acceptance), "above 0 and below 1");
  if (proposal.kind == kAutomatic)
    throw InputError("target_acceptance: each kind of proposal has its own target; name the proposal too");
  proposal.target_acceptance = options.target_acceptance;
}

void set_init(const SampleOptions& options, const LikelihoodConfig& likelihood, SamplerConfig& sampler) {
  if (options.init.empty()) return;
  sampler.init = options.init.ends_with(".json")
                     ? options.init
                     : one_of("init", options.init, starts_of_likelihood(likelihood));
}

}  // namespace

ExpressionParameter parameter(std::string name, Support support, int length, ListOrder order) {
  ExpressionParameter result;
  result.key = "parameters." + name;
  result.name = std::move(name);
  result.support = support;
  if (length > 0) result.shape = {length};
  result.order = order;
  return result;
}

const char* covariance_name(Covariance covariance) {
  static constexpr std::array<const char*, 4> kNames{"diagonal", "spherical", "tied", "full"};
  return kNames.at(static_cast<std::size_t>(covariance));
}

RunConfig with_options(RunConfig config, const SampleOptions& options) {
  SamplerConfig& sampler = config.sampler;
  sampler.chains = in_range("chains", options.chains, 1, 1 << 20);
  sampler.superchains = in_range("superchains", options.superchains, 0, sampler.chains);
  if (sampler.superchains == 1 || (sampler.superchains > 1 && sampler.chains % sampler.superchains != 0))
    refuse("superchains", std::to_string(sampler.superchains),
           "0, or a divisor of chains (" + std::to_string(sampler.chains) + ") from 2");
  set_length(options, sampler);
  set_proposal(options, config);
  set_init(options, config.likelihood, sampler);
  check_tempering(options.tempering, "tempering");
  sampler.tempering = options.tempering;
  sampler.seed = options.seed;
  sampler.max_nan_share = real_in_range("max_nan_share", options.max_nan_share, 0, 1);
  config.output.keep_warmup = options.keep_warmup;
  config.output.directory = options.directory;
  config.checkpoint.seconds = real_in_range("checkpoint.seconds", options.checkpoint.seconds, 1e-3, 1e9);
  config.checkpoint.steps =
      in_range<std::int64_t>("checkpoint.steps", options.checkpoint.steps, 0, kMostSteps);
  config.backend = options.backend;
  config.threads = in_range("threads", options.threads, 0, 4096);
  return config;
}

RunConfig config_of(const GaussianMixture& model, const Table& data) {
  RunConfig config;
  config.likelihood.components = in_range("components", model.components, 1, 1 << 16);
  config.likelihood.covariance = covariance_name(model.covariance);
  config.likelihood.precision = model.precision;
  set_likelihood_defaults(config);
  for (const auto& [block, prior] : model.priors) config.prior.blocks[block] = prior;
  config.prior.scale_floor = real_in_range("scale_floor", model.scale_floor, 0, 1);
  config.data.standardize = model.standardize;
  if (!model.ordered) return config;
  check_priors(config.likelihood, config.prior, static_cast<int>(data.columns.size()));
  const ModelInfo& info = info_of(config.likelihood);
  if (const std::string why = why_no_order(info, config.prior, "ordered: it"); !why.empty())
    throw InputError(why);
  config.prior.order = info.ordered_by;
  return config;
}

RunConfig config_of(const ExpressionModel& model) {
  RunConfig config;
  config.likelihood.expression = model.likelihood;
  if (!config.likelihood.is_expression()) throw InputError("log_density: it is empty");
  for (const ExpressionParameter& p : model.likelihood.parameters) check_parameter(p);
  set_likelihood_defaults(config);
  config.likelihood.precision = model.precision;
  config.prior.blocks = model.priors;
  for (const ExpressionParameter& parameter : parameters_of(model.likelihood))
    if (parameter.order != ListOrder::none) config.prior.list_orders[parameter.name] = parameter.order;
  return config;
}

void check_model(const RunConfig& config, const Table& data) {
  check_priors(config.likelihood, config.prior, static_cast<int>(data.columns.size()));
}

}  // namespace emomc
