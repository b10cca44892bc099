// Reads predictions.csv of an evaluation of a regression of numbers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace emomc::app {

/// The prediction of one number of an utterance, in the order of the file's columns.
struct PredictedNumber {
  double truth = 0, mean = 0, sd = 0, low = 0, high = 0, log_density = 0;
};

struct NumberPredictionsFile {
  std::vector<std::string> dimensions, utterances, speakers;  ///< `utterances` and `speakers`: [rows]
  std::vector<PredictedNumber> values;                        ///< rows x dimensions, row-major
};

/// Reads a file. Throws InputError, with file and line, if the file is not one that `emomc evaluate` writes,
/// or if an utterance occurs twice.
NumberPredictionsFile read_number_predictions(const std::filesystem::path& file);

}  // namespace emomc::app
