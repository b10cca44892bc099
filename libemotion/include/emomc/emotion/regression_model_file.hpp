// A trained regression of numbers as a directory: model.json, weights.npy and rotation.npy, which are all
// that `emomc classify` reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emomc/speech/functionals.hpp"
#include "emomc/speech/regression_evaluation.hpp"

namespace emomc {

struct RegressionModel {
  FunctionalSet set = FunctionalSet::full;  ///< of recordings' functionals
  std::string table;       ///< the table of another program that the model was trained on; empty: recordings
  std::string config;      ///< the configuration of `emomc train` as text; empty: another caller trained it
  double sample_rate = 0;  ///< of the training recordings, in Hz; 0: they differed, or a table was given
  /// What the model was trained on.
  struct TrainedOn {
    std::string corpus;  ///< "manifest corpora/all.csv", for people
    std::vector<std::string> speakers;
    std::string data_sha256;  ///< of the numbers and the functionals
  } trained_on;
  std::uint64_t seed = 0;
  Regressor regressor;
};

/// Whether `directory` has the model of a regression; false for another model and for none.
bool is_regression_model(const std::filesystem::path& directory);

/// Writes the arrays, then model.json. Throws MachineError.
void write_regression_model(const RegressionModel& model, const std::filesystem::path& directory);
/// Throws InputError if a file is missing, damaged or belongs to another model, or if the model's functionals
/// are of another version than this program's. All content is checked before it is used.
RegressionModel read_regression_model(const std::filesystem::path& directory);

}  // namespace emomc
