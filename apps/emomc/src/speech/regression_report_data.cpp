#include "regression_report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/json_value.hpp"
#include "evaluation_report_data.hpp"
#include "number_predictions_file.hpp"

namespace emomc::app {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

Names names_of(const JsonValue& value) {
  Names names;
  for (const auto& item : value.items()) names.push_back(item.text());
  if (names.empty()) value.refuse("names");
  return names;
}

// The scores of one dimension with one kind of knowledge of the speaker.
json scores_of(const JsonValue& value) {
  json result;
  for (const char* key :
       {"ccc", "mean_ccc_of_speakers", "pearson", "rmse", "mae", "coverage_90", "log_density"}) {
    result[key] = value.at(key).number();
    result[std::string(key) + "_interval"] = value.at(std::string(key) + "_interval").numbers(2);
  }
  if (value.has("ccc_less_own")) {
    result["ccc_less_own"] = value.at("ccc_less_own").number();
    result["ccc_less_own_interval"] = value.at("ccc_less_own_interval").numbers(2);
  }
  return result;
}

// The scores of one dimension for each value of the columns in by.columns; empty if there are none.
json groups_of(const JsonValue& scores, const std::string& dimension) {
  json list = json::array();
  if (!scores.has("by")) return list;
  for (const auto& entry : scores.at("by").items()) {
    json rows = json::array();
    for (const auto& one : entry.at("values").items())
      rows.push_back({{"value", one.at("value").text()},
                      {"utterances", one.at("utterances").count()},
                      {"speakers", one.at("speakers").count()},
                      {"scores", scores_of(one.at("dimensions").at(dimension))}});
    list.push_back({{"column", entry.at("column").text()}, {"rows", std::move(rows)}});
  }
  return list;
}

json dimension_of(const JsonValue& scores, const std::string& name, const Names& speakers,
                  std::size_t levels) {
  const JsonValue value = scores.at("regression").at(name), by_speaker = value.at("ccc_by_speaker");
  json of_speakers = json::array(), known = json::array();
  for (const auto& speaker : speakers)
    of_speakers.push_back(by_speaker.has(speaker) ? by_speaker.at(speaker).number() : json());
  for (const auto& entry : scores.at("known_of_speaker").items())
    known.push_back({{"knowledge", entry.at("knowledge").text()},
                     {"scores", scores_of(entry.at("dimensions").at(name))}});
  return {{"name", name},
          {"scores", scores_of(value)},
          {"by_speaker", of_speakers},
          {"covered", value.at("coverage_of_level").numbers(levels)},
          {"known", known},
          {"by", groups_of(scores, name)}};
}

// Rows [utterance, speaker, then for each dimension truth, mean, sd, low and high].
json rows_of(const std::filesystem::path& directory, const Names& dimensions, const Names& speakers) {
  const auto file = directory / "predictions.csv";
  const NumberPredictionsFile read = read_number_predictions(file);
  if (read.dimensions != dimensions)
    throw InputError(file.string() + ": its columns are not those of the dimensions in scores.json");
  json rows = json::array();
  for (std::size_t i = 0; i < read.utterances.size(); ++i) {
    if (std::find(speakers.begin(), speakers.end(), read.speakers[i]) == speakers.end())
      throw InputError(file.string() + ": speaker " + excerpt(read.speakers[i]) + " is not in scores.json");
    json row{read.utterances[i], read.speakers[i]};
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const PredictedNumber& one = read.values[i * dimensions.size() + d];
      for (const double x : {one.truth, one.mean, one.sd, one.low, one.high}) row.push_back(x);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

json regression_report_data(const std::filesystem::path& directory, const json& parsed) {
  const JsonValue scores(parsed, (directory / "scores.json").string());
  const Names dimensions = names_of(scores.at("dimensions")), speakers = names_of(scores.at("speakers"));
  const JsonValue levels = scores.at("regression").at(dimensions[0]).at("coverage_levels");
  const std::size_t num_levels = levels.items().size();
  json data{{"title", directory.string()},
            {"speakers", speakers},
            {"levels", levels.numbers(num_levels)},
            {"dimensions", json::array()},
            {"rows", rows_of(directory, dimensions, speakers)},
            {"run", run_facts(directory / "manifest.json")},
            {"config", config_text(directory)}};
  for (const auto& name : dimensions)
    data["dimensions"].push_back(dimension_of(scores, name, speakers, num_levels));
  if (data["rows"].size() != scores.at("utterances").count())
    throw InputError((directory / "predictions.csv").string() +
                     ": its predictions are not those that scores.json counts");
  data["facts"] =
      fmt::format("{} utterances of {} speakers, in {} folds; seed {}. Reported by emomc " EMOMC_VERSION ".",
                  data["rows"].size(), speakers.size(), scores.at("test_speakers_of_fold").items().size(),
                  scores.at("seed").count());
  return data;
}

}  // namespace emomc::app
