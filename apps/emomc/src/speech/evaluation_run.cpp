#include "evaluation_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "config_identity.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/spread_chains.hpp"
#include "evaluation_config_keys.hpp"
#include "rank_setup.hpp"
#include "ranks.hpp"
#include "run_config.hpp"
#include "sampling_run.hpp"
#include "signals.hpp"
#include "utterance_scores.hpp"

namespace emomc::app {
namespace {

RunIdentity identity_of(const EvaluationConfig& config, const std::string& kind) {
  EvaluationConfig what = config;
  what.run = without_what_changes_no_draw(config.run);
  // The draws of chains depend neither on classification.draws nor on the rule.
  what.classification.draws = 1;
  what.classification.rule = Rule::predictive;
  if (!what.classification.temper) what.classification.evidence.reset();
  what.em_baseline = true;
  what.corpus.path = "corpus";  // the data are compared separately
  return {to_yaml(config), lines_of(written_keys(what)), kind};
}

DataFacts facts_of(const EvaluationJob& job) {
  DataFacts facts;
  facts.fingerprint = job.data;
  facts.columns = job.frames.features.columns;
  facts.num_rows = job.frames.rows.num_rows;
  facts.column_sd.assign(job.frames.features.dim(), 1.0);
  return facts;
}

// The duration of one step of all chains in seconds, measured with a few steps whose draws are discarded.
double seconds_per_step(ClassPosteriors& posteriors) {
  constexpr int kSteps = 4;
  SampledChains& run = posteriors.run;
  const RunOptions kept = run.options;
  run.options.warmup = 0;
  run.options.thin = 1;
  IgnoreDraws ignored;
  double seconds = 0;
  for (const int steps : {1, kSteps}) {  // the first step is slower
    run.options.draws = steps;
    seconds = run_spread_chains(run, posteriors.targets, posteriors.starts, ignored).sampling_seconds;
  }
  run.options = kept;
  return seconds / kSteps;
}

// The duration in seconds of one evaluation of all rows with one parameter vector, measured with the calls
// that scoring makes.
double seconds_per_score(const ClassPosteriors& posteriors) {
  constexpr int kDraws = 8;
  LikelihoodEngine& engine = *posteriors.run.engine;
  const auto dim = static_cast<std::size_t>(engine.layout().dim());
  const std::size_t width = posteriors.starts.size() / posteriors.run.plans.size();
  std::vector<double> theta;
  for (std::size_t i = 0; i < kDraws; ++i) {
    const std::size_t chain = i % posteriors.run.plans.size();
    const auto begin = posteriors.starts.begin() + static_cast<std::ptrdiff_t>(chain * width);
    theta.insert(theta.end(), begin, begin + static_cast<std::ptrdiff_t>(dim));
  }
  std::vector<double> sums(kDraws * engine.num_segments());
  engine.sums_by_segment(theta.data(), kDraws, sums.data());  // the first call loads kernels
  const auto began = std::chrono::steady_clock::now();
  engine.sums_by_segment(theta.data(), kDraws, sums.data());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() / kDraws;
}

// Whether steps are tried to measure their duration. Gradient samplers are excluded because their steps take
// far longer before warm-up has found a step size than later.
bool tries_steps(const EvaluationConfig& config) {
  return !proposal_use(config.run.sampler.proposal.kind).gradient;
}

// An estimate of the duration in seconds of one step of all chains of a gradient sampler, from the duration
// of one evaluation of all rows. A GPU evaluates all chains in little more time than one, so that there is no
// estimate for it; the remaining time is told during sampling.
double seconds_per_step_by_gradients(const EvaluationJob& job, const ClassPosteriors& posteriors,
                                     double seconds_of_evaluation) {
  constexpr double kGradients = 8;    // gradients per step, for a tree of depth 3
  constexpr double kEvaluations = 2;  // duration of a gradient in evaluations
  double rows = 0;
  for (const ChainPlan& plan : posteriors.run.plans)
    for (const int segment : plan.segments)
      rows += static_cast<double>(job.frames.rows.segments[static_cast<std::size_t>(segment)].num_rows);
  return kGradients * kEvaluations * seconds_of_evaluation * rows /
         static_cast<double>(job.frames.rows.num_rows) / world().size();
}

// The number of evaluations of all rows with one parameter vector that scoring all folds takes.
double evaluations_of_scores(const EvaluationJob& job) {
  const auto share = [&](const std::vector<int>& speakers) {
    double rows = 0;
    for (const std::size_t u : utterances_of(job.frames, speakers))
      rows += static_cast<double>(job.frames.features.utterances[u].num_rows);
    return rows / static_cast<double>(job.frames.rows.num_rows);
  };
  const SamplerConfig& sampler = job.config.run.sampler;
  const auto draws = [&](std::int64_t most) {
    return static_cast<double>(std::min<std::int64_t>(most, sampler.chains * sampler.draws));
  };
  double evaluations = 0;
  for (const Fold& fold : job.plan.folds) {
    evaluations +=
        share(fold.test_speakers) * (draws(job.config.classification.draws) + draws(kDrawsForCuts));
    for (const InnerFold& inner : fold.inner)
      evaluations += share(inner.speakers) * (draws(kDrawsForTemper) + draws(kDrawsForCuts));
  }
  return evaluations * static_cast<double>(job.frames.num_classes());
}

Report show_preparation(Verbosity verbosity, const std::string& what) {
  using Clock = std::chrono::steady_clock;
  return [verbosity, what, last = Clock::now()](std::size_t done, std::size_t all) mutable {
    if (stop_requested()) throw Interrupted("stopped before sampling began; nothing has been written");
    const std::chrono::duration<double> since = Clock::now() - last;
    if (verbosity == Verbosity::quiet || since.count() < 5) return;
    last = Clock::now();
    std::cerr << fmt::format("{}: {} of {}\n", what, done, all);
  };
}

}  // namespace

Report show_stage(const std::string& what, Verbosity verbosity) {
  using Clock = std::chrono::steady_clock;
  return [what, verbosity, began = Clock::now(), shown = 0.0](std::size_t done, std::size_t all) mutable {
    // With several ranks, the others would wait for this one forever.
    if (!is_several() && stop_requested()) throw Interrupted("stopped");
    constexpr double kFirst = 2, kPause = 5;
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (verbosity == Verbosity::quiet || done == all || seconds < (shown == 0 ? kFirst : shown + kPause))
      return;
    shown = seconds;
    std::cerr << fmt::format(
        "{}: {} of {}, about {} left\n", what, done, all,
        duration_text(seconds * static_cast<double>(all - done) / static_cast<double>(done)));
  };
}

namespace {

// Does the work of sample_posteriors() on ranks other than the first, which write nothing.
SampledPosteriors sample_with_first(const EvaluationJob& job) {
  const bool resumes = agree_on_resuming(false);
  SampledPosteriors result;
  result.posteriors = prepare_posteriors(job.frames, job.plan, config_of_rank(job.config), !resumes,
                                         show_preparation(Verbosity::quiet, ""));
  SampledChains& chains = result.posteriors.run;
  refuse_other_ranks(job.config.run, chains, job.data.sha256);
  std::optional<Checkpoint> checkpoint;
  if (resumes) checkpoint = read_checkpoint(job.config.run.output.directory / "checkpoint");
  settle();
  if (!checkpoint && tries_steps(job.config)) {
    enter(RankPhase::sampling);
    seconds_per_step(result.posteriors);
    enter(RankPhase::apart);
  }
  settle();
  result.finished = sample_along(chains, result.posteriors.targets, result.posteriors.starts,
                                 checkpoint ? &checkpoint->state : nullptr)
                        .finished;
  enter(RankPhase::apart);
  return result;
}

}  // namespace

EvaluationConfig config_of_rank(EvaluationConfig config) {
  config.run = config_of_rank(std::move(config.run));
  return config;
}

SampledPosteriors sample_posteriors(const EvaluationJob& job, ExistingRun policy, Verbosity verbosity) {
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const std::filesystem::path directory = job.config.run.output.directory;
  if (!is_first()) return sample_with_first(job);
  RunClaim claim(directory, policy);
  const Checkpoint* checkpoint = claim.checkpoint();
  agree_on_resuming(checkpoint != nullptr);
  stop_on_signals();
  SampledPosteriors result;
  result.posteriors = prepare_posteriors(job.frames, job.plan, config_of_rank(job.config), !checkpoint,
                                         show_preparation(verbosity, "priors and starts"));
  SampledChains& chains = result.posteriors.run;
  refuse_other_ranks(job.config.run, chains, job.data.sha256);
  allow_open_files(chains.plans.size());

  const RunIdentity identity = identity_of(job.config, job.kind);
  RunFiles files(job.config.run, chains, facts_of(job), verbosity, identity);
  if (checkpoint) {
    refuse_another_run(*checkpoint, identity, job.config.run, chains, job.data);
    files.check(*checkpoint);
  }
  const auto& sampler = job.config.run.sampler;
  const auto steps = static_cast<double>(sampler.warmup + sampler.draws * sampler.thin);
  settle();
  // The preparation time serves as an estimate for EM: EM of all classes of a training set takes about as
  // long as the fit of the background.
  const double preparation = seconds(), evaluation = checkpoint ? 0 : seconds_per_score(result.posteriors);
  double estimate = 0, scores = 0;
  if (!checkpoint && tries_steps(job.config)) {
    enter(RankPhase::sampling);
    estimate = steps * seconds_per_step(result.posteriors);
    enter(RankPhase::apart);
  } else if (!checkpoint && chains.backend != Backend::cuda) {
    estimate = steps * seconds_per_step_by_gradients(job, result.posteriors, evaluation);
  }
  if (!checkpoint && job.kind == "evaluation")
    scores =
        evaluation * evaluations_of_scores(job) / world().size() + (job.config.em_baseline ? preparation : 0);
  claim.begin();
  result.logger = make_logger(directory, verbosity);
  const auto& logger = result.logger;
  for (const auto& note : job.notes) logger->info(note);
  if (chains.backend == Backend::cuda)
    if (const auto problem = runtime_compiler_problem(); !problem.empty())
      logger->warn("warning: slower kernels of general sizes are used: {}", problem);
  logger->info("{} posteriors ({} training sets of {} classes), {} chains of {} parameters; backend {}",
               result.posteriors.num_groups(), job.plan.sets.size(), job.frames.num_classes(),
               chains.plans.size(), chains.target->dim(), engine_text(job.config.run, chains));
  if (is_several()) logger->info("chains are spread over {} ranks ({})", world().size(), world().kind());
  for (const auto& line : describe_devices(chains)) logger->info(line);
  if (checkpoint)
    logger->info("going on from step {}", checkpoint->state.step);
  else if (estimate > 0)
    logger->info("sampling will take about {}{}", duration_text(estimate),
                 scores > 0 ? ", scores and EM about " + duration_text(scores) + " more" : "");
  else if (scores > 0)
    logger->info("scores and EM will take about {} after sampling", duration_text(scores));
  files.open(checkpoint);
  settle();
  enter(RankPhase::sampling);
  const double startup = seconds();
  const RunResult run =
      sample_into(files, chains, result.posteriors.targets, result.posteriors.starts, checkpoint, startup);
  enter(RankPhase::apart);
  result.finished = run.finished;
  if (run.finished)
    logger->info("preparation {}, warm-up {}, sampling {}", duration_text(startup),
                 duration_text(run.warmup_seconds), duration_text(run.sampling_seconds));
  return result;
}

}  // namespace emomc::app
