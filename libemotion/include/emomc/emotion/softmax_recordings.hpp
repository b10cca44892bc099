// Classifies recordings by a trained softmax regression, standardised by what is known of their speaker.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/emotion/standardized_rows.hpp"
#include "emomc/speech/softmax_classifier.hpp"

namespace emomc {

/// Probabilities of a recording's classes, and what standardised it: as StandardizedRow has it.
struct ClassifiedRow {
  ClassProbabilities probability;
  std::string standardised_by;
  std::size_t recordings = 0;
};

/// A row that is to be classified.
struct GivenRow {
  std::span<const double> values;
  std::size_t frames = 0;  ///< of its recording; 0: unknown
};

/// A row by other recordings of its speaker, of which there may be none.
ClassifiedRow classify_by_enrolment(const GivenRow& row, const std::vector<std::span<const double>>& others,
                                    const SoftmaxClassifier& classifier);

/// Recordings of one speaker, of whom no others are known: by themselves, of fewer than kOwnRecordings each
/// by the others.
std::vector<ClassifiedRow> classify_speaker(const std::vector<GivenRow>& own,
                                            const SoftmaxClassifier& classifier);

}  // namespace emomc
