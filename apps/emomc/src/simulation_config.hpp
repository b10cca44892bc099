// What `emomc simulate` makes: one table from one model, or a corpus of tables per emotion and speaker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc::app {

/// One emotion: the base mixture with its means moved and its scales stretched.
struct EmotionConfig {
  std::string name;
  std::vector<double> theta;  ///< gaussian_mixture's layout, before speakers' offsets
};

struct SimulatedCorpus {
  std::vector<std::string> speakers;
  int utterances = 10;     ///< of each speaker and emotion
  int frames = 100;        ///< of each utterance
  double persistence = 0;  ///< probability that a frame keeps its predecessor's component
  double speaker_sd = 0;   ///< of speakers' offsets, in units of a column's mean scale
  std::vector<EmotionConfig> emotions;
};

struct SimulationConfig {
  ModelSpec model;
  int dim = 1;
  std::vector<std::string> columns;  ///< [dim]
  std::vector<double> theta;         ///< model_layout(model, dim)
  std::uint64_t seed = 20260101;
  std::size_t rows = 1000;              ///< without a corpus
  std::string file = "data.csv";        ///< without a corpus
  std::vector<SimulatedCorpus> corpus;  ///< none or one
};

/// Reads and validates; throws InputError with file, line and key.
SimulationConfig load_simulation_config(const std::filesystem::path& file);

}  // namespace emomc::app
