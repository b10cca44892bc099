// The frames of a corpus with their labels: what recordings become, and what evaluation begins with.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace emomc {

struct UtteranceFrames {
  std::string id, speaker, emotion;
  std::size_t first_row = 0, num_rows = 0;
};

/// All frames in one array, utterance after utterance.
struct FeatureSet {
  std::vector<std::string> columns;
  std::vector<double> values;  ///< num_rows() x columns.size(), row-major
  std::vector<UtteranceFrames> utterances;
  std::size_t dim() const { return columns.size(); }
  std::size_t num_rows() const { return columns.empty() ? 0 : values.size() / columns.size(); }
};

/// CSV files, one for each emotion and speaker, with an utterance column: files of `directory` whose names
/// match `pattern`, e.g. "{emotion}_{speaker}.csv" (a placeholder matches one character or more, "*"
/// anything). In the order of their names. An utterance's id is "<emotion>_<speaker>_<utterance>"; its rows
/// stand one after another. Other label columns are not looked at. Files that do not match are returned in
/// `unmatched`. Throws InputError naming file, line and column; where a name matches with different labels;
/// where no file matches; where files have different columns or an id occurs twice.
FeatureSet read_feature_tables(const std::filesystem::path& directory, const std::string& pattern,
                               std::vector<std::filesystem::path>* unmatched = nullptr);

/// Such files, "<emotion>_<speaker>.csv" with columns utterance, frame and the set's; returns the pattern
/// that reads them. Where a label has a "_", another separator that no label has stands between emotion and
/// speaker. An id that begins with "<emotion>_<speaker>_" is written without it, if all of its file do, so
/// that reading gives the id back. Numbers have as many digits as it takes to read them back. Files of the
/// same name are replaced, others stay; `names` gets those written. Throws InputError, before anything is
/// written, for what could not be read back: a label that is empty or has a "/" or a control character,
/// labels in which all separators occur, an utterance that is doubled or has no rows, a reserved column name,
/// a value that is not finite. Throws MachineError.
std::string write_feature_tables(const FeatureSet& features, const std::filesystem::path& directory,
                                 std::set<std::string>* names = nullptr);

/// Which frames share one mean and standard deviation.
enum class Normalization { none, corpus, speaker, utterance };

/// In place: each column of each group to mean 0 and sd 1 (of n, not n - 1; a constant column is only
/// centred). Labels of emotion are not looked at.
void normalize(FeatureSet& features, Normalization by);

/// Removes rows equal to the row before them in their utterance (digital silence); returns their number.
std::size_t drop_repeated_rows(FeatureSet& features);

/// Appends columns d_<column> (order 1), then dd_<column> (order 2): derivatives over time by regression over
/// 2 * reach + 1 rows of the utterance, its first and last row repeated at the ends (Young et al., The HTK
/// Book, 5.9); dd of d. Order 0 does nothing. Throws InputError for another order or a reach below 1.
void append_deltas(FeatureSet& features, int order, int reach = 2);

}  // namespace emomc
