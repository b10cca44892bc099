// Standardises rows of functionals by what is known of the speaker besides the recording that is classified.
// docs/softmax.md has the formulas.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/speech/functional_table.hpp"

namespace emomc {

/// Kinds of knowledge of a speaker, from the most to the least. With the last three, an evaluation does not
/// count the classified recording among the known ones.
enum class SpeakerKnowledge {
  own,     ///< all recordings of the speaker, including the classified one
  five,    ///< five other recordings of the speaker
  one,     ///< one other recording
  corpus,  ///< no other recording: only the corpus statistics
};

inline constexpr std::size_t kNumKnowledge = 4;
/// The name of a kind of knowledge: "own", "five", "one" or "corpus".
std::string knowledge_name(SpeakerKnowledge knowledge);
/// The kind of knowledge, among five, one and corpus, whose number of other recordings is nearest to
/// `recordings` on a logarithmic scale.
SpeakerKnowledge knowledge_of(std::size_t recordings);
/// The number of other recordings for which five, one and corpus stand.
std::size_t enrolment_of(SpeakerKnowledge knowledge);

/// Corpus statistics of each column of a table that is not standardised. For a column that no speaker has
/// defined values of, all statistics are 0.
struct CorpusStatistics {
  std::vector<double> mean;  ///< mean of the speakers' means
  /// Variance of the speakers' means; for a single speaker, the variance within the speaker.
  std::vector<double> between;
  std::vector<double> within;  ///< variance of recordings about their speaker's mean, pooled
  bool operator==(const CorpusStatistics&) const = default;
};

/// Statistics of the rows `rows` of a table. Emotion labels are not used. Throws std::invalid_argument if
/// there are no rows.
CorpusStatistics corpus_statistics(const FunctionalTable& table, const std::vector<std::size_t>& rows);

/// Replaces the functionals of a recording by their expected distances from the speaker's mean, in units of
/// the speaker's standard deviations. The expectation is conditional on the recording itself, `enrolment`,
/// which are other recordings of the speaker, and the corpus. Undefined values are treated as missing; those
/// of the recording become 0. Throws std::invalid_argument if a row does not have the columns of `corpus`.
void standardize_by_enrolment(std::span<double> row, const std::vector<std::span<const double>>& enrolment,
                              const CorpusStatistics& corpus);

}  // namespace emomc
