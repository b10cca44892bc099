// Functions that the commands for all kinds of models use to classify recordings and print lines.
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
  std::string only_of_input;  ///< the first option given that only --stdin uses; empty: none
  double reject_below = 0;    ///< least probability at which a line names a class; 0: every line names one
  int threads = 0;
};

/// Prints a JSON line and flushes standard output. If the largest probability is smaller than `reject_below`,
/// `predicted` becomes null and `rejected` true.
void print_line(nlohmann::ordered_json line, double reject_below);

/// The line for a classified recording. `probability` and `sd` have an element for each of `classes`.
nlohmann::ordered_json line_of(const std::string& file, const std::vector<std::string>& classes,
                               const std::vector<double>& probability, const std::vector<double>& sd,
                               std::size_t frames);

/// The entry of a line that states which recordings normalise the features. `kind` is own (all given
/// recordings of the speaker), enrolment (other recordings of the speaker), recording (the recording itself,
/// drawn towards the corpus), corpus (the training speakers alone), utterance or none. `recordings` is the
/// number of recordings of the speaker that are used.
nlohmann::ordered_json standardisation(const std::string& kind, std::size_t recordings);

/// The speaker of each file, found from the file's name by the naming convention of a corpus of `kind`.
/// Throws InputError for a name that does not identify the speaker.
std::map<std::string, std::string> speakers_of(const std::vector<std::string>& files,
                                               const std::string& kind);

/// The error message `why`, preceded by `file` if the message does not name the file.
std::string problem_of(const std::string& file, const std::string& why);

/// Reads raw samples from standard input. Every options.every seconds, and once more at the end, classifies
/// the last options.window seconds and prints a line. `sample_rate` is the model's, in Hz; 0: unknown. An
/// InputError of `line_about` becomes a line with an error. Returns an exit code.
int classify_input(const ClassifyOptions& options, double sample_rate,
                   const std::function<nlohmann::ordered_json(const Recording&)>& line_about);

}  // namespace emomc::app
