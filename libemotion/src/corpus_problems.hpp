// Recordings of a corpus that cannot be used: refused or noted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emomc/emotion/evaluation_config.hpp"
#include "emomc/speech/corpus.hpp"

namespace emomc {

/// What is done with recordings that cannot be used.
struct ProblemRule {
  bool refuse = true;
  std::string advice = "write corpus: {unparsed: skip} to leave them out";
};

/// Throws InputError with the first of `problems` if the rule refuses; otherwise appends the first five to
/// `notes`. `one` and `many`: what is said of one recording, and of several.
void note_problems(const std::vector<std::string>& problems, const char* one, const char* many,
                   const ProblemRule& rule, std::vector<std::string>& notes);

/// Gives labels the words of `labels`: `emotions` points to those of all utterances. Throws InputError where
/// no utterance has a label that `labels` translates.
void rename_labels(const std::map<std::string, std::string>& labels,
                   const std::vector<std::string*>& emotions);

/// The recordings of the classes that the configuration asks for; those whose names cannot be parsed are
/// problems.
std::vector<Utterance> wanted_utterances(const CorpusConfig& corpus, std::vector<std::string>& notes);

}  // namespace emomc
