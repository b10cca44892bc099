// The frames of a corpus with their labels: what recordings become, and what evaluation begins with.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
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
/// match `pattern`, e.g. "{emotion}_{speaker}.csv" ("*" matches anything). An utterance's id is
/// "<emotion>_<speaker>_<utterance>". Files that do not match are returned in `unmatched`. Throws InputError
/// naming file, line and column.
FeatureSet read_feature_tables(const std::filesystem::path& directory, const std::string& pattern,
                               std::vector<std::filesystem::path>* unmatched = nullptr);

/// Such files, "<emotion>_<speaker>.csv" with columns utterance, frame and the set's; and what pattern reads
/// them. Numbers have as many digits as it takes to read them back. Throws MachineError.
void write_feature_tables(const FeatureSet& features, const std::filesystem::path& directory);

/// Which frames share one mean and standard deviation.
enum class Normalization { none, corpus, speaker, utterance };

/// In place: each column of each group to mean 0 and sd 1 (a constant column is only centred). Labels of
/// emotion are not looked at.
void normalize(FeatureSet& features, Normalization by);

/// Removes rows equal to the row before them in their utterance (digital silence); returns their number.
std::size_t drop_repeated_rows(FeatureSet& features);

/// Appends columns d_<column> (and dd_<column>): see append_deltas.
void append_deltas(FeatureSet& features, int order, int reach = 2);

}  // namespace emomc
