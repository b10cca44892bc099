#include "emomc/emotion/regression_results.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "csv_field.hpp"
#include "emomc/emotion/softmax_job.hpp"
#include "emomc/posterior/text_table.hpp"
#include "json_number.hpp"

namespace emomc {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Interval& x) { return {number(x.low), number(x.high)}; }

// The predictions of all folds for one dimension, in the order of the utterances' indices.
NumberPredictions pooled_numbers(const LabelledFrames& frames, const std::vector<RegressionFold>& folds,
                                 std::size_t dimension, SpeakerKnowledge knowledge,
                                 std::vector<std::size_t>* utterances) {
  std::map<std::size_t, PredictiveT> by_utterance;
  for (const RegressionFold& fold : folds)
    for (std::size_t i = 0; i < fold.rows.size(); ++i)
      by_utterance[fold.rows[i]] =
          fold.dimensions[dimension].known[static_cast<std::size_t>(knowledge)].of_row[i];
  NumberPredictions all;
  for (const auto& [u, predicted] : by_utterance) {
    all.truth.push_back(frames.truth[u * frames.dimensions.size() + dimension]);
    all.predicted.push_back(predicted);
    all.speaker.push_back(frames.speaker_of[u]);
    if (utterances) utterances->push_back(u);
  }
  return all;
}

void add_score(Json& json, const std::string& name, double score, const Interval& interval) {
  json[name] = number(score);
  json[name + "_interval"] = json_of(interval);
}

// The scores that scores.json has under `regression` and for each kind of knowledge under `known_of_speaker`.
Json scores_of(const NumberPredictions& predictions) {
  const NumberScores s = score(predictions);
  const NumberIntervals i = intervals(predictions);
  Json json = Json::object();
  add_score(json, "ccc", s.ccc, i.ccc);
  add_score(json, "mean_ccc_of_speakers", s.mean_ccc_of_speakers, i.mean_ccc_of_speakers);
  add_score(json, "pearson", s.pearson, i.pearson);
  add_score(json, "rmse", s.rmse, i.rmse);
  add_score(json, "mae", s.mae, i.mae);
  add_score(json, "coverage_90", s.coverage, i.coverage);
  add_score(json, "log_density", s.log_density, i.log_density);
  return json;
}

// The mean of the folds' inner log densities.
double inner_log_density(const std::vector<RegressionFold>& folds, std::size_t dimension,
                         std::size_t knowledge) {
  double sum = 0;
  for (const RegressionFold& fold : folds)
    sum += fold.dimensions[dimension].known[knowledge].inner_log_density / static_cast<double>(folds.size());
  return sum;
}

Json dimension_json(const LabelledFrames& frames, const RegressionEvaluation& evaluation, std::size_t d) {
  const NumberPredictions& predictions = evaluation.predictions[d];
  Json json = scores_of(predictions);
  Json speakers = Json::object();
  const std::vector<double> by_speaker = ccc_by_speaker(predictions);
  for (std::size_t s = 0; s < by_speaker.size(); ++s)
    if (std::find(predictions.speaker.begin(), predictions.speaker.end(), static_cast<int>(s)) !=
        predictions.speaker.end())
      speakers[frames.speakers[s]] = number(by_speaker[s]);
  json["ccc_by_speaker"] = speakers;
  for (const double level : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}) {
    json["coverage_levels"].push_back(level);
    json["coverage_of_level"].push_back(coverage(predictions, level));
  }
  for (const RegressionFold& fold : evaluation.folds) {
    const RegressionFold::Dimension& of_fold = fold.dimensions[d];
    json["prior_sd_of_fold"].push_back(of_fold.prior_sd);
    json["sd_factor_of_fold"].push_back(of_fold.known[0].factor);
    json["inner_log_density_of_fold"].push_back(number(of_fold.known[0].inner_log_density));
  }
  json["inner_log_density"] = number(inner_log_density(evaluation.folds, d, 0));
  return json;
}

// A list with the scores of the same utterances for each SpeakerKnowledge.
Json numbers_by_knowledge(const LabelledFrames& frames, const RegressionEvaluation& evaluation) {
  Json list = Json::array();
  for (std::size_t k = 0; k < kNumKnowledge; ++k) {
    const auto knowledge = static_cast<SpeakerKnowledge>(k);
    Json entry{{"knowledge", knowledge_name(knowledge)}};
    for (std::size_t d = 0; d < frames.dimensions.size(); ++d) {
      const NumberPredictions predictions = pooled_numbers(frames, evaluation.folds, d, knowledge, nullptr);
      Json& json = entry["dimensions"][frames.dimensions[d]] = scores_of(predictions);
      json["inner_log_density"] = number(inner_log_density(evaluation.folds, d, k));
      if (knowledge == SpeakerKnowledge::own) continue;
      json["ccc_less_own"] =
          number(json["ccc"].is_null() ? std::nan("")
                                       : json["ccc"].get<double>() - score(evaluation.predictions[d]).ccc);
      json["ccc_less_own_interval"] =
          json_of(ccc_difference_interval(predictions, evaluation.predictions[d]));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

// A list of {"column", "values"}: for each value of a column, the numbers of utterances and speakers and the
// scores of each dimension.
Json numbers_by_group(const LabelledFrames& frames, const RegressionEvaluation& evaluation) {
  Json result = Json::array();
  for (const UtteranceGroups& groups : frames.groups) {
    Json values = Json::array();
    for (std::size_t g = 0; g < groups.values.size(); ++g) {
      const auto part_of = [&](const NumberPredictions& all) {
        NumberPredictions part;
        for (std::size_t i = 0; i < evaluation.utterances.size(); ++i) {
          if (groups.group_of[evaluation.utterances[i]] != static_cast<int>(g)) continue;
          part.truth.push_back(all.truth[i]);
          part.predicted.push_back(all.predicted[i]);
          part.speaker.push_back(all.speaker[i]);
        }
        return part;
      };
      const NumberPredictions first = part_of(evaluation.predictions[0]);
      if (first.truth.empty()) continue;
      Json entry{{"value", groups.values[g]},
                 {"utterances", first.truth.size()},
                 {"speakers", std::set<int>(first.speaker.begin(), first.speaker.end()).size()}};
      for (std::size_t d = 0; d < frames.dimensions.size(); ++d)
        entry["dimensions"][frames.dimensions[d]] = scores_of(part_of(evaluation.predictions[d]));
      values.push_back(std::move(entry));
    }
    result.push_back({{"column", groups.column}, {"values", std::move(values)}});
  }
  return result;
}

Json scores_json_of(const LabelledFrames& frames, const EvaluationPlan& plan, const EvaluationConfig& config,
                    std::size_t columns, const RegressionEvaluation& evaluation) {
  Json folds = Json::array();
  for (const Fold& fold : plan.folds) {
    folds.push_back(Json::array());
    for (const int s : fold.test_speakers)
      folds.back().push_back(frames.speakers[static_cast<std::size_t>(s)]);
  }
  Json json{{"seed", config.run.sampler.seed},
            {"classifier", "linear regression, its posterior in closed form"},
            {"dimensions", frames.dimensions},
            {"speakers", frames.speakers},
            {"utterances", evaluation.utterances.size()},
            {"test_speakers_of_fold", folds}};
  if (!plan.fold_names.empty()) json["fold_names"] = plan.fold_names;
  json["functionals"] = functionals_json(config, columns);
  for (std::size_t d = 0; d < frames.dimensions.size(); ++d)
    json["regression"][frames.dimensions[d]] = dimension_json(frames, evaluation, d);
  if (!frames.groups.empty()) json["by"] = numbers_by_group(frames, evaluation);
  json["known_of_speaker"] = numbers_by_knowledge(frames, evaluation);
  return json;
}

}  // namespace

RegressionCorpus regression_corpus(const LabelledFrames& frames, const CorpusFeatures& corpus) {
  SoftmaxCorpus rows = softmax_corpus(frames, corpus);
  return {std::move(rows.table), std::move(rows.speaker_of), rows.num_speakers, frames.dimensions,
          frames.truth};
}

RegressionSettings regression_settings(const EvaluationConfig& config) {
  return {config.regression.prior_sds, config.regression.sd_factor, config.run.sampler.seed};
}

std::vector<std::vector<int>> regression_tests(const LabelledFrames& frames, const EvaluationPlan& plan,
                                               const EvaluationConfig& config) {
  require_inner_speakers(regression_settings(config), frames.speakers.size(), most_test_speakers(plan));
  return test_speakers(plan);
}

RegressionEvaluation evaluate_regression(const LabelledFrames& frames, const EvaluationPlan& plan,
                                         const EvaluationConfig& config, const CorpusFeatures& features,
                                         const SoftmaxReport& report, Communicator& ranks) {
  const RegressionCorpus corpus = regression_corpus(frames, features);
  RegressionEvaluation evaluation;
  evaluation.folds = evaluate_regression(corpus, regression_tests(frames, plan, config),
                                         regression_settings(config), config.run.threads, report, ranks);
  for (std::size_t d = 0; d < frames.dimensions.size(); ++d)
    evaluation.predictions.push_back(pooled_numbers(frames, evaluation.folds, d, SpeakerKnowledge::own,
                                                    d == 0 ? &evaluation.utterances : nullptr));
  evaluation.scores = scores_json_of(frames, plan, config, corpus.table.columns.size(), evaluation);
  return evaluation;
}

std::string number_predictions_csv(const LabelledFrames& frames, const RegressionEvaluation& evaluation) {
  std::string text = "utterance,speaker";
  for (const std::string& name : frames.dimensions)
    for (const char* column : {"", "_mean", "_sd", "_low", "_high", "_log_density"})
      text += "," + csv_field(name + column);
  text += "\n";
  for (std::size_t i = 0; i < evaluation.utterances.size(); ++i) {
    const UtteranceFrames& u = frames.features.utterances[evaluation.utterances[i]];
    text += csv_field(u.id) + "," + csv_field(u.speaker);
    for (const NumberPredictions& of_dimension : evaluation.predictions) {
      const PredictiveT& one = of_dimension.predicted[i];
      const Interval interval = one.interval(kPredictiveLevel);
      for (const double x : {of_dimension.truth[i], one.mean, one.sd(), interval.low, interval.high,
                             one.log_density(of_dimension.truth[i])})
        text += "," + shortest_text(x);
    }
    text += "\n";
  }
  return text;
}

RegressionModel train_regression(const LabelledFrames& frames, const CorpusFeatures& corpus,
                                 const EvaluationConfig& config, const SoftmaxReport& report,
                                 Communicator& ranks) {
  require_inner_speakers(regression_settings(config), frames.speakers.size(), 0);
  RegressionModel model;
  model.set = config.features.set;
  model.table = config.features.table.string();
  model.sample_rate = corpus.sample_rate;
  model.trained_on.speakers = frames.speakers;
  model.trained_on.data_sha256 = corpus.fingerprint.sha256;
  model.seed = config.run.sampler.seed;
  model.regressor = train_regression(regression_corpus(frames, corpus), regression_settings(config),
                                     config.run.threads, report, ranks);
  return model;
}

}  // namespace emomc
