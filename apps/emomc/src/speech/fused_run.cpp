#include "fused_run.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "emomc/emotion/fused_results.hpp"
#include "emomc/emotion/softmax_results.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/sampler/files.hpp"
#include "evaluation_report.hpp"
#include "ranks.hpp"
#include "signals.hpp"
#include "softmax_stages.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;

/// The results of all methods except the posterior. The keys of the map occur in the names of the methods'
/// files and are the methods' keys in scores.json.
using OtherMethods = std::map<std::string, MethodResult>;

void write_predictions(const std::filesystem::path& directory, const LabelledFrames& frames,
                       const EvaluationResults& results, const OtherMethods& others) {
  write_file_atomically(directory / "predictions.csv",
                        predictions_csv(frames, results.utterances, results.posterior.predictions));
  for (const char* name : {"em", "mixtures", "softmax", "penalised"}) {
    const auto file = directory / ("predictions_" + std::string(name) + ".csv");
    if (const auto at = others.find(name); at != others.end())
      write_file_atomically(file, predictions_csv(frames, results.utterances, at->second.predictions));
    else
      remove_file(file);  // an earlier call may have written this file
  }
}

void write_results(const EvaluationJob& job, const EvaluationResults& results, const OtherMethods& others,
                   const Json& scores) {
  const std::filesystem::path directory = job.config.run.output.directory;
  write_predictions(directory, job.frames, results, others);
  write_file_atomically(directory / "scores.json", scores.dump(1) + "\n");
  mark_finished(directory);
  if (has_evaluation_report())
    write_file_atomically(directory / "report.html", evaluation_report_html(directory));
}

/// Softmax regression on the same folds, and the product of its probabilities and those of the mixtures.
struct Fusion {
  SoftmaxEvaluation softmax;
  FusedFolds fused;
};

std::optional<Fusion> fuse_with_softmax(const EvaluationJob& job, const CorpusFeatures& features,
                                        const std::vector<FoldResult>& mixtures, Verbosity verbosity) {
  const std::size_t folds = job.plan.folds.size(), speakers = job.frames.speakers.size();
  const std::size_t inner = std::min<std::size_t>(kMostInnerSpeakers, speakers - 1);
  SoftmaxStages stages(softmax_settings(job.config), folds, folds * inner / 2 + folds, verbosity);
  const EvaluationConfig own = config_of_rank(job.config);
  std::optional<SoftmaxEvaluation> softmax = work_together(stages, [&](const SoftmaxReport& report) {
    return evaluate_softmax(job.frames, job.plan, own, features, report, world());
  });
  if (!softmax) return std::nullopt;
  Fusion result{std::move(*softmax), {}};
  if (!is_first()) return result;
  result.fused = fuse(job.frames, mixtures, result.softmax.results.posterior.folds);
  return result;
}

void add_details(const EvaluationConfig& config, const Fusion& fusion, std::size_t columns, Json& scores) {
  scores["classifier"] = "product of mixtures' and softmax regression's probabilities";
  scores["functionals"] = functionals_json(config, columns);
  scores["prior"] = softmax_prior_name(config.softmax.prior);
  for (const FusionWeights& weights : fusion.fused.weights)
    scores["fusion_weights_of_fold"].push_back({{"mixtures", weights.first}, {"softmax", weights.second}});
  for (const SoftmaxFold& fold : fusion.softmax.folds) {
    scores["prior_sd_of_fold"].push_back(fold.prior_sd);
    if (const Json weights = prior_sds_json(fold); !weights.empty())
      scores["prior_sd_weights_of_fold"].push_back(weights);
  }
  scores["convergence_of_softmax"] = fusion.softmax.scores["convergence"];
}

}  // namespace

std::optional<EvaluationResults> evaluate_mixtures_into(const EvaluationJob& job,
                                                        const CorpusFeatures& features, ExistingRun policy,
                                                        Verbosity verbosity, Json& scores) {
  if (job.config.classifier == ClassifierKind::fused) refuse_other_corpora(job.config, features);
  std::optional<MixtureEvaluation> mixtures = evaluate_mixtures(job, policy, verbosity);
  if (!mixtures) return std::nullopt;
  std::optional<Fusion> fusion;
  if (job.config.classifier == ClassifierKind::fused) {
    fusion = fuse_with_softmax(job, features, mixtures->posterior, verbosity);
    if (!fusion) return std::nullopt;
  }
  if (!is_first()) {
    settle();
    return EvaluationResults();
  }
  EvaluationResults results;
  results.seed = job.config.run.sampler.seed;
  const auto judged = [&](std::vector<FoldResult> folds, std::vector<std::size_t>* utterances) {
    return judge_method(job.frames, std::move(folds), results.seed, utterances);
  };
  OtherMethods others;
  if (!mixtures->em.empty()) others["em"] = judged(std::move(mixtures->em), nullptr);
  MethodResult of_mixtures = judged(std::move(mixtures->posterior), &results.utterances);
  if (fusion) {
    results.posterior = judged(std::move(fusion->fused.folds), nullptr);
    others["softmax"] = std::move(fusion->softmax.results.posterior);
    if (auto& penalised = fusion->softmax.results.em) others["penalised"] = std::move(*penalised);
    others["mixtures"] = of_mixtures;
    results.em = std::move(of_mixtures);
    results.other = "mixtures";
  } else {
    results.posterior = std::move(of_mixtures);
    if (const auto em = others.find("em"); em != others.end()) results.em = em->second;
  }
  scores = scores_json(job.frames, job.plan, results);
  for (const auto& [name, method] : others)
    if (!scores.contains(name)) scores[name] = method_json(job.frames, method);
  if (fusion) add_details(job.config, *fusion, features.functionals.columns.size(), scores);
  write_results(job, results, others, scores);
  settle();
  return results;
}

}  // namespace emomc::app
