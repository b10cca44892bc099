// Reads a column of a table about recordings or speakers: the fold of a published division, gender, corpus.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace emomc {

/// The values of a column, and the names of the recordings or speakers of its rows.
struct NamedColumn {
  std::string file, column;         ///< names for messages
  bool is_about_speakers = false;   ///< whether rows are about speakers; otherwise they are about recordings
  std::vector<std::string> names;   ///< [rows] names of recordings or speakers
  std::vector<std::string> values;  ///< [rows]
  std::vector<std::size_t> lines;   ///< [rows] line numbers in the file, for messages
};

/// Reads the column `column` of a CSV file with a header (commas, semicolons or tabs; UTF-8 or UTF-16). The
/// rows are about recordings, named by the first of the columns recording, path, utterance and file, or, if
/// none of these exists, about speakers, named by the column speaker. Manifests and the predictions.csv of an
/// evaluation can therefore be read. Blanks around a value are ignored; a value may be empty, a name may not.
/// Throws InputError, one line with file and line number, for anything else.
NamedColumn read_named_column(const std::filesystem::path& file, const std::string& column);

/// The value of each utterance. A recording is found by its name as in rows_of_utterances(), a speaker by
/// equality. `ids` and `speakers` describe the same utterances, and messages begin with `key`, such as
/// "folds.file". Throws InputError if an utterance has no row, a recording has two, or a speaker has two
/// values.
std::vector<std::string> values_of_utterances(const NamedColumn& column, const std::vector<std::string>& ids,
                                              const std::vector<std::string>& speakers,
                                              const std::string& key);

}  // namespace emomc
