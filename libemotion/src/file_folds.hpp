// Folds that a file gives: published divisions of a corpus, or training on some corpora and testing on
// others.
#pragma once

#include <string>
#include <vector>

#include "emomc/emotion/evaluation_plan.hpp"

namespace emomc {

struct NamedFolds {
  std::vector<std::string> names;       ///< sorted
  std::vector<std::vector<int>> tests;  ///< the test speakers of each
};

/// The folds of FoldsKind::file. Throws InputError where an utterance has no fold or a speaker has two, where
/// a value of FoldsConfig::test does not occur, or where nothing is left to train on.
NamedFolds folds_of_file(const LabelledFrames& frames, const FoldsConfig& folds);

}  // namespace emomc
