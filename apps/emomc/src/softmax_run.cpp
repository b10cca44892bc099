#include "softmax_run.hpp"

#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/files.hpp"
#include "emomc/speech/softmax_evaluation.hpp"
#include "evaluation_report.hpp"
#include "run_log.hpp"
#include "sampling_run.hpp"
#include "signals.hpp"
#include "softmax_headlines.hpp"
#include "softmax_job.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

FoldResult result_of(const SoftmaxFold& fold, const SoftmaxPredictions& predictions,
                     std::vector<Convergence> convergence) {
  FoldResult result;
  result.temper = predictions.temper;
  result.inner_log_loss = predictions.inner_log_loss;
  result.utterances = fold.rows;
  result.log_probability = predictions.log_probability;
  result.of_class = std::move(convergence);
  return result;
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

void add_details(nlohmann::ordered_json& scores, const SoftmaxJob& job, const std::vector<SoftmaxFold>& folds,
                 const StrictShare& strict, const std::map<std::string, double>& seconds, double total) {
  scores["classifier"] = "softmax regression, penalised and as a posterior by Hamiltonian Monte Carlo";
  scores["functionals"] = functionals_json(job.config, job.corpus.functionals.columns.size());
  // A row of a table says nothing of frames.
  if (!job.config.features.table.empty()) scores["frames"] = 0;
  scores["temperature"] = job.config.softmax.temperature;
  for (const SoftmaxFold& fold : folds) {
    scores["prior_sd_of_fold"].push_back(fold.prior_sd);
    scores["acceptance_of_fold"].push_back(fold.acceptance);
  }
  scores["convergence"]["within_1.01_and_400"] =
      static_cast<double>(strict.within) / static_cast<double>(strict.pairs);
  scores["convergence"]["worst_rhat"] =
      std::isfinite(strict.worst_rhat) ? nlohmann::ordered_json(strict.worst_rhat) : nlohmann::ordered_json();
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
  RunClaim claim(directory, policy);
  if (claim.checkpoint() != nullptr)
    throw InputError(
        directory.string() +
        ": holds an evaluation of mixtures; choose another --output, or write classifier: mixtures");
  const SoftmaxCorpus corpus = softmax_corpus(job.frames, job.corpus.functionals);
  const SoftmaxSettings settings = softmax_settings(job.config);
  std::vector<std::vector<int>> tests;
  std::size_t most_tested = 0;
  for (const Fold& fold : job.plan.folds) {
    tests.push_back(fold.test_speakers);
    most_tested = std::max(most_tested, fold.test_speakers.size());
  }
  require_inner_speakers(settings, job.frames.speakers.size(), most_tested);
  stop_on_signals();
  claim.begin();
  const auto logger = make_logger(directory, verbosity);
  for (const auto& note : job.corpus.notes) logger->info(note);
  logger->info("{} utterances of {} speakers and {} classes; {}", corpus.table.rows.size(),
               corpus.num_speakers, corpus.num_classes,
               functionals_text(job.config, corpus.table.columns.size()));
  const std::size_t speakers = job.frames.speakers.size();
  const std::size_t inner = std::min<std::size_t>(kMostInnerSpeakers, speakers - 1);
  SoftmaxStages stages(settings, tests.size(), tests.size() * inner / 2 + tests.size(), verbosity);
  std::vector<SoftmaxFold> folds;
  try {
    folds = evaluate_softmax(corpus, tests, settings, job.config.run.threads,
                             [&](const auto&... args) { stages.report(args...); });
  } catch (const Interrupted&) {
    return std::nullopt;
  }
  EvaluationResults results;
  results.seed = settings.seed;
  results.other = "penalised";
  ThreadPool pool(job.config.run.threads);
  StrictShare strict;
  std::vector<FoldResult> posterior, penalised;
  for (const SoftmaxFold& fold : folds) {
    posterior.push_back(
        result_of(fold, fold.posterior,
                  softmax_convergence(fold, job.frames.num_classes(), settings.chains, strict, pool)));
    penalised.push_back(result_of(fold, fold.penalised, {}));
  }
  results.posterior = judge_method(job.frames, std::move(posterior), results.seed, &results.utterances);
  results.em = judge_method(job.frames, std::move(penalised), results.seed, nullptr);
  scores = scores_json(job.frames, job.plan, results);
  scores["known_of_speaker"] = scores_by_knowledge(job.frames, folds, results.posterior, results.seed);
  add_details(scores, job, folds, strict, stages.seconds(), seconds_since(began));
  write_file_atomically(directory / "config.yaml", to_yaml(job.config));
  write_file_atomically(directory / "manifest.json",
                        softmax_manifest(job.config, job.corpus, "evaluation", started_at).dump(1) + "\n");
  write_file_atomically(directory / "predictions.csv",
                        predictions_csv(job.frames, results.utterances, results.posterior.predictions));
  write_file_atomically(directory / "predictions_penalised.csv",
                        predictions_csv(job.frames, results.utterances, results.em->predictions));
  write_file_atomically(directory / "probability_sd.csv", sd_csv(job.frames, folds));
  write_file_atomically(directory / "scores.json", scores.dump(1) + "\n");
  if (has_evaluation_report())
    write_file_atomically(directory / "report.html", evaluation_report_html(directory));
  for (const auto& [stage, seconds] : scores["seconds"].items())
    logger->info("{}: {}", stage, duration_text(seconds.get<double>()));
  return results;
}

}  // namespace emomc::app
