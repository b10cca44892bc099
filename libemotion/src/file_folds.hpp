// Reads folds from a file: published divisions of a corpus, or training on some corpora and testing on
// others.
#pragma once

#include <string>
#include <vector>

#include "emomc/emotion/evaluation_plan.hpp"

namespace emomc {

struct NamedFolds {
  std::vector<std::string> names;       ///< sorted
  std::vector<std::vector<int>> tests;  ///< test speakers of each fold
};

/// The folds of FoldsKind::file. Throws InputError if an utterance has no fold or a speaker has two, if a
/// value of FoldsConfig::test does not occur, or if no utterances are left for training.
NamedFolds folds_of_file(const LabelledFrames& frames, const FoldsConfig& folds);

}  // namespace emomc
