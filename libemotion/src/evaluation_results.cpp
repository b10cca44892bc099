#include "emomc/emotion/evaluation_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "csv_field.hpp"
#include "emomc/emotion/utterance_groups.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/speech/calibration.hpp"
#include "json_number.hpp"

namespace emomc {
namespace {

using Json = nlohmann::ordered_json;

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double x : values) list.push_back(number(x));
  return list;
}

// Scores of utterances that are cut to several lengths. Confidence is the probability of the predicted class;
// if it is calibrated, it equals the accuracy.
Json by_length(const LabelledFrames& frames, const MethodResult& method) {
  Json list = Json::array();
  const std::size_t lengths = method.folds.empty() ? 0 : method.folds[0].cuts.size();
  for (std::size_t i = 0; i < lengths; ++i) {
    std::vector<FoldResult> cut;
    for (const FoldResult& fold : method.folds) {
      cut.emplace_back();
      cut.back().utterances = fold.cuts[i].utterances;
      cut.back().log_probability = fold.cuts[i].log_probability;
    }
    const Predictions predictions = pooled(frames, cut);
    if (predictions.size() == 0) continue;
    const Scores s = score(predictions, 0);
    double confidence = 0;
    const std::size_t classes = frames.num_classes();
    for (std::size_t u = 0; u < predictions.size(); ++u) {
      const auto best = static_cast<std::size_t>(predictions.predicted(u));
      confidence += std::exp(predictions.log_probability[u * classes + best]);
    }
    list.push_back({{"frames", method.folds[0].cuts[i].num_frames},
                    {"utterances", predictions.size()},
                    {"uar", s.uar},
                    {"accuracy", s.accuracy},
                    {"confidence", confidence / static_cast<double>(predictions.size())},
                    {"log_loss", number(s.log_loss)}});
  }
  return list;
}

Json of_method(const LabelledFrames& frames, const MethodResult& method) {
  const Scores& s = method.scores;
  const Interval interval = uar_interval(method.predictions);
  const auto by_speaker = uar_by_speaker(method.predictions);
  Json speakers = Json::object();
  double sum = 0;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < by_speaker.size(); ++i) {
    if (std::isnan(by_speaker[i])) continue;
    speakers[frames.speakers[i]] = by_speaker[i];
    sum += by_speaker[i];
    ++counted;
  }
  const auto K = frames.num_classes();
  Json confusion = Json::array();
  for (std::size_t t = 0; t < K; ++t)
    confusion.push_back(
        std::vector<std::size_t>(s.confusion.begin() + static_cast<std::ptrdiff_t>(t * K),
                                 s.confusion.begin() + static_cast<std::ptrdiff_t>((t + 1) * K)));
  Json bins = Json::array();
  for (const CalibrationBin& bin : s.bins)
    bins.push_back({{"count", bin.count}, {"confidence", bin.confidence}, {"accuracy", bin.accuracy}});
  std::vector<double> tempers, dampings, losses;
  std::vector<std::string> evidence;
  for (const FoldResult& fold : method.folds) {
    tempers.push_back(fold.temper);
    dampings.push_back(fold.damping_frames);
    losses.push_back(fold.inner_log_loss);
    evidence.emplace_back(fold.evidence == Evidence::sum ? "sum" : "mean");
  }
  const double inner =
      std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
  const Interval of_speakers = calibration_range_of_speakers(method.predictions, 0);
  const Interval of_slope = calibration_slope_interval(method.predictions);
  Json json{{"accuracy", s.accuracy},
            {"uar", s.uar},
            {"uar_interval", {number(interval.low), number(interval.high)}},
            {"uar_by_speaker", speakers},
            {"mean_uar_of_speakers", sum / static_cast<double>(counted)},
            {"macro_f1", macro_f1(s)},
            {"recall", numbers(s.recall)},
            {"precision", numbers(s.precision)},
            {"confusion", confusion},
            {"log_loss", number(s.log_loss)},
            {"brier", s.brier},
            {"calibration_error", s.calibration_error},
            {"calibration_error_if_calibrated", s.expected_calibration_error},
            {"calibration_error_99_percent_range", {s.calibration_range.low, s.calibration_range.high}},
            {"calibration_error_99_percent_range_of_speakers", {of_speakers.low, of_speakers.high}},
            {"calibration_slope", number(calibration_slope(method.predictions))},
            {"calibration_slope_interval", {number(of_slope.low), number(of_slope.high)}},
            {"calibration_bins", bins},
            {"evidence_of_fold", evidence},
            {"temper_of_fold", tempers},
            {"inner_log_loss_of_fold", numbers(losses)},
            {"inner_log_loss", number(inner)}};
  if (Json lengths = by_length(frames, method); !lengths.empty()) {
    json["damping_frames_of_fold"] = dampings;
    json["cut_to_frames"] = std::move(lengths);
  }
  if (!frames.groups.empty()) json["by"] = scores_by_group(frames, method);
  return json;
}

Json convergence_of(const LabelledFrames& frames, const MethodResult& method) {
  Json classes = Json::object();
  Convergence all;
  for (std::size_t c = 0; c < frames.num_classes(); ++c) {
    Convergence sum;
    for (const FoldResult& fold : method.folds) sum.add(fold.of_class[c]);
    classes[frames.classes[c]] = {{"converged", sum.share()},
                                  {"worst_rhat", number(sum.worst_rhat)},
                                  {"least_ess_bulk", number(sum.least_ess)}};
    all.add(sum);
  }
  return {{"of", "log p(utterance | draws of a class), rank R-hat at most 1.05 and bulk ESS at least 100"},
          {"pairs", all.num_pairs},
          {"converged", all.share()},
          {"classes", classes}};
}

}  // namespace

MethodResult judge_method(const LabelledFrames& frames, std::vector<FoldResult> folds, std::uint64_t seed,
                          std::vector<std::size_t>* utterances) {
  MethodResult result;
  result.predictions = pooled(frames, folds, utterances);
  result.folds = std::move(folds);
  result.scores = score(result.predictions, seed);
  return result;
}

std::string predictions_csv(const LabelledFrames& frames, const std::vector<std::size_t>& utterances,
                            const Predictions& predictions) {
  std::string text = "utterance,speaker,truth,predicted";
  for (const auto& name : frames.classes) text += "," + csv_field("p_" + name);
  text += "\n";
  const std::size_t classes = frames.num_classes();
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    const UtteranceFrames& u = frames.features.utterances[utterances[i]];
    text += csv_field(u.id) + "," + csv_field(u.speaker) + "," + csv_field(u.emotion) + "," +
            csv_field(frames.classes[static_cast<std::size_t>(predictions.predicted(i))]);
    for (std::size_t c = 0; c < classes; ++c)
      text += "," + shortest_text(std::exp(predictions.log_probability[i * classes + c]));
    text += "\n";
  }
  return text;
}

Json method_json(const LabelledFrames& frames, const MethodResult& method) {
  return of_method(frames, method);
}

Json scores_json(const LabelledFrames& frames, const EvaluationPlan& plan, const EvaluationResults& results) {
  Json folds = Json::array();
  for (std::size_t f = 0; f < plan.folds.size(); ++f) {
    std::vector<std::string> names;
    for (const int s : plan.folds[f].test_speakers)
      names.push_back(frames.speakers[static_cast<std::size_t>(s)]);
    folds.push_back(names);
  }
  Json json{{"seed", results.seed},           {"classes", frames.classes},
            {"speakers", frames.speakers},    {"utterances", results.utterances.size()},
            {"frames", frames.rows.num_rows}, {"test_speakers_of_fold", folds}};
  if (!plan.fold_names.empty()) json["fold_names"] = plan.fold_names;
  json["posterior"] = of_method(frames, results.posterior);
  json["convergence"] = convergence_of(frames, results.posterior);
  if (results.em) {
    json[results.other] = of_method(frames, *results.em);
    const Interval d = uar_difference_interval(results.posterior.predictions, results.em->predictions);
    const McNemar test = mcnemar(results.posterior.predictions, results.em->predictions);
    json["posterior_minus_" + results.other] = {
        {"uar", results.posterior.scores.uar - results.em->scores.uar},
        {"uar_interval", {number(d.low), number(d.high)}},
        {"right_by_posterior_only", test.only_first},
        {"right_by_" + results.other + "_only", test.only_second},
        {"mcnemar_p", test.p_value}};
  }
  return json;
}

Predictions averaged_over_seeds(const std::vector<EvaluationResults>& seeds) {
  Predictions averaged = seeds.at(0).posterior.predictions;
  const auto n = static_cast<double>(seeds.size());
  for (std::size_t i = 0; i < averaged.log_probability.size(); ++i) {
    double sum = 0;
    for (const EvaluationResults& one : seeds)
      sum += std::exp(one.posterior.predictions.log_probability.at(i)) / n;
    averaged.log_probability[i] = std::log(sum);
  }
  return averaged;
}

Json scores_of_seeds(const LabelledFrames& frames, const std::vector<EvaluationResults>& seeds) {
  const auto n = static_cast<double>(seeds.size());
  const auto mean_of = [&](const auto& value) {
    double sum = 0;
    for (const EvaluationResults& one : seeds) sum += value(one);
    return sum / n;
  };
  const auto means = [&](const auto& method) {
    const double uar_mean = mean_of([&](const auto& r) { return method(r).scores.uar; });
    double squares = 0;
    for (const EvaluationResults& one : seeds) squares += std::pow(method(one).scores.uar - uar_mean, 2);
    const auto of_speakers = [&](const EvaluationResults& one) {
      double sum = 0, counted = 0;
      for (const double x : uar_by_speaker(method(one).predictions))
        if (!std::isnan(x)) {
          sum += x;
          ++counted;
        }
      return sum / counted;
    };
    return Json{
        {"uar", uar_mean},
        {"uar_sd_over_seeds", n > 1 ? std::sqrt(squares / (n - 1)) : 0.0},
        {"mean_uar_of_speakers", mean_of(of_speakers)},
        {"macro_f1", mean_of([&](const auto& r) { return macro_f1(method(r).scores); })},
        {"accuracy", mean_of([&](const auto& r) { return method(r).scores.accuracy; })},
        {"log_loss", number(mean_of([&](const auto& r) { return method(r).scores.log_loss; }))},
        {"brier", mean_of([&](const auto& r) { return method(r).scores.brier; })},
        {"calibration_error", mean_of([&](const auto& r) { return method(r).scores.calibration_error; })},
        {"calibration_slope",
         number(mean_of([&](const auto& r) { return calibration_slope(method(r).predictions); }))}};
  };
  Json json{{"classes", frames.classes}};
  for (const EvaluationResults& one : seeds) json["seeds"].push_back(one.seed);
  json["posterior"] = means([](const EvaluationResults& r) -> const MethodResult& { return r.posterior; });
  double least = 1;
  for (const EvaluationResults& one : seeds)
    least = std::min(least, convergence_of(frames, one.posterior)["converged"].get<double>());
  json["least_share_converged"] = least;
  const Predictions averaged = averaged_over_seeds(seeds);
  const Scores of_averaged = score(averaged, seeds[0].seed);
  const Interval uar_of_averaged = uar_interval(averaged);
  json["averaged"] = {{"uar", of_averaged.uar},
                      {"uar_interval", {number(uar_of_averaged.low), number(uar_of_averaged.high)}},
                      {"macro_f1", macro_f1(of_averaged)},
                      {"accuracy", of_averaged.accuracy},
                      {"log_loss", number(of_averaged.log_loss)},
                      {"brier", of_averaged.brier},
                      {"calibration_error", of_averaged.calibration_error}};
  if (!seeds[0].em) return json;
  json[seeds[0].other] = means([](const EvaluationResults& r) -> const MethodResult& { return *r.em; });

  // The mean over seeds of the difference, with its jackknife interval over speakers.
  std::vector<std::vector<std::size_t>> rows(frames.speakers.size());
  const Predictions& first = seeds[0].posterior.predictions;
  for (std::size_t i = 0; i < first.size(); ++i)
    rows[static_cast<std::size_t>(first.speaker[i])].push_back(i);
  std::erase_if(rows, [](const auto& of_speaker) { return of_speaker.empty(); });
  const auto difference_without = [&](std::size_t left_out) {
    std::vector<std::size_t> kept;
    for (std::size_t s = 0; s < rows.size(); ++s)
      if (s != left_out) kept.insert(kept.end(), rows[s].begin(), rows[s].end());
    return mean_of([&](const EvaluationResults& r) {
      return uar(r.posterior.predictions, kept) - uar(r.em->predictions, kept);
    });
  };
  std::vector<double> without;
  for (std::size_t s = 0; rows.size() > 1 && s < rows.size(); ++s) without.push_back(difference_without(s));
  const double difference = difference_without(rows.size());
  const Interval interval = jackknife_interval(difference, without, -1, 1);
  json["posterior_minus_" + seeds[0].other] = {
      {"uar", difference}, {"uar_interval", {number(interval.low), number(interval.high)}}};
  return json;
}

}  // namespace emomc
