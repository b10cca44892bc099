// Classifies recordings with a trained softmax regression, with rows standardised by knowledge of the
// speaker.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/emotion/standardized_rows.hpp"
#include "emomc/speech/softmax_classifier.hpp"

namespace emomc {

/// Probabilities of a recording's classes. `standardised_by` and `recordings` are those of StandardizedRow.
struct ClassifiedRow {
  ClassProbabilities probability;
  std::string standardised_by;
  std::size_t recordings = 0;
};

/// A row of functionals that is to be classified.
struct GivenRow {
  std::span<const double> values;
  std::size_t frames = 0;  ///< number of frames of the recording; 0: unknown
};

/// Classifies a row that is standardised by other recordings of its speaker; `others` may be empty.
ClassifiedRow classify_by_enrolment(const GivenRow& row, const std::vector<std::span<const double>>& others,
                                    const SoftmaxClassifier& classifier);

/// Classifies the recordings of one speaker, of whom no other recordings are known. The rows are standardised
/// by all of them; fewer than kOwnRecordings are each standardised by the others.
std::vector<ClassifiedRow> classify_speaker(const std::vector<GivenRow>& own,
                                            const SoftmaxClassifier& classifier);

}  // namespace emomc
