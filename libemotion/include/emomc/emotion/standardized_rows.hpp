// Standardises rows of functionals of new recordings by what is known of their speaker.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/emotion/recordings.hpp"
#include "emomc/speech/functionals.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

namespace emomc {

/// The least number of recordings of a speaker from which their own mean and sd are used for standardisation,
/// as in training.
inline constexpr std::size_t kOwnRecordings = 10;

/// A recording's functionals, not standardised.
struct UtteranceRow {
  std::size_t frames = 0;
  std::vector<double> values;
};
/// The functionals of a recording. Throws InputError if there is no frame or the sample rate is too low.
UtteranceRow utterance_row(const Recording& recording, FunctionalSet set, DescriptorExtractors& extractors);

/// A standardised row. `standardised_by` is `own`: recordings of the speaker, including this one;
/// `enrolment`: other recordings of the speaker; or `corpus`: the corpus statistics. `recordings` is the
/// number of recordings used.
struct StandardizedRow {
  std::vector<double> values;
  SpeakerKnowledge knowledge = SpeakerKnowledge::corpus;
  std::string standardised_by;
  std::size_t recordings = 0;
};

/// Standardises a row by other recordings of its speaker; `others` may be empty. `corpus` are the statistics
/// of the training recordings.
StandardizedRow standardized_by_enrolment(std::span<const double> row,
                                          const std::vector<std::span<const double>>& others,
                                          const CorpusStatistics& corpus);

/// Standardises the rows of one speaker, of whom no other recordings are known. The mean and sd of all rows
/// are used; with fewer than kOwnRecordings rows, each is standardised by the others.
std::vector<StandardizedRow> standardized_speaker(const std::vector<std::span<const double>>& own,
                                                  const CorpusStatistics& corpus);

}  // namespace emomc
