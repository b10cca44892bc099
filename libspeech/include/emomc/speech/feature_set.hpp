// The feature frames of a corpus with their labels: the output of feature extraction and the input of an
// evaluation.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace emomc {

/// One utterance: its labels and its rows [first_row, first_row + num_rows) in FeatureSet::values.
struct UtteranceFrames {
  std::string id, speaker, emotion;
  std::size_t first_row = 0, num_rows = 0;
};

/// All frames in one array, one utterance after another.
struct FeatureSet {
  std::vector<std::string> columns;
  std::vector<double> values;  ///< num_rows() x columns.size(), row-major
  std::vector<UtteranceFrames> utterances;
  std::size_t dim() const { return columns.size(); }
  std::size_t num_rows() const { return columns.empty() ? 0 : values.size() / columns.size(); }
};

/// Reads CSV files, one for each emotion and speaker, that have a column `utterance`: the files of
/// `directory` whose names match `pattern`, e.g. "{emotion}_{speaker}.csv" (a placeholder matches one or more
/// characters, "*" matches any text), in the order of their names. An utterance's id is
/// "<emotion>_<speaker>_<utterance>"; its rows must be consecutive. Other label columns are ignored. Files
/// that do not match are returned in `unmatched`, if it is given. Throws InputError, which names file, line
/// and column, for a bad table; if a name matches in two ways with different labels; if no file matches; if
/// files have different columns; or if an id occurs twice.
FeatureSet read_feature_tables(const std::filesystem::path& directory, const std::string& pattern,
                               std::vector<std::filesystem::path>* unmatched = nullptr);

/// Writes the files that read_feature_tables reads, "<emotion>_<speaker>.csv" with the columns utterance,
/// frame and those of the set, and returns the pattern that reads them. If a label contains "_", the
/// separator between emotion and speaker is another one that occurs in no label. If all ids of a file begin
/// with "<emotion>_<speaker>_", they are written without this prefix, so that reading restores them. Numbers
/// have as many digits as are needed to restore them exactly. Files of the same name are replaced, others are
/// kept; `names`, if given, receives the names of the written files. Throws InputError, before anything is
/// written, for data that could not be read back: a label that is empty or contains "/" or a control
/// character, labels that use up all separators, an utterance id that occurs twice, an utterance without
/// rows, a reserved column name, or a value that is not finite. Throws MachineError if writing fails.
std::string write_feature_tables(const FeatureSet& features, const std::filesystem::path& directory,
                                 std::set<std::string>* names = nullptr);

/// The groups of frames that are normalised together, with one mean and one standard deviation for each
/// column.
enum class Normalization { none, corpus, speaker, utterance };

/// Transforms, in place, each column of each group of frames to mean 0 and standard deviation 1 (with divisor
/// n, not n - 1; a constant column is only centred). Emotion labels are not used.
void normalize(FeatureSet& features, Normalization by);

/// Subtracts from the column `name` its mean over each utterance, in place; does nothing if there is no such
/// column. The mean of c0, or of a log energy in its place, contains the logarithm of the recording's gain.
void centre_by_utterance(FeatureSet& features, const std::string& name);

/// Removes rows that equal the previous row of their utterance (digital silence) and returns their number.
std::size_t drop_repeated_rows(FeatureSet& features);

/// Appends derivatives over time: columns d_<column> (order 1), then dd_<column> (order 2, the derivatives of
/// d_<column>). They are regression slopes over 2 * reach + 1 rows of the utterance, whose first and last
/// rows are repeated at the ends (Young et al., The HTK Book, 5.9). Order 0 does nothing. Throws InputError
/// for another order or for a reach below 1.
void append_deltas(FeatureSet& features, int order, int reach = 2);

}  // namespace emomc
