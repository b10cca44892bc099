// A row of functionals for each utterance of a corpus.
#pragma once

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
};

/// The table as CSV, with the columns utterance, speaker, emotion and those of the table. A field of a value
/// that is not defined is empty; numbers have as many digits as restore them exactly.
std::string functional_table_csv(const FunctionalTable& table);

/// Transforms each column of each speaker's rows to mean 0 and standard deviation 1 (with divisor n). A value
/// that is not defined becomes 0, the speaker's mean, as does a column that is constant or defined nowhere.
/// Labels of emotions are not used.
void standardize_by_speaker(FunctionalTable& table);

}  // namespace emomc
