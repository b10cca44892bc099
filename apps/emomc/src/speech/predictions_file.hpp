// Reads predictions.csv of an evaluation of classes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/speech/scores.hpp"

namespace emomc::app {

struct PredictionsFile {
  std::vector<std::string> classes, utterances;
  std::vector<std::string> speakers;  ///< [utterances]
  Predictions predictions;            ///< speakers are numbered in the order of their names
};

/// Reads a file. Throws InputError, with file and line, for a file that an evaluation has not written: with
/// other columns, a class without a column, values that are no probabilities or do not sum to 1 within 1e-6,
/// an utterance that occurs twice, or no utterance.
PredictionsFile read_predictions(const std::filesystem::path& file);

}  // namespace emomc::app
