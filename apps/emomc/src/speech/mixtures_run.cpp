#include "mixtures_run.hpp"

#include <chrono>

#include "emomc/core/errors.hpp"
#include "signals.hpp"
#include "utterance_scores.hpp"

namespace emomc::app {
namespace {

/// Runs the stages of an evaluation; for each stage, progress is shown and the duration is logged.
class Stages {
 public:
  /// `logger` is null on ranks other than the first.
  Stages(std::shared_ptr<spdlog::logger> logger, Verbosity verbosity)
      : logger_(std::move(logger)), verbosity_(verbosity) {}

  /// Returns the result of work(report).
  template <class Work>
  auto run(const std::string& name, const Work& work) {
    const auto began = std::chrono::steady_clock::now();
    auto result = work(show_stage(name, verbosity_));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    if (logger_) logger_->info("{}: {}", name, duration_text(took.count()));
    return result;
  }

 private:
  std::shared_ptr<spdlog::logger> logger_;
  Verbosity verbosity_;
};

}  // namespace

std::optional<MixtureEvaluation> evaluate_mixtures(const EvaluationJob& job, ExistingRun policy,
                                                   Verbosity verbosity) {
  const SampledPosteriors sampled = sample_posteriors(job, policy, verbosity);
  if (!sampled.finished) return std::nullopt;
  const ClassPosteriors& posteriors = sampled.posteriors;
  const auto& [frames, plan, config, data, kind, notes] = job;
  const std::filesystem::path directory = config.run.output.directory;
  const EvaluationConfig own = config_of_rank(config);
  UtteranceScorer scorer(frames, posteriors, own.run);
  Stages stages(sampled.logger, verbosity);
  MixtureEvaluation result;
  try {
    const DrawSource draws = [&](std::size_t group, std::size_t most) {
      return read_group_draws(directory, posteriors, group, most);
    };
    result.posterior = stages.run("scoring under the posteriors", [&](const Report& report) {
      return predict_folds(frames, plan, own, scorer, draws, true, report);
    });
    if (!config.em_baseline) return result;
    const std::vector<double> fitted = stages.run(
        "EM", [&](const Report& report) { return fit_by_em(frames, plan, own, posteriors, report); });
    const auto dim = static_cast<std::ptrdiff_t>(posteriors.run.engine->layout().dim());
    const DrawSource em = [&](std::size_t group, std::size_t) {
      const auto begin = fitted.begin() + static_cast<std::ptrdiff_t>(group) * dim;
      return GroupDraws{1, 1, {begin, begin + dim}};
    };
    result.em = stages.run("scoring under EM's fits", [&](const Report& report) {
      return predict_folds(frames, plan, own, scorer, em, false, report);
    });
  } catch (const Interrupted&) {
    return std::nullopt;
  }
  return result;
}

}  // namespace emomc::app
