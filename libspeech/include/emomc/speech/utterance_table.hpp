// Tables of other programs with a row for each recording: functionals, embeddings. docs/functionals.md has
// the formats.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace emomc {

/// Rows of numbers with the names of the recordings that they are about.
struct UtteranceTable {
  std::string file;                  ///< for messages
  std::vector<std::string> columns;  ///< distinct
  std::vector<std::string> names;    ///< [rows] as the file has them
  std::vector<std::size_t>
      lines;                   ///< [rows] where they are in the file, for messages; of .npy the row's number
  std::vector<double> values;  ///< rows x columns, row-major; NaN: not defined
  std::vector<std::string> skipped;  ///< columns that are labels or times, not numbers of a recording
};

/// Reads a table: CSV (a header; commas, semicolons or tabs), ARFF, or .npy (n x p numbers), told apart by
/// the ending of the file's name (.arff, .npy, any other one is CSV). `names`: of CSV and ARFF the column
/// that names recordings, empty: the first of file, name, filename, path, utterance, id; of .npy a text file
/// with a name on each line. An empty field, `?` and `nan` are values that are not defined. Throws
/// InputError, one line with file, line and column, for anything else that is not a finite number, for rows
/// of another length, for columns that are missing or doubled and where there is no row.
UtteranceTable read_utterance_table(const std::filesystem::path& file, const std::string& names);

/// For each of `ids`, utterances of a corpus, the row of the table that is named after it. A name stands for
/// an utterance if their paths without an ending agree from the file's name on, as far as both go:
/// "emodb/wav/03a01Fa.wav" and "03a01Fa" do. Nothing for an utterance without a row; rows without an
/// utterance do not matter. Throws InputError, which names the line, where a row could be of several
/// utterances or an utterance has several rows.
std::vector<std::optional<std::size_t>> rows_of_utterances(const UtteranceTable& table,
                                                           const std::vector<std::string>& ids);

}  // namespace emomc
