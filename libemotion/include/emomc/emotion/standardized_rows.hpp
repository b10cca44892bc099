// Rows of functionals of other recordings than the training ones, standardised by what is known of their
// speaker.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/emotion/recordings.hpp"
#include "emomc/speech/functionals.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

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

/// A standardised row, and by what: `own` recordings of the speaker, this one among them; `enrolment`, others
/// of the speaker; or `corpus`, what the training speakers are like. `recordings`: how many.
struct StandardizedRow {
  std::vector<double> values;
  SpeakerKnowledge knowledge = SpeakerKnowledge::corpus;
  std::string standardised_by;
  std::size_t recordings = 0;
};

/// A row by other recordings of its speaker, of which there may be none. `corpus`: of the training
/// recordings.
StandardizedRow standardized_by_enrolment(std::span<const double> row,
                                          const std::vector<std::span<const double>>& others,
                                          const CorpusStatistics& corpus);

/// Recordings of one speaker, of whom no others are known: by themselves, of fewer than kOwnRecordings each
/// by the others.
std::vector<StandardizedRow> standardized_speaker(const std::vector<std::span<const double>>& own,
                                                  const CorpusStatistics& corpus);

}  // namespace emomc
