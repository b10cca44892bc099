// A trained softmax regression as a directory: model.json, draws.npy and rotation.npy, which are all that
// `emomc classify` reads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "emomc/speech/functionals.hpp"
#include "emomc/speech/softmax_classifier.hpp"

namespace emomc {

/// What a model was trained on.
struct TrainedOn {
  std::string corpus;  ///< "emodb corpora/emodb", for people; empty: recordings in memory
  std::vector<std::string> speakers;
  std::map<std::string, std::size_t> utterances_of_class;
  std::string data_sha256;  ///< of the labels and the functionals
};

struct SoftmaxModel {
  std::vector<std::string> classes;
  FunctionalSet set = FunctionalSet::full;  ///< of recordings' functionals
  std::string table;       ///< the table of another program that the model was trained on; empty: recordings
  std::string config;      ///< the configuration of `emomc train` as text; empty: another caller trained it
  double sample_rate = 0;  ///< of the training recordings, in Hz; 0: they differed, or a table was given
  TrainedOn trained_on;
  SoftmaxClassifier classifier;
};

/// Whether `directory` has the model of a softmax regression; false for another model and for none.
bool is_softmax_model(const std::filesystem::path& directory);

/// Writes the arrays, then model.json. Throws MachineError.
void write_softmax_model(const SoftmaxModel& model, const std::filesystem::path& directory);
/// Throws InputError if a file is missing, damaged or belongs to another model, or if the model's functionals
/// are of another version than this program's. All content is checked before it is used.
SoftmaxModel read_softmax_model(const std::filesystem::path& directory);

}  // namespace emomc
