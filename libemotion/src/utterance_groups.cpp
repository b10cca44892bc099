#include "emomc/emotion/utterance_groups.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "emomc/core/errors.hpp"
#include "json_number.hpp"
#include "utterance_values.hpp"

namespace emomc {
namespace {

using Json = nlohmann::ordered_json;

// The rows of `all` for which `is_wanted` is true.
Predictions part_of(const Predictions& all, const std::vector<bool>& is_wanted) {
  Predictions part;
  part.num_classes = all.num_classes;
  const auto classes = static_cast<std::ptrdiff_t>(all.num_classes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_wanted[i]) continue;
    part.truth.push_back(all.truth[i]);
    part.speaker.push_back(all.speaker[i]);
    const auto p = all.log_probability.begin() + static_cast<std::ptrdiff_t>(i) * classes;
    part.log_probability.insert(part.log_probability.end(), p, p + classes);
  }
  return part;
}

Json scores_of(const std::string& value, const Predictions& predictions) {
  const Scores s = score(predictions, 0, 1);
  const Interval interval = uar_interval(predictions);
  return {{"value", value},
          {"utterances", predictions.size()},
          {"speakers", std::set<int>(predictions.speaker.begin(), predictions.speaker.end()).size()},
          {"uar", s.uar},
          {"uar_interval", {number(interval.low), number(interval.high)}},
          {"accuracy", s.accuracy},
          {"macro_f1", macro_f1(s)},
          {"log_loss", number(s.log_loss)}};
}

}  // namespace

std::vector<UtteranceGroups> groups_of(const LabelledFrames& frames, const EvaluationConfig& config) {
  const auto& file = config.by.file.empty() ? config.corpus.path : config.by.file;
  std::vector<UtteranceGroups> all;
  for (const std::string& column : config.by.columns) {
    const std::vector<std::string> values = utterance_values(frames, file, column, "by.columns");
    const std::set<std::string> distinct(values.begin(), values.end());
    if (distinct.size() > kMostGroups)
      throw InputError("by.columns: " + column + " has " + std::to_string(distinct.size()) + " values in " +
                       file.string() + "; at most " + std::to_string(kMostGroups) + " are allowed");
    UtteranceGroups groups{column, {distinct.begin(), distinct.end()}, {}};
    for (const std::string& value : values)
      groups.group_of.push_back(static_cast<int>(std::distance(distinct.begin(), distinct.find(value))));
    all.push_back(std::move(groups));
  }
  return all;
}

Json scores_by_group(const LabelledFrames& frames, const MethodResult& method) {
  std::vector<std::size_t> utterances;
  const Predictions all = pooled(frames, method.folds, &utterances);
  Json result = Json::array();
  for (const UtteranceGroups& groups : frames.groups) {
    Json list = Json::array();
    for (std::size_t g = 0; g < groups.values.size(); ++g) {
      std::vector<bool> is_wanted;
      for (const std::size_t u : utterances) is_wanted.push_back(groups.group_of[u] == static_cast<int>(g));
      const Predictions part = part_of(all, is_wanted);
      if (part.size() > 0) list.push_back(scores_of(groups.values[g], part));
    }
    result.push_back({{"column", groups.column}, {"values", std::move(list)}});
  }
  return result;
}

Json mean_by_group(const std::vector<Json>& seeds) {
  Json means = Json::array();
  for (std::size_t c = 0; c < seeds.at(0).size(); ++c) {
    means.push_back({{"column", seeds[0][c]["column"]}, {"values", Json::array()}});
    const Json& list = seeds[0][c]["values"];
    for (std::size_t g = 0; g < list.size(); ++g) {
      Json mean;
      for (const char* key : {"value", "utterances", "speakers"}) mean[key] = list[g][key];
      for (const char* key : {"uar", "accuracy", "macro_f1", "log_loss"}) {
        double sum = 0;
        for (const Json& one : seeds) {
          const Json& x = one[c]["values"][g][key];
          sum += x.is_null() ? std::nan("") : x.get<double>();
        }
        mean[key] = number(sum / static_cast<double>(seeds.size()));
      }
      means.back()["values"].push_back(std::move(mean));
    }
  }
  return means;
}

}  // namespace emomc
