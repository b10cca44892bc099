// A column of a table about recordings or speakers: the fold of a published division, gender, corpus.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace emomc {

/// The values of a column with the names of what the rows are about.
struct NamedColumn {
  std::string file, column;         ///< for messages
  bool is_about_speakers = false;   ///< false: about recordings
  std::vector<std::string> names;   ///< [rows] of recordings or speakers
  std::vector<std::string> values;  ///< [rows]
  std::vector<std::size_t> lines;   ///< [rows] where they are in the file, for messages
};

/// Reads the column `column` of a CSV file with a header (commas, semicolons or tabs; UTF-8 or UTF-16). Its
/// rows are about recordings, by the first of the columns recording, path, utterance and file, or, where
/// there is none of these, about speakers, by the column speaker; so a manifest can be read, and the
/// predictions.csv of an evaluation. Blanks around a value do not count; a value may be empty, a name may
/// not. Throws InputError, one line with file and line, for anything else.
NamedColumn read_named_column(const std::filesystem::path& file, const std::string& column);

/// The value of each utterance. A recording is found by its name as in rows_of_utterances(), a speaker by
/// equality; `ids` and `speakers` are of the same utterances, and `key` begins messages: "folds.file". Throws
/// InputError where an utterance has no row, a recording has two, or a speaker has two values.
std::vector<std::string> values_of_utterances(const NamedColumn& column, const std::vector<std::string>& ids,
                                              const std::vector<std::string>& speakers,
                                              const std::string& key);

}  // namespace emomc
