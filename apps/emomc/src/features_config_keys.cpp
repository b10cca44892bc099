#include "features_config_keys.hpp"

#include <array>

namespace emomc::app {
namespace {

using Names = std::vector<std::string>;
constexpr std::array kNormalizations{Normalization::none, Normalization::corpus, Normalization::speaker,
                                     Normalization::utterance};

}  // namespace

std::string normalization_name(Normalization by) {
  static const Names names{"none", "corpus", "speaker", "utterance"};
  return names[static_cast<std::size_t>(by)];
}

std::vector<EvaluationKey> features_keys() {
  return {
      {"features.normalize",
       "columns to mean 0 and sd 1 by speaker (of unlabelled frames) | none | corpus | utterance",
       [](const YamlValue& v, EvaluationConfig& c) {
         Names names;
         for (const Normalization by : kNormalizations) names.push_back(normalization_name(by));
         const std::string name = v.choice(names);
         for (const Normalization by : kNormalizations)
           if (normalization_name(by) == name) c.features.normalize = by;
       },
       [](const EvaluationConfig& c) { return normalization_name(c.features.normalize); }},
      {"features.deltas", "0 | 1: with derivatives over time | 2: with second ones",
       [](const YamlValue& v, EvaluationConfig& c) { c.features.deltas = static_cast<int>(v.integer(0, 2)); },
       [](const EvaluationConfig& c) { return std::to_string(c.features.deltas); }},
  };
}

}  // namespace emomc::app
