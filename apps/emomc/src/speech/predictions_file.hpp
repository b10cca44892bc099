// Reads predictions.csv of an evaluation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/speech/scores.hpp"

namespace emomc::app {

struct PredictionsFile {
  std::vector<std::string> classes, utterances;
  std::vector<std::string> speakers;  ///< of each utterance
  Predictions predictions;            ///< speakers are numbered in the order of their names
};

/// Throws InputError, which names file and line, for a file that an evaluation has not written: other
/// columns, a class that is no column, probabilities that are none or do not sum to 1 within 1e-6, an
/// utterance that occurs twice, no utterance.
PredictionsFile read_predictions(const std::filesystem::path& file);

}  // namespace emomc::app
