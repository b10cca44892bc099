// Handles recordings of a corpus that cannot be used, by an exception or by a note, and labels.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/speech/corpus.hpp"

namespace emomc {

/// The treatment of recordings that cannot be used.
struct ProblemRule {
  bool refuse = true;
  std::string advice = "write corpus: {unparsed: skip} to leave them out";
};

/// Throws InputError with the first of `problems` if the rule refuses; otherwise appends the first five to
/// `notes`. `one` and `many` are the texts about one recording, and about several.
void note_problems(const std::vector<std::string>& problems, const char* one, const char* many,
                   const ProblemRule& rule, std::vector<std::string>& notes);

/// Replaces labels by the words that `labels` gives for them; `emotions` points to the labels of all
/// utterances. Throws InputError if no utterance has a label that `labels` replaces.
void rename_labels(const std::map<std::string, std::string>& labels,
                   const std::vector<std::string*>& emotions);

/// Throws InputError if a class that the configuration lists is not among the labels `found`.
void require_classes(const CorpusConfig& corpus, const std::set<std::string>& found);

/// The recordings of the classes that the configuration lists. Recordings whose names cannot be parsed are
/// problems.
std::vector<Utterance> wanted_utterances(const CorpusConfig& corpus, std::vector<std::string>& notes);

}  // namespace emomc
