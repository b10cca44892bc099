// Reads and writes the parts of model.json that all models of rows of functionals share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emomc/speech/functionals.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

namespace emomc {

/// The functionals that are the input of a model.
struct ModelRows {
  FunctionalSet set = FunctionalSet::full;  ///< set of functionals of recordings
  std::string table;  ///< table of another program that replaces them; empty: recordings
};

/// Writes the value of the key `functionals`.
nlohmann::ordered_json functionals_of_model(const ModelRows& rows);
/// Reads the value of the key `functionals`. `columns` are those of the model. Throws InputError for
/// functionals that this program would compute differently.
ModelRows read_functionals(const nlohmann::json& json, const std::vector<std::string>& columns);

/// Writes the value of the key `corpus`.
nlohmann::ordered_json statistics_json(const CorpusStatistics& corpus);
/// Reads the value of the key `corpus`, with `columns` columns. Throws InputError if it is damaged.
CorpusStatistics read_statistics(const nlohmann::json& json, std::size_t columns);

/// Reads the number under the key `name`. Throws InputError if it is not finite or not above 0.
double positive(const nlohmann::json& json, const std::string& name);
/// Reads a list of names under the key `name`. Throws InputError if there are fewer than `least` names or one
/// occurs twice.
std::vector<std::string> distinct_names(const nlohmann::json& json, std::size_t least,
                                        const std::string& name);
}  // namespace emomc
