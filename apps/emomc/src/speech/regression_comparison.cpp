#include "regression_comparison.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/speech/regression_scores.hpp"
#include "evaluation_comparison.hpp"
#include "evaluation_report_data.hpp"
#include "jackknife_rows.hpp"
#include "number_predictions_file.hpp"
#include "score_text.hpp"

namespace emomc::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> kStatistics{"ccc", "rmse", "log_density"};

// The predictions of an evaluation; the rows are in the order of the first evaluation's rows.
struct Regression {
  std::string directory;
  NumberPredictionsFile rows;
};

Regression read_regression(const fs::path& directory, const std::vector<Regression>& before) {
  Regression one{directory.string(), read_number_predictions(directory / "predictions.csv")};
  if (before.empty()) return one;
  const NumberPredictionsFile& first = before[0].rows;
  const auto refuse = [&](const std::string& what) {
    throw InputError((directory / "predictions.csv").string() + ": " + what + " than " + before[0].directory +
                     "; evaluations are compared on the same utterances, numbers and folds");
  };
  if (one.rows.dimensions != first.dimensions)
    refuse("other dimensions (" + excerpt(joined(one.rows.dimensions)) + ")");
  if (one.rows.utterances.size() != first.utterances.size())
    refuse(fmt::format("{} utterances, others", one.rows.utterances.size()));
  if (folds_of_evaluation(directory) != folds_of_evaluation(before[0].directory)) refuse("other folds");
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < one.rows.utterances.size(); ++i) place[one.rows.utterances[i]] = i;
  NumberPredictionsFile arranged{first.dimensions, first.utterances, first.speakers, {}};
  const std::size_t stride = first.dimensions.size();
  for (std::size_t i = 0; i < first.utterances.size(); ++i) {
    const auto at = place.find(first.utterances[i]);
    if (at == place.end()) refuse("no utterance " + excerpt(first.utterances[i]) + ", others");
    for (std::size_t d = 0; d < stride; ++d) {
      const PredictedNumber& value = one.rows.values[at->second * stride + d];
      if (value.truth != first.values[i * stride + d].truth ||
          one.rows.speakers[at->second] != first.speakers[i])
        refuse("another number or speaker of " + excerpt(first.utterances[i]));
      arranged.values.push_back(value);
    }
  }
  one.rows = std::move(arranged);
  return one;
}

double statistic(const std::string& name, const NumberPredictionsFile& file, std::size_t dimension,
                 const std::vector<std::size_t>& rows) {
  std::vector<double> truth, mean;
  double squares = 0, density = 0;
  for (const std::size_t row : rows) {
    const PredictedNumber& one = file.values[row * file.dimensions.size() + dimension];
    truth.push_back(one.truth);
    mean.push_back(one.mean);
    squares += (one.mean - one.truth) * (one.mean - one.truth);
    density += one.log_density;
  }
  const auto n = static_cast<double>(rows.size());
  return name == "ccc" ? concordance(truth, mean) : name == "rmse" ? std::sqrt(squares / n) : density / n;
}

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }

Json difference(const NumberPredictionsFile& first, const NumberPredictionsFile& second,
                std::size_t dimension, const JackknifeRows& kept) {
  Json json;
  for (const std::string name : kStatistics) {
    const auto of_rows = [&](const std::vector<std::size_t>& rows) {
      return statistic(name, second, dimension, rows) - statistic(name, first, dimension, rows);
    };
    const double all = of_rows(kept.all), none = std::nan("");
    std::vector<double> without;
    for (const auto& rows : kept.without) without.push_back(of_rows(rows));
    const bool is_known = std::isfinite(std::accumulate(without.begin(), without.end(), all));
    const double most = name == "ccc" ? 2 : std::numeric_limits<double>::infinity();
    const Interval interval = is_known ? jackknife_interval(all, without, -most, most) : Interval{none, none};
    json[name] = number(all);
    json[name + "_interval"] = {number(interval.low), number(interval.high)};
  }
  return json;
}

}  // namespace

bool is_regression_evaluation(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_regular_file(directory / "scores.json", error)) return false;
  const nlohmann::json scores = read_scores(directory);
  return scores.is_object() && scores.contains("regression");
}

Json compare_regressions(const std::vector<fs::path>& directories) {
  std::vector<Regression> all;
  for (const fs::path& directory : directories) {
    require_evaluation(directory);
    if (!is_regression_evaluation(directory))
      throw InputError(directory.string() + ": predicts classes, and " + directories[0].string() +
                       " numbers; evaluations of one kind are compared");
    all.push_back(read_regression(directory, all));
  }
  const NumberPredictionsFile& first = all[0].rows;
  const JackknifeRows kept = jackknife_rows(first.speakers);
  Json json{{"utterances", first.utterances.size()},
            {"speakers", std::set<std::string>(first.speakers.begin(), first.speakers.end())},
            {"dimensions", first.dimensions},
            {"folds", folds_of_evaluation(directories[0]).size()},
            {"methods", Json::array()},
            {"differences", Json::array()}};
  for (const Regression& one : all) {
    Json method{{"evaluation", one.directory}};
    for (std::size_t d = 0; d < first.dimensions.size(); ++d)
      for (const char* name : kStatistics)
        method["scores"][first.dimensions[d]][name] = number(statistic(name, one.rows, d, kept.all));
    json["methods"].push_back(std::move(method));
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      Json pair{{"first", i}, {"second", j}};
      for (std::size_t d = 0; d < first.dimensions.size(); ++d)
        pair["scores"][first.dimensions[d]] = difference(all[i].rows, all[j].rows, d, kept);
      json["differences"].push_back(std::move(pair));
    }
  return json;
}

std::string regression_comparison_text(const Json& comparison, std::size_t width) {
  std::string text = fmt::format("{} of {}, in {}; 95 % intervals over speakers, who are left out of both\n",
                                 counted(comparison["utterances"].get<std::size_t>(), "utterance"),
                                 counted(comparison["speakers"].size(), "speaker"),
                                 counted(comparison["folds"].get<std::size_t>(), "fold"));
  for (const Json& dimension : comparison["dimensions"]) {
    const std::string name = dimension.get<std::string>();
    TextTable table({{name},
                     {"CCC"},
                     {"RMSE"},
                     {"log density"},
                     {"CCC less the first one's", 1},
                     {"RMSE less first", 3},
                     {"log density less first", 2}});
    for (std::size_t m = 0; m < comparison["methods"].size(); ++m) {
      const Json& scores = comparison["methods"][m]["scores"][name];
      std::vector<std::string> cells{comparison["methods"][m]["evaluation"].get<std::string>()};
      for (const std::string key : kStatistics)
        cells.push_back((key == "rmse" ? in_unit : three)(real(scores[key])));
      cells.resize(cells.size() + kStatistics.size());
      for (const Json& pair : comparison["differences"]) {
        if (pair["first"] != 0 || pair["second"] != m) continue;
        for (std::size_t i = 0; i < kStatistics.size(); ++i) {
          const Json& less = pair["scores"][name];
          const Json& ends = less[std::string(kStatistics[i]) + "_interval"];
          cells[4 + i] = kStatistics[i] == std::string("rmse")
                             ? fmt::format("{} [{}, {}]", signed_in_unit(real(less[kStatistics[i]])),
                                           signed_in_unit(real(ends[0])), signed_in_unit(real(ends[1])))
                             : fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", real(less[kStatistics[i]]),
                                           real(ends[0]), real(ends[1]));
        }
      }
      table.add(std::move(cells));
    }
    text += "\n" + table.text(width);
  }
  return text;
}

}  // namespace emomc::app
