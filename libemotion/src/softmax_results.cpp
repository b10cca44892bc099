#include "emomc/emotion/softmax_results.hpp"

#include <algorithm>
#include <cmath>

#include "emomc/emotion/softmax_headlines.hpp"
#include "emomc/speech/softmax_classifier.hpp"

namespace emomc {
namespace {

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

void add_details(nlohmann::ordered_json& scores, const EvaluationConfig& config, std::size_t columns,
                 const std::vector<SoftmaxFold>& folds, const StrictShare& strict) {
  scores["classifier"] = "softmax regression, penalised and as a posterior by Hamiltonian Monte Carlo";
  scores["functionals"] = functionals_json(config, columns);
  // The rows of a table do not contain numbers of frames.
  if (!config.features.table.empty()) scores["frames"] = 0;
  scores["prior"] = softmax_prior_name(config.softmax.prior);
  if (config.softmax.prior == SoftmaxPrior::horseshoe) {
    scores["relevant_share"] = config.softmax.relevant_share;
    scores["slab_scale"] = config.softmax.slab_scale;
  }
  scores["temperature"] = config.softmax.temperature;
  for (const SoftmaxFold& fold : folds) {
    scores["prior_sd_of_fold"].push_back(fold.prior_sd);
    if (const auto weights = prior_sds_json(fold); !weights.empty())
      scores["prior_sd_weights_of_fold"].push_back(weights);
    scores["acceptance_of_fold"].push_back(fold.acceptance);
    scores["temper_frames_of_fold"].push_back(fold.posterior.frames);
  }
  scores["convergence"]["within_1.01_and_400"] =
      static_cast<double>(strict.within) / static_cast<double>(strict.pairs);
  scores["convergence"]["worst_rhat"] =
      std::isfinite(strict.worst_rhat) ? nlohmann::ordered_json(strict.worst_rhat) : nlohmann::ordered_json();
}

}  // namespace

nlohmann::ordered_json prior_sds_json(const SoftmaxFold& fold) {
  auto json = nlohmann::ordered_json::array();
  for (const WeightedSd& one : fold.prior_sds)
    json.push_back({{"prior_sd", one.prior_sd}, {"weight", one.weight}});
  return json;
}

namespace {

double converged_share(const std::vector<Convergence>& classes) {
  Convergence all;
  for (const Convergence& one : classes) all.add(one);
  return all.share();
}

}  // namespace

std::vector<std::vector<int>> softmax_tests(const LabelledFrames& frames, const EvaluationPlan& plan,
                                            const EvaluationConfig& config) {
  require_inner_speakers(softmax_settings(config), frames.speakers.size(), most_test_speakers(plan));
  return test_speakers(plan);
}

SoftmaxEvaluation evaluate_softmax(const LabelledFrames& frames, const EvaluationPlan& plan,
                                   const EvaluationConfig& config, const CorpusFeatures& features,
                                   const SoftmaxReport& report, Communicator& ranks) {
  const SoftmaxCorpus corpus = softmax_corpus(frames, features);
  const SoftmaxSettings settings = softmax_settings(config, frames.classes);
  require_few_columns(config, corpus.table.columns.size());
  SoftmaxEvaluation evaluation;
  evaluation.folds = evaluate_softmax(corpus, softmax_tests(frames, plan, config), settings,
                                      config.run.threads, report, ranks);
  const std::vector<JudgedPairs> judged =
      judged_pairs(evaluation.folds, frames.num_classes(), settings.chains, config.run.threads, ranks);
  if (ranks.rank() != 0) return evaluation;
  EvaluationResults& results = evaluation.results;
  results.seed = settings.seed;
  results.other = "penalised";
  StrictShare strict;
  std::vector<FoldResult> posterior, penalised;
  for (std::size_t f = 0; f < judged.size(); ++f) {
    const SoftmaxFold& fold = evaluation.folds[f];
    posterior.push_back(
        result_of(fold, fold.posterior, softmax_convergence(judged[f], frames.num_classes(), strict)));
    posterior.back().inner_utterances = fold.inner_rows;
    posterior.back().inner_log_probability = fold.inner_log_probability;
    penalised.push_back(result_of(fold, fold.penalised, {}));
  }
  results.posterior = judge_method(frames, std::move(posterior), results.seed, &results.utterances);
  results.em = judge_method(frames, std::move(penalised), results.seed, nullptr);
  evaluation.scores = scores_json(frames, plan, results);
  evaluation.scores["known_of_speaker"] =
      scores_by_knowledge(frames, evaluation.folds, results.posterior, results.seed);
  add_details(evaluation.scores, config, features.functionals.columns.size(), evaluation.folds, strict);
  return evaluation;
}

TrainedSoftmax train_softmax(const LabelledFrames& frames, const CorpusFeatures& corpus,
                             const EvaluationConfig& config, const SoftmaxReport& report,
                             Communicator& ranks) {
  const SoftmaxSettings settings = softmax_settings(config, frames.classes);
  require_inner_speakers(settings, frames.speakers.size(), 0);
  require_few_columns(config, corpus.functionals.columns.size());
  SoftmaxTraining training =
      train_softmax(softmax_corpus(frames, corpus), settings, config.run.threads, report, ranks);
  TrainedSoftmax result;
  if (ranks.rank() != 0) return result;
  result.acceptance = training.fold.acceptance;
  result.converged =
      converged_share(softmax_convergence(judged_pairs({&training.fold, 1}, frames.num_classes(),
                                                       settings.chains, config.run.threads, single_rank())[0],
                                          frames.num_classes(), result.strict));
  SoftmaxModel& model = result.model;
  model.classes = frames.classes;
  model.set = config.features.set;
  model.table = config.features.table.string();
  model.sample_rate = corpus.sample_rate;
  model.trained_on.speakers = frames.speakers;
  for (const UtteranceFrames& utterance : frames.features.utterances)
    ++model.trained_on.utterances_of_class[utterance.emotion];
  model.trained_on.data_sha256 = corpus.fingerprint.sha256;
  model.classifier = std::move(training.classifier);
  return result;
}

}  // namespace emomc
