// Reads and writes a trained softmax regression as a directory with model.json, draws.npy and rotation.npy;
// `emomc classify` reads no other files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "emomc/speech/functionals.hpp"
#include "emomc/speech/softmax_classifier.hpp"

namespace emomc {

/// A description of the training data of a model.
struct TrainedOn {
  std::string corpus;  ///< such as "emodb corpora/emodb", for users; empty: recordings in memory
  std::vector<std::string> speakers;
  std::map<std::string, std::size_t> utterances_of_class;
  std::string data_sha256;  ///< hash of the labels and the functionals
};

struct SoftmaxModel {
  std::vector<std::string> classes;
  FunctionalSet set = FunctionalSet::full;  ///< set of the recordings' functionals
  std::string table;   ///< table of another program on which the model was trained; empty: recordings
  std::string config;  ///< configuration of `emomc train` as text; empty: another caller trained the model
  /// Sample rate of the training recordings in Hz; 0: the rates differed, or a table was given.
  double sample_rate = 0;
  TrainedOn trained_on;
  SoftmaxClassifier classifier;
};

/// Whether `directory` has the model of a softmax regression; false for another model and for none.
bool is_softmax_model(const std::filesystem::path& directory);

/// Writes the arrays, then model.json. Throws MachineError if writing fails.
void write_softmax_model(const SoftmaxModel& model, const std::filesystem::path& directory);
/// Reads a model. Throws InputError if a file is missing, damaged or belongs to another model, or if the
/// model's functionals have another version than this program's. All content is checked before it is used.
SoftmaxModel read_softmax_model(const std::filesystem::path& directory);

}  // namespace emomc
