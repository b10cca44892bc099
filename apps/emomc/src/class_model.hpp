// A trained classifier as a directory: model.json and draws.npy, all that `emomc classify` reads.
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
  EvaluationConfig config;  ///< how it was trained; how recordings become frames
  double sample_rate = 0;   ///< of the recordings; 0: they differed, or the corpus was tables
  ColumnUnits corpus;       ///< of the training frames before they were normalised
  ColumnUnits units;        ///< normalised frames, standardised by these, are what the draws are of
  Classifier classifier;
  std::size_t num_draws = 0;               ///< of each class
  std::vector<std::vector<double>> theta;  ///< [num_classes] num_draws x dim of the likelihood model
  ModelSpec likelihood() const {
    const auto& l = config.run.likelihood;
    return {l.model, l.components, l.covariance};
  }
};

/// Throws MachineError.
void write_class_model(const ClassModel& model, const std::filesystem::path& directory);
/// Throws InputError where a file is missing, damaged or of another model; nothing in it is believed before.
ClassModel read_class_model(const std::filesystem::path& directory);

}  // namespace emomc::app
