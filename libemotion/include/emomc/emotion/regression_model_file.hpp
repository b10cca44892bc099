// Reads and writes a trained regression of numbers as a directory with model.json, weights.npy and
// rotation.npy; `emomc classify` reads no other files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emomc/speech/functionals.hpp"
#include "emomc/speech/regression_evaluation.hpp"

namespace emomc {

struct RegressionModel {
  FunctionalSet set = FunctionalSet::full;  ///< set of the recordings' functionals
  std::string table;   ///< table of another program on which the model was trained; empty: recordings
  std::string config;  ///< configuration of `emomc train` as text; empty: another caller trained the model
  /// Sample rate of the training recordings in Hz; 0: the rates differed, or a table was given.
  double sample_rate = 0;
  /// A description of the training data.
  struct TrainedOn {
    std::string corpus;  ///< such as "manifest corpora/all.csv", for users
    std::vector<std::string> speakers;
    std::string data_sha256;  ///< hash of the numbers and the functionals
  } trained_on;
  std::uint64_t seed = 0;
  Regressor regressor;
};

/// Whether `directory` has the model of a regression; false for another model and for none.
bool is_regression_model(const std::filesystem::path& directory);

/// Writes the arrays, then model.json. Throws MachineError if writing fails.
void write_regression_model(const RegressionModel& model, const std::filesystem::path& directory);
/// Reads a model. Throws InputError if a file is missing, damaged or belongs to another model, or if the
/// model's functionals have another version than this program's. All content is checked before it is used.
RegressionModel read_regression_model(const std::filesystem::path& directory);

}  // namespace emomc
