// What the classification of recordings by all kinds of models shares.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emomc/speech/audio.hpp"

namespace emomc::app {

/// The options of `emomc classify`.
struct ClassifyOptions {
  std::string model, group_by, corpus, backend = "cpu", table, table_names;
  std::vector<std::string> files, speaker_from;
  bool from_input = false, quiet = false;
  double rate = 0, every = 1, window = 10;
  double reject_below = 0;  ///< a class whose probability is smaller is not named; 0: every line names one
  int threads = 0;
};

/// Prints a JSON line at once. Where the largest probability is smaller than `reject_below`, `predicted`
/// becomes null and `rejected` true.
void print_line(nlohmann::ordered_json line, double reject_below);

/// A line about a recording that could be classified: `probability` and `sd` are of `classes`.
nlohmann::ordered_json line_of(const std::string& file, const std::vector<std::string>& classes,
                               const std::vector<double>& probability, const std::vector<double>& sd,
                               std::size_t frames);

/// A line's entry about what the normalisation of a recording knows of its speaker: `kind` own (all given
/// recordings of the speaker), enrolment (others of the speaker), recording (itself, drawn towards the
/// corpus), corpus (the training speakers alone), utterance or none; and the number of `recordings`.
nlohmann::ordered_json standardisation(const std::string& kind, std::size_t recordings);

/// The speakers of files, from their names by the convention of a corpus of `kind`. Throws InputError for a
/// name that does not say who speaks.
std::map<std::string, std::string> speakers_of(const std::vector<std::string>& files,
                                               const std::string& kind);

/// The message of an error about `file`, which it names.
std::string problem_of(const std::string& file, const std::string& why);

/// Classifies the last seconds of raw samples from standard input every few seconds, and once more at the
/// end, and prints a line for each. `sample_rate` is the model's, in Hz; 0: unknown. `line_about` may throw
/// InputError, which becomes a line with an error. Returns an exit code.
int classify_input(const ClassifyOptions& options, double sample_rate,
                   const std::function<nlohmann::ordered_json(const Recording&)>& line_about);

}  // namespace emomc::app
