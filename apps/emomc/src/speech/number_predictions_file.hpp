// predictions.csv of a regression.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

/// What a regression predicts of one number of an utterance, in the order of the file's columns.
struct PredictedNumber {
  double truth = 0, mean = 0, sd = 0, low = 0, high = 0, log_density = 0;
};

struct NumberPredictionsFile {
  std::vector<std::string> dimensions, utterances, speakers;  ///< of each row the last two
  std::vector<PredictedNumber> values;                        ///< rows x dimensions, row-major
};

/// Throws InputError, one line with file and line, for anything that emomc evaluate does not write, and where
/// an utterance occurs twice.
NumberPredictionsFile read_number_predictions(const std::filesystem::path& file);

}  // namespace emomc::app
