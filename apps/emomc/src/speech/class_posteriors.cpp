#include "class_posteriors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/mixture_fit.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/sampler/prior_units.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "ranks.hpp"

namespace emomc::app {
namespace {

constexpr double kEmTolerance = 1e-7;  // increase of the log likelihood per row below which EM ends
constexpr int kEmRounds = 500;
constexpr std::size_t kMostOptima = 4;  // optima of a class from which starts are taken
// The sd of the half-normal prior of a sampled means.sd, in standardised units.
constexpr double kLearnedMeansSd = 0.5;

DataSet training_rows(const LabelledFrames& frames, const TrainingSet& set,
                      std::optional<std::size_t> label) {
  std::vector<int> segments;
  for (std::size_t c = 0; c < set.segments_of_class.size(); ++c)
    if (!label || *label == c)
      segments.insert(segments.end(), set.segments_of_class[c].begin(), set.segments_of_class[c].end());
  return DataSet::single_segment(frames.rows.dim, rows_of(frames.rows, segments));
}

std::size_t num_class_rows(const LabelledFrames& frames, const TrainingSet& set, std::size_t label) {
  std::size_t num_rows = 0;
  for (const int s : set.segments_of_class[label])
    num_rows += frames.rows.segments[static_cast<std::size_t>(s)].num_rows;
  return num_rows;
}

// Throws InputError for fewer than two rows per component, to which a mixture cannot be fitted.
void require_rows(std::size_t num_rows, int components, const std::string& whose) {
  if (num_rows < static_cast<std::size_t>(2 * components))
    throw InputError("likelihood.components: " + whose + " has " + std::to_string(num_rows) +
                     " frames to train on, of " + std::to_string(components) +
                     " components; allowed: two for each or more");
}

FitOptions em_options(const EvaluationConfig& config, const TrainingSet& set) {
  FitOptions options;
  options.tolerance = kEmTolerance;
  options.max_rounds = kEmRounds;
  for (const double sd : set.units.sd) options.smallest_scale.push_back(config.run.prior.scale_floor * sd);
  return options;
}

// A target whose priors are arbitrary, since only its floor of scales is used.
Target target_of_floor(const ParameterLayout& layout, double scale_floor, const std::vector<double>& sd) {
  const auto number = [](double x) { return ArrayArgument{{}, {x}, false}; };
  PriorSet prior;
  prior.scale_floor = scale_floor;
  for (const ParameterBlock& block : layout.blocks)
    for (const ParameterBlock& part : prior_blocks(block)) {
      PriorSpec& spec = prior.blocks[part.name];
      if (part.support == Support::simplex)
        spec = {PriorFamily::dirichlet, {number(1)}};
      else if (part.support == Support::covariance)
        spec = {PriorFamily::lkj, {number(1)}};
      else if (part.support == Support::positive)
        spec = {PriorFamily::half_normal, {number(1)}};
      else
        spec = {PriorFamily::normal, {number(0), number(1)}};
    }
  return {layout, prior, sd};
}

// The best fit that is not degenerate, iterated to convergence; the best of all if every one is degenerate.
std::vector<double> best_of_pool(const DataSet& data, const ModelSpec& model, const EvaluationConfig& config,
                                 const TrainingSet& set, Device& host) {
  const FitOptions options = em_options(config, set);
  const MixturePool pool(data, model,
                         {.seed = config.run.sampler.seed,
                          .num_threads = config.run.threads,
                          .smallest_scale = options.smallest_scale,
                          .given = {}});
  const Target bounds =
      target_of_floor(model_layout(model, data.dim), config.run.prior.scale_floor, set.units.sd);
  std::vector<double> heights;
  for (const ShortFit& fit : pool.fits()) heights.push_back(fit.log_likelihood);
  std::size_t best = pool.best();
  for (const std::size_t i : from_the_highest(heights))
    if (degeneracy(bounds, pool.fits()[i].theta, static_cast<double>(data.num_rows)).empty()) {
      best = i;
      break;
    }
  return make_fitter(Backend::cpu, model, data, host, config.run.threads)
      ->fit(pool.fits()[best].theta, options)
      .theta;
}

ArrayArgument array(std::vector<int> shape, std::vector<double> values) {
  return {std::move(shape), std::move(values), false};
}

// The Bayesian form of adapting a background model to a class (Reynolds, Quatieri and Dunn 2000): each
// component of a class is near the same component of the background. `layout` must be that of a mixture with
// scales.
PriorSet prior_about(const ParameterLayout& layout, std::span<const double> background,
                     const EvaluationConfig& config) {
  const auto& training = config.training;
  PriorSet prior;
  prior.scale_floor = config.run.prior.scale_floor;
  const auto& weights = layout.blocks[kWeights];
  const auto& means = layout.blocks[kMeans];
  const auto& scales = layout.blocks[kSpread];
  const auto K = static_cast<std::size_t>(weights.size());
  const auto d = static_cast<std::size_t>(means.size()) / K;
  const double* weight = background.data();
  const double* mean = weight + K;
  const double* scale = mean + K * d;
  const bool by_column = scales.size() == means.size();
  std::vector<double> concentration, mean_sd, log_scale;
  for (std::size_t k = 0; k < K; ++k) {
    concentration.push_back(1 + training.weights * weight[k]);
    for (std::size_t j = 0; j < d; ++j)
      mean_sd.push_back(training.means_sd.value_or(0) * scale[by_column ? k * d + j : k]);
  }
  for (int i = 0; i < scales.size(); ++i) log_scale.push_back(std::log(scale[i]));
  prior.blocks[weights.name] = {PriorFamily::dirichlet, {array(weights.shape, concentration)}};
  prior.blocks[means.name] = {PriorFamily::normal,
                              {array(means.shape, {mean, mean + K * d}), array(means.shape, mean_sd)}};
  if (!training.means_sd) {
    prior.blocks[means.name].arguments[1] = {{}, {}, true};
    prior.blocks[means.name + ".sd"] = {PriorFamily::half_normal, {array({}, {kLearnedMeansSd})}};
  }
  prior.blocks[scales.name] = {PriorFamily::lognormal,
                               {array(scales.shape, log_scale), array({}, {training.scales_sd})}};
  return prior;
}

RunOptions run_options(const EvaluationConfig& config) {
  const SamplerConfig& sampler = config.run.sampler;
  RunOptions options;
  options.warmup = sampler.warmup;
  options.draws = sampler.draws;
  options.thin = sampler.thin;
  options.seed = sampler.seed;
  options.max_nan_share = sampler.max_nan_share;
  options.keep_warmup = config.run.output.keep_warmup;
  options.state_every = config.run.checkpoint.steps;
  return options;
}

// Finds the starts of a group's chains. They are draws from the prior if the prior is centred on a background
// or init is "prior"; otherwise they are optima of the posterior given the group's own frames.
class Starts {
 public:
  Starts(const LabelledFrames& frames, const EvaluationPlan& plan, const EvaluationConfig& config)
      : frames_(frames), plan_(plan), config_(config) {}

  /// Writes the starts of the chains of `group` to `to`, chains_per_group x dim.
  void find(const ClassPosteriors& posteriors, std::size_t group, std::span<double> to) const {
    const auto& run = posteriors.run;
    const std::size_t classes = frames_.num_classes();
    const Target& target = posteriors.targets[group];
    const std::string& init = config_.run.sampler.init;
    const bool from_prior = config_.training.background || init == "prior";
    std::optional<DataSet> data;
    std::optional<PoolOptima> found;
    std::optional<PoolStarts> pool;
    if (!from_prior) {
      const TrainingSet& set = plan_.sets[group / classes];
      data = training_rows(frames_, set, group % classes);
      PoolOptions options{.seed = config_.run.sampler.seed,
                          .num_threads = config_.run.threads,
                          .smallest_scale = em_options(config_, set).smallest_scale,
                          .given = {}};
      found.emplace(find_pool_optima(*data, run.model, target, std::move(options), config_.training.power,
                                     kMostOptima));
      pool.emplace(*found, target, init, config_.run.sampler.seed);
    }
    for (int c = 0; c < posteriors.chains_per_group; ++c) {
      const auto chain = static_cast<std::uint32_t>(posteriors.chain_of(group, static_cast<std::size_t>(c)));
      std::vector<double> theta;
      if (pool) {
        theta = pool->next(static_cast<std::uint32_t>(c));
      } else {
        theta = target.draw_from_prior(config_.run.sampler.seed, chain, 0);
        target.move_inside(theta);
      }
      std::copy(theta.begin(), theta.end(), to.begin() + c * static_cast<std::ptrdiff_t>(theta.size()));
    }
  }

 private:
  const LabelledFrames& frames_;
  const EvaluationPlan& plan_;
  const EvaluationConfig& config_;
};

}  // namespace

EvaluationEngine make_evaluation_engine(const LabelledFrames& frames, const EvaluationPlan& plan,
                                        const EvaluationConfig& config) {
  const RunConfig& run = config.run;
  EvaluationEngine result;
  result.model = {run.likelihood.model, run.likelihood.components, run.likelihood.covariance};
  result.proposal = {run.sampler.proposal.kind, shape_of_name(run.sampler.proposal.shape),
                     run.sampler.proposal.target_acceptance};
  const auto classes = frames.num_classes();
  for (std::size_t s = 0; s < plan.sets.size(); ++s)
    for (std::size_t c = 0; c < classes; ++c)
      for (int chain = 0; chain < run.sampler.chains; ++chain)
        result.plans.push_back({result.plans.size(), plan.sets[s].segments_of_class[c], config.training.power,
                                static_cast<int>(s * classes + c)});
  result.backend =
      resolve_backend(run.backend, result.model, frames.rows, static_cast<int>(result.plans.size()));
  result.device = first_device(run, result.backend);
  result.engine = make_engine(result.backend, result.model, run.likelihood.precision, frames.rows,
                              *result.device, run.threads);
  return result;
}

ClassPosteriors prepare_posteriors(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationConfig& config, bool with_starts, const Report& report) {
  const RunConfig& run = config.run;
  ClassPosteriors posteriors;
  SampledChains& setup = posteriors.run;
  EvaluationEngine made = make_evaluation_engine(frames, plan, config);
  setup.model = made.model;
  setup.backend = made.backend;
  setup.device = std::move(made.device);
  setup.engine = std::move(made.engine);
  setup.proposal = made.proposal;
  setup.plans = std::move(made.plans);
  posteriors.chains_per_group = run.sampler.chains;
  if (!config.training.background && run.sampler.init != "prior") require_class_rows(frames, plan, config);
  const auto classes = frames.num_classes();
  const auto host = make_host_device();
  const ParameterLayout& layout = setup.engine->layout();
  const auto dim = static_cast<std::size_t>(layout.dim());
  std::vector<double> backgrounds;
  if (config.training.background)
    backgrounds = divided(
        std::vector<std::size_t>(plan.sets.size(), dim),
        [&](std::size_t s, std::span<double> to) {
          const DataSet rows = training_rows(frames, plan.sets[s], std::nullopt);
          require_rows(rows.num_rows, setup.model.components, "a training set");
          const auto theta = best_of_pool(rows, setup.model, config, plan.sets[s], *host);
          std::copy(theta.begin(), theta.end(), to.begin());
        },
        report);
  for (std::size_t s = 0; s < plan.sets.size(); ++s) {
    const TrainingSet& set = plan.sets[s];
    const PriorSet prior = config.training.background
                               ? prior_about(layout, std::span(backgrounds).subspan(s * dim, dim), config)
                               : in_data_units(run.prior, layout, set.units);
    for (std::size_t c = 0; c < classes; ++c) posteriors.targets.emplace_back(layout, prior, set.units.sd);
  }
  setup.target = std::make_unique<Target>(posteriors.targets[0]);
  check_proposal(setup.proposal, *setup.target, setup.plans);
  setup.options = run_options(config);
  setup.memory = sampler_memory(setup.device->kind(), posteriors.targets, setup.proposal, setup.plans);
  setup.options.caches =
      caches_that_fit(*setup.engine, *setup.target, setup.proposal, setup.plans, setup.memory);
  if (is_several())
    setup.options.ranks = &world();
  else
    add_further_devices(run, frames.rows, setup);
  if (!with_starts) return posteriors;
  const Starts starts(frames, plan, config);
  const std::size_t width =
      static_cast<std::size_t>(run.sampler.chains) * static_cast<std::size_t>(setup.target->dim());
  posteriors.starts = divided(
      std::vector<std::size_t>(posteriors.num_groups(), width),
      [&](std::size_t group, std::span<double> to) { starts.find(posteriors, group, to); }, report);
  return posteriors;
}

Target check_posteriors(const LabelledFrames& frames, const EvaluationPlan& plan,
                        const EvaluationConfig& config, const EvaluationEngine& engine) {
  const TrainingConfig& training = config.training;
  if (!training.background && config.run.sampler.init != "prior") require_class_rows(frames, plan, config);
  const ParameterLayout& layout = engine.engine->layout();
  // The values are arbitrary: a prior's families and shapes do not depend on them.
  const std::vector<double> background(static_cast<std::size_t>(layout.dim()), 1.0);
  std::vector<Target> targets;
  for (const TrainingSet& set : plan.sets) {
    if (training.background) {
      std::size_t num_rows = 0;
      for (std::size_t c = 0; c < frames.num_classes(); ++c) num_rows += num_class_rows(frames, set, c);
      require_rows(num_rows, engine.model.components, "a training set");
    }
    targets.emplace_back(layout,
                         training.background ? prior_about(layout, background, config)
                                             : in_data_units(config.run.prior, layout, set.units),
                         set.units.sd);
  }
  check_proposal(engine.proposal, targets.front(), engine.plans);
  return targets.front();
}

void require_class_rows(const LabelledFrames& frames, const EvaluationPlan& plan,
                        const EvaluationConfig& config) {
  for (const TrainingSet& set : plan.sets)
    for (std::size_t c = 0; c < frames.num_classes(); ++c)
      require_rows(num_class_rows(frames, set, c), config.run.likelihood.components,
                   "class " + frames.classes[c]);
}

std::vector<double> fit_by_em(const LabelledFrames& frames, const EvaluationPlan& plan,
                              const EvaluationConfig& config, const ClassPosteriors& posteriors,
                              const Report& report) {
  const std::size_t classes = frames.num_classes();
  const auto host = make_host_device();
  const auto dim = static_cast<std::size_t>(posteriors.run.engine->layout().dim());
  return divided(
      std::vector<std::size_t>(posteriors.num_groups(), dim),
      [&](std::size_t g, std::span<double> to) {
        const TrainingSet& set = plan.sets[g / classes];
        const DataSet rows = training_rows(frames, set, g % classes);
        const auto theta = best_of_pool(rows, posteriors.run.model, config, set, *host);
        std::copy(theta.begin(), theta.end(), to.begin());
      },
      report);
}

}  // namespace emomc::app
