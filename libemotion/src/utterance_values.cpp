#include "utterance_values.hpp"

#include "emomc/emotion/dimension_labels.hpp"
#include "emomc/speech/named_column.hpp"

namespace emomc {

std::vector<std::string> utterance_values(const LabelledFrames& frames, const std::filesystem::path& file,
                                          const std::string& column, const std::string& key) {
  std::vector<std::string> ids, speakers;
  for (const UtteranceFrames& utterance : frames.features.utterances) {
    ids.push_back(utterance.id);
    speakers.push_back(utterance.speaker);
  }
  return values_of_utterances(read_named_column(file, column), ids, speakers, key);
}

void check_tables(const EvaluationConfig& config) {
  if (config.folds.kind == FoldsKind::file) read_named_column(config.folds.file, config.folds.column);
  if (config.classifier == ClassifierKind::regression) check_dimensions(config.corpus);
  for (const std::string& column : config.by.columns)
    read_named_column(config.by.file.empty() ? config.corpus.path : config.by.file, column);
}

}  // namespace emomc
