// Reads and writes a trained classifier by mixtures as a directory with model.json and draws.npy; `emomc
// classify` reads no other files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/speech/classification.hpp"
#include "evaluation_config.hpp"

namespace emomc::app {

struct ClassModel {
  std::vector<std::string> classes, columns;
  EvaluationConfig config;  ///< settings of the training and of the computation of frames
  /// Sample rate of the training recordings in Hz; 0: the rates differed, or the corpus was tables.
  double sample_rate = 0;
  ColumnUnits corpus;  ///< mean and sd of the training frames before normalisation
  ColumnUnits units;   ///< mean and sd of the normalised frames, by which the likelihood standardises them
  Classifier classifier;
  std::size_t num_draws = 0;               ///< number of draws of each class
  std::vector<std::vector<double>> theta;  ///< [num_classes] num_draws x dim of the likelihood model
  ModelSpec likelihood() const {
    const auto& l = config.run.likelihood;
    return {l.model, l.components, l.covariance};
  }
};

/// Writes draws.npy, then model.json. Throws MachineError if writing fails.
void write_class_model(const ClassModel& model, const std::filesystem::path& directory);
/// Reads a model. Throws InputError if a file is missing, damaged or belongs to another model. All content is
/// checked before it is used.
ClassModel read_class_model(const std::filesystem::path& directory);

}  // namespace emomc::app
