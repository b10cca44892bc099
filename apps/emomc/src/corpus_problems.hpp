// Recordings of a corpus that cannot be used: refused or noted.
#pragma once

#include <string>
#include <vector>

#include "emomc/speech/corpus.hpp"
#include "evaluation_config.hpp"

namespace emomc::app {

/// Throws InputError with the first of `problems` if `refuse`; otherwise appends the first five to `notes`.
/// `one` and `many`: what is said of one recording, and of several.
void note_problems(const std::vector<std::string>& problems, const char* one, const char* many, bool refuse,
                   std::vector<std::string>& notes);

/// The recordings of the classes that the configuration asks for; those whose names cannot be parsed are
/// problems.
std::vector<Utterance> wanted_utterances(const CorpusConfig& corpus, std::vector<std::string>& notes);

}  // namespace emomc::app
