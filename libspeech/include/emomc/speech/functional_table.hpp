// A table of functionals with a row for each utterance of a corpus, and its standardisation by speaker.
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
  std::vector<int> frames;     ///< [rows.size()] number of frames of each utterance; empty: unknown
};

/// The table as CSV, with the columns utterance, speaker, emotion and those of the table. An undefined value
/// gives an empty field; numbers have as many digits as are needed to restore them exactly.
std::string functional_table_csv(const FunctionalTable& table);

/// Transforms each column of each speaker's rows to mean 0 and standard deviation 1 (with divisor n). An
/// undefined value becomes 0, the speaker's mean; so do all values of a column that is constant or undefined
/// everywhere. Emotion labels are not used.
void standardize_by_speaker(FunctionalTable& table);

/// Mean and standard deviation of each column over rows of one speaker. The standard deviation is 0 if a
/// column is constant or undefined everywhere.
struct SpeakerUnits {
  std::vector<double> mean, sd;
};
SpeakerUnits speaker_units(const FunctionalTable& table, const std::vector<std::size_t>& rows);
/// Transforms another row of the speaker as standardize_by_speaker transforms the rows of the table.
void standardize_by(const SpeakerUnits& units, std::span<double> row);

}  // namespace emomc
