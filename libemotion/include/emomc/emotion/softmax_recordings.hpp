// Classifies recordings by a trained softmax regression, standardised by what is known of their speaker.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "emomc/emotion/recordings.hpp"
#include "emomc/speech/softmax_classifier.hpp"

namespace emomc {

/// From this many recordings of a speaker on, their own mean and sd standardise them, as in training.
inline constexpr std::size_t kOwnRecordings = 10;

/// A recording's functionals, not standardised.
struct UtteranceRow {
  std::size_t frames = 0;
  std::vector<double> values;
};
/// Throws InputError where there is no frame or the sample rate is too low.
UtteranceRow utterance_row(const Recording& recording, FunctionalSet set, DescriptorExtractors& extractors);

/// Probabilities of a recording's classes, and what standardised it: `own` recordings of the speaker, this
/// one among them; `enrolment`, others of the speaker; or `corpus`, what the training speakers are like.
/// `recordings`: how many.
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
