// What model.json of models that take rows of functionals has in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emomc/speech/functionals.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

namespace emomc {

/// The functionals that a model takes.
struct ModelRows {
  FunctionalSet set = FunctionalSet::full;  ///< of recordings
  std::string table;                        ///< of another program, in place of them; empty: recordings
};

/// The key `functionals`.
nlohmann::ordered_json functionals_of_model(const ModelRows& rows);
/// Reads that key. `columns`: of the model. Throws InputError for functionals that this program would not
/// compute alike.
ModelRows read_functionals(const nlohmann::json& json, const std::vector<std::string>& columns);

/// The key `corpus`.
nlohmann::ordered_json statistics_json(const CorpusStatistics& corpus);
/// Reads that key, of `columns` columns. Throws InputError.
CorpusStatistics read_statistics(const nlohmann::json& json, std::size_t columns);

/// A finite number above 0. Throws InputError.
double positive(const nlohmann::json& json, const std::string& name);
/// `least` distinct names or more. Throws InputError.
std::vector<std::string> distinct_names(const nlohmann::json& json, std::size_t least,
                                        const std::string& name);
}  // namespace emomc
