#include "emomc/emotion/softmax_headlines.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "json_number.hpp"

namespace emomc {
namespace {

using Json = nlohmann::ordered_json;

Json interval(const Interval& x) { return {number(x.low), number(x.high)}; }

Json entry(SpeakerKnowledge knowledge, const MethodResult& method, const MethodResult& own) {
  const Scores& s = method.scores;
  double inner = 0;
  for (const FoldResult& fold : method.folds)
    inner += fold.inner_log_loss / static_cast<double>(method.folds.size());
  Json json{{"knowledge", knowledge_name(knowledge)},
            {"uar", s.uar},
            {"uar_interval", interval(uar_interval(method.predictions))},
            {"accuracy", s.accuracy},
            {"log_loss", number(s.log_loss)},
            {"brier", s.brier},
            {"calibration_error", s.calibration_error},
            {"calibration_error_99_percent_range", interval(s.calibration_range)},
            {"inner_log_loss", number(inner)}};
  if (knowledge == SpeakerKnowledge::own) return json;
  json["uar_less_own"] = s.uar - own.scores.uar;
  json["uar_less_own_interval"] = interval(uar_difference_interval(method.predictions, own.predictions));
  return json;
}

}  // namespace

Json scores_by_knowledge(const LabelledFrames& frames, const std::vector<SoftmaxFold>& folds,
                         const MethodResult& own, std::uint64_t seed) {
  Json list = Json::array({entry(SpeakerKnowledge::own, own, own)});
  for (const SpeakerKnowledge knowledge :
       {SpeakerKnowledge::five, SpeakerKnowledge::one, SpeakerKnowledge::corpus}) {
    std::vector<FoldResult> results;
    for (const SoftmaxFold& fold : folds) {
      const SoftmaxPredictions& less = fold.less_known[static_cast<std::size_t>(knowledge) - 1];
      FoldResult result;
      result.temper = less.temper;
      result.inner_log_loss = less.inner_log_loss;
      result.utterances = fold.rows;
      result.log_probability = less.log_probability;
      results.push_back(std::move(result));
    }
    list.push_back(entry(knowledge, judge_method(frames, std::move(results), seed, nullptr), own));
  }
  return list;
}

Json mean_by_knowledge(const std::vector<Json>& lists) {
  Json means = Json::array();
  for (std::size_t k = 0; k < lists.at(0).size(); ++k) {
    Json mean{{"knowledge", lists[0][k]["knowledge"]}};
    for (const char* key : {"uar", "log_loss", "calibration_error", "inner_log_loss"}) {
      double sum = 0;
      for (const Json& list : lists)
        sum += list[k][key].is_null() ? std::nan("") : list[k][key].get<double>();
      mean[key] = number(sum / static_cast<double>(lists.size()));
    }
    means.push_back(std::move(mean));
  }
  return means;
}

}  // namespace emomc
