#include "row_model_json.hpp"

#include <cmath>
#include <set>

#include "emomc/core/errors.hpp"
#include "emomc/emotion/model_files.hpp"

namespace emomc {

using Json = nlohmann::ordered_json;

Json functionals_of_model(const ModelRows& rows) {
  if (!rows.table.empty()) return {{"table", rows.table}};
  return {{"set", functional_set_name(rows.set)}, {"version", kFunctionalsVersion}};
}

ModelRows read_functionals(const nlohmann::json& json, const std::vector<std::string>& columns) {
  const auto& functionals = json.at("functionals");
  ModelRows rows;
  if (functionals.contains("table")) {
    rows.table = functionals.at("table").get<std::string>();
    if (rows.table.empty()) throw InputError("functionals.table has no name");
    return rows;
  }
  rows.set = functional_set(functionals.at("set").get<std::string>());
  const int version = functionals.at("version").get<int>();
  if (version != kFunctionalsVersion)
    throw InputError("trained on functionals of version " + std::to_string(version) +
                     ", and this program computes version " + std::to_string(kFunctionalsVersion) +
                     "; train it again");
  if (columns != functional_names(rows.set))
    throw InputError("its columns are not those of the set of functionals " + functional_set_name(rows.set));
  return rows;
}

Json statistics_json(const CorpusStatistics& corpus) {
  return {{"mean", corpus.mean}, {"between", corpus.between}, {"within", corpus.within}};
}

CorpusStatistics read_statistics(const nlohmann::json& json, std::size_t columns) {
  const auto& corpus = json.at("corpus");
  CorpusStatistics result{finite_numbers(corpus.at("mean"), columns, "corpus.mean"),
                          finite_numbers(corpus.at("between"), columns, "corpus.between"),
                          finite_numbers(corpus.at("within"), columns, "corpus.within")};
  for (const auto* variances : {&result.between, &result.within})
    for (const double x : *variances)
      if (x < 0) throw InputError("corpus has a variance below 0");
  return result;
}

double positive(const nlohmann::json& json, const std::string& name) {
  const double x = json.at(name).get<double>();
  if (!(x > 0) || !std::isfinite(x)) throw InputError(name + " is out of range");
  return x;
}

std::vector<std::string> distinct_names(const nlohmann::json& json, std::size_t least,
                                        const std::string& name) {
  auto names = json.at(name).get<std::vector<std::string>>();
  const std::set<std::string> distinct(names.begin(), names.end());
  if (names.size() < least || distinct.size() != names.size())
    throw InputError(name + ": too few, or one occurs twice");
  return names;
}

}  // namespace emomc
