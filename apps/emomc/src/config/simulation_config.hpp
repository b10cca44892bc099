// Reads the configuration of `emomc simulate`: one table from one model, or a corpus with a table for each
// emotion and speaker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc::app {

/// One emotion: the base mixture with, optionally, other weights, shifted means and scaled scales.
struct EmotionConfig {
  std::string name;
  std::vector<double> theta;  ///< parameters of gaussian_mixture, without speakers' offsets
};

struct SimulatedCorpus {
  std::vector<std::string> speakers;
  int utterances = 10;     ///< number of utterances for each speaker and emotion
  int frames = 100;        ///< number of frames for each utterance
  double persistence = 0;  ///< probability that a frame keeps the component of the frame before it
  /// Sd of the speakers' offsets, in units of the mean scale of a column over components.
  double speaker_sd = 0;
  std::vector<EmotionConfig> emotions;
};

struct SimulationConfig {
  ModelSpec model;
  int dim = 1;
  std::vector<std::string> columns;  ///< [dim] names of the columns
  std::vector<double> theta;         ///< parameters in the layout model_layout(model, dim)
  std::uint64_t seed = 20260101;
  std::size_t rows = 1000;              ///< number of rows; used only without a corpus
  std::string file = "data.csv";        ///< name of the table; used only without a corpus
  std::vector<SimulatedCorpus> corpus;  ///< empty or one element
};

/// Reads and validates a configuration. Throws InputError with file, line and key.
SimulationConfig load_simulation_config(const std::filesystem::path& file);

}  // namespace emomc::app
