// A row of functionals for each utterance of a corpus.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace emomc {

/// The labels of a row.
struct UtteranceLabels {
  std::string id, speaker, emotion;
};

struct FunctionalTable {
  std::vector<std::string> columns;
  std::vector<UtteranceLabels> rows;
  std::vector<double> values;  ///< rows.size() x columns.size(), row-major; NaN: not defined
  std::vector<int> frames;     ///< [rows.size()] from how many frames a row is; empty: unknown
};

/// The table as CSV, with the columns utterance, speaker, emotion and those of the table. A field of a value
/// that is not defined is empty; numbers have as many digits as restore them exactly.
std::string functional_table_csv(const FunctionalTable& table);

/// Transforms each column of each speaker's rows to mean 0 and standard deviation 1 (with divisor n). A value
/// that is not defined becomes 0, the speaker's mean, as does a column that is constant or defined nowhere.
/// Labels of emotions are not used.
void standardize_by_speaker(FunctionalTable& table);

/// Mean and standard deviation of each column over rows of one speaker. A standard deviation of 0 is that of
/// a column that is constant or defined nowhere.
struct SpeakerUnits {
  std::vector<double> mean, sd;
};
SpeakerUnits speaker_units(const FunctionalTable& table, const std::vector<std::size_t>& rows);
/// Does to another row of the speaker what standardize_by_speaker does to the rows of the table.
void standardize_by(const SpeakerUnits& units, std::span<double> row);

}  // namespace emomc
