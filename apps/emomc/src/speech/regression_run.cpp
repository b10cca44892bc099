#include "regression_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "emomc/core/errors.hpp"
#include "emomc/emotion/dimension_labels.hpp"
#include "emomc/emotion/lone_speakers.hpp"
#include "emomc/emotion/regression_results.hpp"
#include "emomc/emotion/softmax_job.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/files.hpp"
#include "evaluation_config.hpp"
#include "evaluation_run.hpp"
#include "rank_setup.hpp"
#include "ranks.hpp"
#include "restarted_claim.hpp"
#include "run_log.hpp"
#include "signals.hpp"
#include "softmax_stages.hpp"

namespace emomc::app {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// Shows the progress of the only stage, for work_together().
class RegressionProgress {
 public:
  explicit RegressionProgress(Verbosity verbosity) : show_(show_stage(kRegressionStage, verbosity)) {}
  void report(const std::string&, std::size_t done, std::size_t all) {
    if (stop_requested()) throw Interrupted("stopped");
    if (done > 0) show_(done, all);
  }

 private:
  Report show_;
};

void log_beginning(const LabelledFrames& frames, const EvaluationConfig& config, const CorpusFeatures& corpus,
                   spdlog::logger& logger) {
  for (const auto& note : corpus.notes) logger.info(note);
  logger.info("{} utterances of {} speakers; {} on {}", frames.class_of.size(), frames.speakers.size(),
              joined(frames.dimensions), functionals_text(config, corpus.functionals.columns.size()));
  if (is_several())
    logger.info("training sets are divided among {} ranks ({})", world().size(), world().kind());
}

std::string line_about(const Regressor::Dimension& dimension) {
  const SdFactor& own = dimension.factors[0];
  return fmt::format(
      "{}: prior sd {:g}, noise sd {:.3g}, factor of sds {:.3g}{}", dimension.name, dimension.prior_sd,
      dimension.noise_sd, own.factor,
      std::isnan(own.inner_log_density)
          ? ""
          : fmt::format(", log density of training speakers left out in turn {:.3f}", own.inner_log_density));
}

}  // namespace

bool evaluate_regression_into(const SoftmaxJob& job, ExistingRun policy, Verbosity verbosity, Json& scores) {
  const auto began = Clock::now();
  const std::string started_at = utc_now();
  const std::filesystem::path directory = job.config.run.output.directory;
  std::optional<RunClaim> claim;
  claim_to_restart(directory, policy, ResultKind::evaluation, job.config, claim);
  regression_tests(job.frames, job.plan, job.config);
  refuse_other_corpora(job.config, job.corpus);
  stop_on_signals();
  if (claim) claim->begin();
  std::shared_ptr<spdlog::logger> logger;
  if (is_first()) {
    logger = make_logger(directory, verbosity);
    log_beginning(job.frames, job.config, job.corpus, *logger);
  }
  settle();
  RegressionProgress progress(verbosity);
  const EvaluationConfig own = config_of_rank(job.config);
  const auto evaluation = work_together(progress, [&](const SoftmaxReport& report) {
    return evaluate_regression(job.frames, job.plan, own, job.corpus, report, world());
  });
  if (!evaluation) return false;
  if (is_first()) {
    scores = evaluation->scores;
    scores["seconds"] = {{"recordings to functionals", job.extraction_seconds},
                         {kRegressionStage, seconds_since(began)},
                         {"all", job.extraction_seconds + seconds_since(began)}};
    write_file_atomically(directory / "config.yaml", to_yaml(job.config));
    write_file_atomically(directory / "predictions.csv", number_predictions_csv(job.frames, *evaluation));
    end_evaluation(directory, scores, regression_manifest(job.config, job.corpus, "evaluation", started_at),
                   *logger);
  }
  settle();
  return true;
}

int train_regression_into(const EvaluationConfig& config, const std::filesystem::path& directory,
                          ExistingRun policy, Verbosity verbosity) {
  if (config.corpus.kind == "tables")
    throw InputError(
        "corpus.kind: tables: a model of functionals of frames could predict nothing, because it is not "
        "known how the frames are made from recordings; train it on recordings (emodb, folders, manifest, "
        "...)");
  const std::string started_at = utc_now();
  check_dimensions(config.corpus);
  std::optional<RunClaim> claim;
  claim_to_restart(directory, policy, ResultKind::model, config, claim);
  const EvaluationConfig own = config_of_rank(config);
  CorpusFeatures corpus = load_corpus_features(config.corpus, config.features, own.run.threads,
                                               show_recordings(verbosity), Functionals::wanted);
  if (const std::string warning = lone_speakers_warning(corpus.functionals); !warning.empty())
    corpus.notes.push_back(warning);
  const LabelledFrames frames = label_with_numbers(corpus, config.corpus);
  require_inner_speakers(regression_settings(config), frames.speakers.size(), 0);
  refuse_other_corpora(config, corpus);
  stop_on_signals();
  if (claim) claim->begin();
  if (is_first()) log_beginning(frames, config, corpus, *make_logger(directory, verbosity));
  settle();
  RegressionProgress progress(verbosity);
  std::optional<RegressionModel> model = work_together(progress, [&](const SoftmaxReport& report) {
    return train_regression(frames, corpus, own, report, world());
  });
  if (!is_first()) return wait_for_first();
  enter(RankPhase::finishing);
  if (!model) return signal_exit_code();
  model->config = to_yaml(config);
  model->trained_on.corpus = config.corpus.kind + " " + config.corpus.path.string();
  write_file_atomically(directory / "config.yaml", model->config);
  write_regression_model(*model, directory);
  write_file_atomically(directory / "manifest.json",
                        regression_manifest(config, corpus, "model", started_at).dump(1) + "\n");
  if (verbosity != Verbosity::quiet) {
    std::cout << fmt::format("{}: linear regression on {}, {}\n", directory.string(),
                             functionals_text(config, corpus.functionals.columns.size()),
                             counted(frames.class_of.size(), "utterance"));
    for (const Regressor::Dimension& dimension : model->regressor.dimensions)
      std::cout << line_about(dimension) << '\n';
    std::cout << std::flush;
  }
  return 0;
}

}  // namespace emomc::app
