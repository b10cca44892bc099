#include "evaluation_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/json_value.hpp"
#include "emomc/posterior/text_table.hpp"
#include "evaluation_report_data.hpp"
#include "evaluation_text.hpp"
#include "input_kind.hpp"
#include "jackknife_rows.hpp"
#include "predictions_file.hpp"
#include "regression_comparison.hpp"
#include "score_text.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Method {
  std::string evaluation, name;
  std::vector<Predictions> seeds;
  double share_converged = 0;  ///< of the evaluation's chains, with the worst seed
};

/// A statistic of all utterances, and of the utterances without each speaker in turn.
struct Statistic {
  double all = 0;
  std::vector<double> without;
};

/// The utterances, labels and folds that all methods must have in common.
struct Subject {
  std::string first;  ///< file from which the subject was read
  std::vector<std::string> classes, utterances, speakers;
  std::vector<int> truth;
  std::set<std::set<std::string>> folds;
};

// The directories of the seeds that scores.json names; `directory` itself if there is a single seed.
std::vector<fs::path> seeds_of(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory / "scores.json", error))
    throw InputError(directory.string() +
                     ": not all of its seeds have been evaluated; continue the evaluation with --resume");
  const nlohmann::json json = read_scores(directory);
  const JsonValue scores(json, (directory / "scores.json").string());
  if (!scores.has("seeds")) return {directory};
  std::vector<fs::path> seeds;
  for (const JsonValue& seed : scores.at("seeds").items())
    seeds.push_back(directory / fmt::format("seed-{}", seed.count()));
  return seeds;
}

[[noreturn]] void refuse(const fs::path& file, const Subject& subject, const std::string& what) {
  throw InputError(file.string() + ": " + what + " than " + subject.first +
                   "; evaluations are compared on the same utterances and folds");
}

// The predictions of a file in the order of the subject's utterances and classes.
Predictions arranged(const PredictionsFile& read, const fs::path& file, const Subject& subject) {
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < read.utterances.size(); ++i) place[read.utterances[i]] = i;
  if (std::set(read.classes.begin(), read.classes.end()) !=
      std::set(subject.classes.begin(), subject.classes.end()))
    refuse(file, subject, "other classes (" + excerpt(joined(read.classes)) + ")");
  if (read.utterances.size() != subject.utterances.size())
    refuse(file, subject, fmt::format("{} utterances, others", read.utterances.size()));
  std::vector<std::size_t> column;
  for (const auto& name : subject.classes)
    column.push_back(static_cast<std::size_t>(std::find(read.classes.begin(), read.classes.end(), name) -
                                              read.classes.begin()));
  Predictions result;
  result.num_classes = static_cast<int>(subject.classes.size());
  for (std::size_t i = 0; i < subject.utterances.size(); ++i) {
    const auto at = place.find(subject.utterances[i]);
    if (at == place.end())
      refuse(file, subject, "no utterance " + excerpt(subject.utterances[i]) + ", others");
    const std::size_t row = at->second;
    const std::string& truth = read.classes[static_cast<std::size_t>(read.predictions.truth[row])];
    if (truth != subject.classes[static_cast<std::size_t>(subject.truth[i])] ||
        read.speakers[row] != subject.speakers[i])
      refuse(file, subject, "another label or speaker of " + excerpt(subject.utterances[i]));
    for (const std::size_t c : column)
      result.log_probability.push_back(read.predictions.log_probability[row * column.size() + c]);
  }
  result.truth = subject.truth;
  const std::set<std::string> distinct(subject.speakers.begin(), subject.speakers.end());
  for (const auto& speaker : subject.speakers)
    result.speaker.push_back(static_cast<int>(std::distance(distinct.begin(), distinct.find(speaker))));
  return result;
}

// Appends the methods of a directory. The first file that is read defines the subject.
void append_methods(const fs::path& directory, Subject& subject, std::vector<Method>& methods) {
  require_evaluation(directory);
  if (is_regression_evaluation(directory))
    throw InputError(directory.string() +
                     ": predicts numbers, and others classes; evaluations of one kind are compared");
  const std::vector<fs::path> seeds = seeds_of(directory);
  for (const auto& [file_name, name] : {std::pair{"predictions.csv", "posterior"},
                                        {"predictions_mixtures.csv", "mixtures"},
                                        {"predictions_em.csv", "EM"},
                                        {"predictions_softmax.csv", "softmax"},
                                        {"predictions_penalised.csv", "penalised fit"}}) {
    std::error_code error;
    if (std::string(name) != "posterior" && !fs::exists(seeds[0] / file_name, error)) continue;
    Method method{directory.string(), name, {}, share_converged(read_scores(directory))};
    for (const fs::path& seed : seeds) {
      const fs::path file = seed / file_name;
      PredictionsFile read = read_predictions(file);
      if (subject.first.empty()) {
        subject = {file.string(), read.classes,           read.utterances,
                   read.speakers, read.predictions.truth, folds_of_evaluation(seed)};
      } else if (folds_of_evaluation(seed) != subject.folds) {
        refuse(file, subject, "other folds");
      }
      method.seeds.push_back(arranged(read, file, subject));
    }
    methods.push_back(std::move(method));
  }
}

double log_loss(const Predictions& p, const std::vector<std::size_t>& rows) {
  double sum = 0;
  for (const std::size_t row : rows)
    sum -= p.log_probability[row * static_cast<std::size_t>(p.num_classes) +
                             static_cast<std::size_t>(p.truth[row])];
  return sum / static_cast<double>(rows.size());
}

// value(predictions, rows), averaged over seeds, for the rows of `kept`.
template <class Value>
Statistic statistic(const Method& method, const JackknifeRows& kept, Value value) {
  const auto mean = [&](const std::vector<std::size_t>& rows) {
    double sum = 0;
    for (const Predictions& p : method.seeds) sum += value(p, rows);
    return sum / static_cast<double>(method.seeds.size());
  };
  Statistic result{mean(kept.all), {}};
  for (const auto& rows : kept.without) result.without.push_back(mean(rows));
  return result;
}

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }

// Adds the difference a - b and its interval, which is limited to [-most, most], to `json` as `name` and
// `name`_interval.
void add_difference(Json& json, const std::string& name, const Statistic& a, const Statistic& b,
                    double most) {
  std::vector<double> without;
  for (std::size_t s = 0; s < a.without.size(); ++s) without.push_back(a.without[s] - b.without[s]);
  const Interval interval = jackknife_interval(a.all - b.all, without, -most, most);
  json[name] = number(a.all - b.all);
  json[name + "_interval"] = {number(interval.low), number(interval.high)};
}

// Names the evaluations whose chains have not converged.
std::string unconverged_text(const Json& methods) {
  std::string text;
  std::set<std::string> named;
  for (const Json& method : methods) {
    const Json& share = method["converged"];
    const std::string evaluation = method["evaluation"].get<std::string>();
    if (share.is_null() || share.get<double>() >= kShareAskedFor || !named.insert(evaluation).second)
      continue;
    text += fmt::format(
        "warning: {}: {:.1f} % of (utterance, class) pairs have converged, {:.0f} % are required; its "
        "scores "
        "should not be counted\n",
        evaluation, 100 * share.get<double>(), 100 * kShareAskedFor);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

void require_evaluation(const fs::path& directory) {
  if (kind_of(directory) != InputKind::evaluation)
    throw InputError(
        directory.string() +
        ": no directory of an evaluation; allowed: directories of emomc evaluate, or of runs alone");
}

std::set<std::set<std::string>> folds_of_evaluation(const fs::path& directory) {
  const nlohmann::json json = read_scores(directory);
  std::set<std::set<std::string>> folds;
  const std::string file = (directory / "scores.json").string();
  for (const JsonValue& fold : JsonValue(json, file).at("test_speakers_of_fold").items()) {
    std::set<std::string> speakers;
    for (const JsonValue& speaker : fold.items()) speakers.insert(speaker.text());
    folds.insert(std::move(speakers));
  }
  return folds;
}

Json compare_evaluations(const std::vector<fs::path>& directories) {
  if (is_regression_evaluation(directories.at(0))) return compare_regressions(directories);
  Subject subject;
  std::vector<Method> methods;
  for (const fs::path& directory : directories) append_methods(directory, subject, methods);
  const std::set<std::string> speakers(subject.speakers.begin(), subject.speakers.end());
  const JackknifeRows kept = jackknife_rows(methods[0].seeds[0].speaker);
  std::vector<Statistic> uars, losses;
  for (const Method& method : methods) {
    uars.push_back(
        statistic(method, kept, [](const Predictions& p, const auto& rows) { return uar(p, rows); }));
    losses.push_back(statistic(method, kept, log_loss));
  }
  Json json{
      {"utterances", subject.utterances.size()}, {"speakers", speakers},     {"classes", subject.classes},
      {"folds", subject.folds.size()},           {"methods", Json::array()}, {"differences", Json::array()}};
  const double inf = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const Interval interval = share_interval(uars[m].all, uars[m].without);
    const Statistic error = statistic(methods[m], {kept.all, {}}, [](const Predictions& p, const auto&) {
      return score(p, 0).calibration_error;
    });
    json["methods"].push_back({{"evaluation", methods[m].evaluation},
                               {"method", methods[m].name},
                               {"seeds", methods[m].seeds.size()},
                               {"uar", uars[m].all},
                               {"uar_interval", {number(interval.low), number(interval.high)}},
                               {"log_loss", number(losses[m].all)},
                               {"calibration_error", error.all},
                               {"converged", number(methods[m].share_converged)}});
  }
  for (std::size_t first = 0; first < methods.size(); ++first)
    for (std::size_t second = first + 1; second < methods.size(); ++second) {
      Json pair{{"first", first}, {"second", second}};
      add_difference(pair, "uar", uars[second], uars[first], 1);
      add_difference(pair, "log_loss", losses[second], losses[first], inf);
      json["differences"].push_back(std::move(pair));
    }
  return json;
}

std::string comparison_text(const Json& comparison, std::size_t width) {
  if (comparison.contains("dimensions")) return regression_comparison_text(comparison, width);
  const auto real = [](const Json& x) { return x.is_null() ? std::nan("") : x.get<double>(); };
  const auto three = [&](const Json& x) { return fmt::format("{:.3f}", real(x)); };
  const auto signed_interval = [&](const Json& pair, const std::string& name) {
    const Json& interval = pair[name + "_interval"];
    return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", real(pair[name]), real(interval[0]), real(interval[1]));
  };
  TextTable table({{"evaluation"},
                   {"method"},
                   {"UAR"},
                   {"log loss"},
                   {"ECE", 3},
                   {"UAR less the first one's", 1},
                   {"log loss less the first one's", 2}});
  const Json& methods = comparison["methods"];
  for (std::size_t m = 0; m < methods.size(); ++m) {
    std::string of_uar, of_loss;
    for (const Json& pair : comparison["differences"])
      if (pair["first"] == 0 && pair["second"] == m) {
        of_uar = signed_interval(pair, "uar");
        of_loss = signed_interval(pair, "log_loss");
      }
    table.add({methods[m]["evaluation"].get<std::string>(), methods[m]["method"].get<std::string>(),
               three(methods[m]["uar"]), three(methods[m]["log_loss"]),
               three(methods[m]["calibration_error"]), of_uar, of_loss});
  }
  return fmt::format("{} of {} and {}, in {}; 95 % intervals over speakers, who are left out of both\n\n",
                     counted(comparison["utterances"].get<std::size_t>(), "utterance"),
                     counted(comparison["speakers"].size(), "speaker"),
                     counted(comparison["classes"].size(), "class", "classes"),
                     counted(comparison["folds"].get<std::size_t>(), "fold")) +
         table.text(width) + unconverged_text(methods);
}

}  // namespace emomc::app
