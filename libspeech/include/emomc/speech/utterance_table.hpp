// Reads tables of other programs with a row for each recording, such as functionals or embeddings.
// docs/functionals.md has the formats.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace emomc {

/// Rows of numbers, and the names of the recordings that the rows describe.
struct UtteranceTable {
  std::string file;                  ///< name for messages
  std::vector<std::string> columns;  ///< distinct
  std::vector<std::string> names;    ///< [rows] names as written in the file
  /// [rows] line numbers in the file, for messages; for .npy the row's number.
  std::vector<std::size_t> lines;
  std::vector<double> values;  ///< rows x columns, row-major; NaN: undefined
  /// Names of columns that contain labels or times, not numbers of a recording.
  std::vector<std::string> skipped;
};

/// Reads a table: CSV (with a header; commas, semicolons or tabs), ARFF, or .npy (n x p numbers). The ending
/// of the file's name determines the format: .arff, .npy, and CSV for all others. For CSV and ARFF, `names`
/// is the column that names recordings; empty: the first of file, name, filename, path, utterance, id. For
/// .npy, `names` is a text file with a name on each line. An empty field, `?` and `nan` are undefined values.
/// Throws InputError, one line with file, line and column, for anything else that is not a finite number, for
/// rows of different lengths, for columns that are missing or occur twice, and if there is no row.
/// The columns `labels`, which a model predicts, are skipped like those of speakers and classes.
UtteranceTable read_utterance_table(const std::filesystem::path& file, const std::string& names,
                                    const std::vector<std::string>& labels = {});

/// The row of the table that is named after each of `ids`, the utterances of a corpus. A name stands for an
/// utterance if their paths without the ending agree from the file's name on, as far as both go, as
/// "emodb/wav/03a01Fa.wav" and "03a01Fa" do. An utterance without a row gives an empty element; rows without
/// an utterance are ignored. Throws InputError, with the line, if a row could belong to several utterances or
/// an utterance has several rows.
std::vector<std::optional<std::size_t>> rows_of_utterances(const UtteranceTable& table,
                                                           const std::vector<std::string>& ids);

}  // namespace emomc
