#include "emomc/posterior.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <ostream>

#include "emomc/core/parameters.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/gradient_check.hpp"
#include "emomc/posterior/mixture_fits.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/written_draws.hpp"
#include "sample_config.hpp"

namespace emomc {
namespace {

/// The configuration with one chain, which is enough for evaluating log densities; the proposal is
/// irrelevant.
RunConfig config_of_one_chain(RunConfig config) {
  config.sampler.chains = 1;
  config.sampler.superchains = 0;
  config.sampler.proposal = {};
  return config;
}

}  // namespace

struct Posterior::State {
  State(RunConfig with_defaults, Table table)
      : config(std::move(with_defaults)),
        data(std::move(table)),
        one_chain(config_of_one_chain(config)),
        setup(set_up(one_chain, &data)),
        written(setup),
        names(element_names(setup.target->layout())) {}

  RunConfig config;
  Table data;
  RunConfig one_chain;
  RunSetup setup;
  WrittenDraws written;
  std::vector<std::string> names;
  std::mutex mutex;  ///< protects the engines
  // The members below are made when row_log_likelihoods is first called.
  std::unique_ptr<Device> host;
  LoadedExpression rows;  ///< used if the other engine is on a GPU
  std::unique_ptr<LikelihoodEngine> row_engine;

  double offset() const { return written.log_likelihood_offset() + written.log_prior_offset(); }
  MixtureFit fit(const FitOptionsOfMixture& options) const;
  LikelihoodEngine& engine_of_rows();
  double log_likelihood(const std::vector<double>& theta) {
    double sum = 0;
    setup.engine->sums_by_segment(theta.data(), 1, &sum);
    return sum;
  }
  void check_size(std::size_t size, int expected, const char* what) const {
    if (size != static_cast<std::size_t>(expected))
      throw InputError(std::string(what) + " has " + std::to_string(size) +
                       " elements; allowed: " + std::to_string(expected));
  }
  std::vector<double> in_sampler_units(std::span<const double> theta) const {
    check_size(theta.size(), setup.target->dim(), "theta");
    std::vector<double> converted(theta.begin(), theta.end());
    from_written(setup.target->layout(), converted);
    to_sampler_units(setup.target->layout(), setup.loaded.units, converted);
    return converted;
  }
};

Posterior::Posterior(RunConfig config, Table data) {
  check_model(config, data);
  state_ = std::make_unique<State>(std::move(config), std::move(data));
}
Posterior::Posterior(const GaussianMixture& model, Table data)
    : Posterior(config_of(model, data), std::move(data)) {}
Posterior::Posterior(const ExpressionModel& model, Table data)
    : Posterior(config_of(model), std::move(data)) {}
Posterior::~Posterior() = default;
Posterior::Posterior(Posterior&&) noexcept = default;
Posterior& Posterior::operator=(Posterior&&) noexcept = default;

const std::vector<std::string>& Posterior::names() const { return state_->names; }
const ParameterLayout& Posterior::layout() const { return state_->setup.target->layout(); }
int Posterior::num_parameters() const { return state_->setup.target->dim(); }
int Posterior::num_unconstrained() const { return state_->setup.target->dim_unconstrained(); }
const Table& Posterior::data() const { return state_->data; }
const RunConfig& Posterior::config() const { return state_->config; }

double Posterior::log_posterior(std::span<const double> theta) const {
  const std::vector<double> point = state_->in_sampler_units(theta);
  const Target& target = *state_->setup.target;
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
  try {
    target.unconstrain(point, u);
  } catch (const InputError&) {
    return -std::numeric_limits<double>::infinity();
  }
  const std::lock_guard lock(state_->mutex);
  return state_->log_likelihood(point) + target.log_prior(point) + state_->offset();
}

double Posterior::log_density(std::span<const double> u) const {
  const Target& target = *state_->setup.target;
  state_->check_size(u.size(), target.dim_unconstrained(), "u");
  std::vector<double> theta(static_cast<std::size_t>(target.dim()));
  const device::PointDensities densities = target.constrain_with_prior(u, theta);
  const std::lock_guard lock(state_->mutex);
  return state_->log_likelihood(theta) + densities.log_prior + densities.log_jacobian + state_->offset();
}

LogDensityAndGradient Posterior::log_density_and_gradient(std::span<const double> u) const {
  const Target& target = *state_->setup.target;
  state_->check_size(u.size(), target.dim_unconstrained(), "u");
  if (const std::string why = why_no_gradient(state_->setup); !why.empty())
    throw InputError("there is no gradient: " + why);
  const std::lock_guard lock(state_->mutex);
  PosteriorGradient at = posterior_gradient_at(target, *state_->setup.engine, u);
  return {at.log_likelihood + at.log_prior + at.log_jacobian + state_->offset(), std::move(at.gradient)};
}

GradientCheck Posterior::check_gradient(std::span<const double> u) const {
  const Target& target = *state_->setup.target;
  state_->check_size(u.size(), target.dim_unconstrained(), "u");
  if (const std::string why = why_no_gradient(state_->setup); !why.empty())
    throw InputError("there is no gradient: " + why);
  std::vector<double> theta(static_cast<std::size_t>(target.dim()));
  target.constrain(u, theta);
  const std::lock_guard lock(state_->mutex);
  return emomc::check_gradient(target, *state_->setup.engine, theta);
}

std::vector<double> Posterior::constrain(std::span<const double> u) const {
  const Target& target = *state_->setup.target;
  state_->check_size(u.size(), target.dim_unconstrained(), "u");
  std::vector<double> theta(static_cast<std::size_t>(target.dim())), written(theta.size());
  target.constrain(u, theta);
  state_->written.convert(theta, written);
  return written;
}

std::vector<double> Posterior::unconstrain(std::span<const double> theta) const {
  const Target& target = *state_->setup.target;
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
  target.unconstrain(state_->in_sampler_units(theta), u);
  return u;
}

LikelihoodEngine& Posterior::State::engine_of_rows() {
  if (row_engine) return *row_engine;
  if (data.on_device)
    throw InputError(
        "log likelihoods of rows, and what is computed from them, such as leave-one-out and stacking, are "
        "computed on "
        "the CPU, and the data are in the memory of a GPU; allowed: a posterior of a copy of the data in the "
        "host's memory");
  host = make_host_device();
  const LoadedData& loaded = setup.loaded;
  if (!setup.expression) {
    row_engine =
        make_engine(Backend::cpu, setup.model, Precision::float64, loaded.data, *host, config.threads);
  } else if (setup.backend != Backend::cuda) {
    row_engine =
        make_engine(setup.backend, setup.row_model, Precision::float64, loaded.data, *host, config.threads);
  } else {
    rows = prepare_expression(data, config.likelihood.expression, Backend::cpu, 1);
    row_engine =
        make_engine(Backend::cpu, rows.model, Precision::float64, rows.loaded.data, *host, config.threads);
  }
  row_engine->allocate({{0, {0}, 1.0, 0}}, ComponentCaches::off);
  return *row_engine;
}

std::vector<double> Posterior::row_log_likelihoods(std::span<const double> points) const {
  const auto dim = static_cast<std::size_t>(num_parameters());
  if (dim == 0 || points.size() % dim != 0)
    throw InputError("points have " + std::to_string(points.size()) + " elements; allowed: a multiple of " +
                     std::to_string(dim));
  const std::size_t num_rows = state_->setup.loaded.data.num_rows;
  std::vector<double> values(points.size() / dim * num_rows);
  const double offset = log_likelihood_offset(state_->setup.loaded.units, 1);
  const std::lock_guard lock(state_->mutex);
  LikelihoodEngine& engine = state_->engine_of_rows();
  for (std::size_t i = 0; i * dim < points.size(); ++i) {
    const std::vector<double> theta = state_->in_sampler_units(points.subspan(i * dim, dim));
    engine.evaluate_rows(theta.data(), values.data() + i * num_rows);
  }
  for (double& value : values) value += offset;
  return values;
}

std::vector<double> Posterior::initial(std::uint64_t seed) const {
  RunConfig config = state_->one_chain;
  config.sampler.init = "prior";
  config.sampler.seed = seed;
  config.sampler.tempering = {};
  const std::lock_guard lock(state_->mutex);
  const std::vector<double> theta = find_starts(config, state_->setup);
  std::vector<double> u(static_cast<std::size_t>(state_->setup.target->dim_unconstrained()));
  state_->setup.target->unconstrain(theta, u);
  return u;
}

MixtureFit Posterior::State::fit(const FitOptionsOfMixture& options) const {
  RunConfig fitted = one_chain;
  fitted.backend = data.on_device ? Backend::cuda : options.backend;
  fitted.threads = options.threads;
  fitted.sampler.seed = options.seed;
  const RunSetup own = set_up_fits(fitted, &data);
  if (own.target->dim() != own.engine->layout().dim())
    throw InputError("fit: priors whose arguments have priors are for sampling alone; give them numbers");
  FitOptions how;
  how.max_rounds = options.max_rounds;
  how.tolerance = options.tolerance;
  how.on_round = options.on_round;
  for (const double sd : own.loaded.column_sd) how.smallest_scale.push_back(fitted.prior.scale_floor * sd);
  const FitStarts starts = fit_starts(fitted, own, options.restarts);
  const auto fitters = make_fitters(fitted, own, starts.points.size());
  const std::vector<FitResult> results =
      fits_from(starts.points, *fitters, how, [](std::size_t, const FitResult&, double) {});
  ChosenFit chosen = choose_fit(results, starts, fitted, own);
  MixtureFit result;
  result.theta.resize(chosen.best.theta.size());
  written.convert(chosen.best.theta, result.theta);
  result.log_likelihood = chosen.best.log_likelihood + written.log_likelihood_offset();
  result.rounds = chosen.best.rounds;
  result.converged = chosen.best.converged;
  result.degenerate = std::move(chosen.degenerate);
  return result;
}

MixtureFit fit(const Posterior& posterior, const FitOptionsOfMixture& options) {
  const LikelihoodConfig& likelihood = posterior.config().likelihood;
  if (likelihood.is_expression() || !info_of(likelihood).has_em)
    throw InputError("fit: there is no EM for this likelihood; allowed: mixtures of Gaussians");
  if (options.restarts < 1)
    throw InputError("restarts: " + std::to_string(options.restarts) +
                     " is out of range; allowed: 1 or more");
  return posterior.state_->fit(options);
}

std::span<const double> Draws::of(const std::string& name) const {
  const auto at = std::find(names().begin(), names().end(), name);
  if (at == names().end()) throw InputError("there is no quantity " + name);
  const auto q = static_cast<std::size_t>(at - names().begin());
  return {run.draws.values.data() + q * num_chains() * num_draws(), num_chains() * num_draws()};
}

RunSummary summary(const Draws& draws, const std::vector<std::string>& patterns) {
  if (draws.num_draws() == 0) throw InputError("there are no draws: the run was ended during warm-up");
  return summarize_run(draws.run, patterns);
}

std::ostream& operator<<(std::ostream& out, const RunSummary& summary) {
  return out << to_text(summary, std::numeric_limits<std::size_t>::max());
}

std::vector<Finding> diagnose(const Draws& draws) {
  if (draws.num_draws() == 0)
    return {{Severity::problem, "status", "there are no draws: the run was ended during warm-up",
             "let it run for longer"}};
  return diagnose(draws.run);
}

}  // namespace emomc
