#include "softmax_run.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/emotion/softmax_results.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/files.hpp"
#include "evaluation_config.hpp"
#include "evaluation_run.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "restarted_claim.hpp"
#include "run_log.hpp"
#include "signals.hpp"
#include "softmax_stages.hpp"

namespace emomc::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

std::string sd_csv(const LabelledFrames& frames, const std::vector<SoftmaxFold>& folds) {
  std::string text = "utterance";
  for (const auto& name : frames.classes) text += ",sd_" + name;
  text += "\n";
  std::map<std::size_t, std::string> lines;
  for (const SoftmaxFold& fold : folds)
    for (std::size_t i = 0; i < fold.rows.size(); ++i) {
      std::string line = frames.features.utterances[fold.rows[i]].id;
      for (std::size_t k = 0; k < frames.num_classes(); ++k)
        line += "," + shortest_text(fold.probability_sd[i * frames.num_classes() + k]);
      lines[fold.rows[i]] = line + "\n";
    }
  for (const auto& [row, line] : lines) text += line;
  return text;
}

void add_seconds(nlohmann::ordered_json& scores, const SoftmaxJob& job,
                 const std::map<std::string, double>& seconds, double total) {
  scores["seconds"]["recordings to functionals"] = job.extraction_seconds;
  for (const auto& name : softmax_stages())
    if (const auto at = seconds.find(name); at != seconds.end()) scores["seconds"][name] = at->second;
  scores["seconds"]["all"] = total + job.extraction_seconds;
}

}  // namespace

std::optional<EvaluationResults> evaluate_softmax_into(const SoftmaxJob& job, ExistingRun policy,
                                                       Verbosity verbosity, nlohmann::ordered_json& scores) {
  const auto began = Clock::now();
  const std::string started_at = utc_now();
  const std::filesystem::path directory = job.config.run.output.directory;
  std::optional<RunClaim> claim;
  claim_to_restart(directory, policy, ResultKind::evaluation, job.config, claim);
  const SoftmaxSettings settings = softmax_settings(job.config);
  const std::size_t folds = softmax_tests(job.frames, job.plan, job.config).size();
  refuse_other_corpora(job.config, job.corpus);
  stop_on_signals();
  if (claim) claim->begin();
  const std::size_t speakers = job.frames.speakers.size();
  std::shared_ptr<spdlog::logger> logger;
  if (is_first()) {
    logger = make_logger(directory, verbosity);
    for (const auto& note : job.corpus.notes) logger->info(note);
    logger->info("{} utterances of {} speakers and {} classes; {}, prior {}", job.frames.class_of.size(),
                 speakers, job.frames.num_classes(),
                 functionals_text(job.config, job.corpus.functionals.columns.size()),
                 softmax_prior_name(job.config.softmax.prior));
    if (is_several())
      logger->info("fits and posteriors are divided among {} ranks ({})", world().size(), world().kind());
  }
  settle();
  const std::size_t inner = std::min<std::size_t>(kMostInnerSpeakers, speakers - 1);
  SoftmaxStages stages(settings, folds, folds * inner / 2 + folds, verbosity);
  const EvaluationConfig own = config_of_rank(job.config);
  std::optional<SoftmaxEvaluation> evaluation = work_together(stages, [&](const SoftmaxReport& report) {
    return evaluate_softmax(job.frames, job.plan, own, job.corpus, report, world());
  });
  if (!evaluation) return std::nullopt;
  EvaluationResults& results = evaluation->results;
  if (!is_first()) {
    settle();
    return std::move(results);
  }
  scores = std::move(evaluation->scores);
  add_seconds(scores, job, stages.seconds(), seconds_since(began));
  write_file_atomically(directory / "config.yaml", to_yaml(job.config));
  write_file_atomically(directory / "predictions.csv",
                        predictions_csv(job.frames, results.utterances, results.posterior.predictions));
  if (const auto& penalised = results.em)
    write_file_atomically(directory / "predictions_penalised.csv",
                          predictions_csv(job.frames, results.utterances, penalised->predictions));
  write_file_atomically(directory / "probability_sd.csv", sd_csv(job.frames, evaluation->folds));
  end_evaluation(directory, scores, regression_manifest(job.config, job.corpus, "evaluation", started_at),
                 *logger);
  settle();
  return std::move(results);
}

}  // namespace emomc::app
