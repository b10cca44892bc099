// What is known of a speaker beside the recording that is classified, and rows standardised by it.
// docs/softmax.md has the formulas.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/speech/functional_table.hpp"

namespace emomc {

/// Kinds of knowledge, from the most to the least. Of the last three an evaluation never gives a recording
/// itself.
enum class SpeakerKnowledge {
  own,     ///< all recordings of the speaker, the classified one among them
  five,    ///< five other recordings of the speaker
  one,     ///< one other recording
  corpus,  ///< no other recording: only what the training speakers are like
};

inline constexpr std::size_t kNumKnowledge = 4;
/// "own", "five", "one", "corpus".
std::string knowledge_name(SpeakerKnowledge knowledge);
/// The kind of knowledge, among five, one and corpus, that `recordings` others of a speaker come nearest to,
/// on a scale of logarithms.
SpeakerKnowledge knowledge_of(std::size_t recordings);
/// How many other recordings five, one and corpus stand for.
std::size_t enrolment_of(SpeakerKnowledge knowledge);

/// Each column of a table that is not standardised. A column that is defined for no speaker is 0 throughout.
struct CorpusStatistics {
  std::vector<double> mean;     ///< of the speakers' means
  std::vector<double> between;  ///< variance of the speakers' means; of a single speaker that within
  std::vector<double> within;   ///< variance of recordings about their speaker's mean, pooled
  bool operator==(const CorpusStatistics&) const = default;
};

/// Statistics of the rows `rows` of a table. Labels of emotions are not used. Throws std::invalid_argument if
/// there are no rows.
CorpusStatistics corpus_statistics(const FunctionalTable& table, const std::vector<std::size_t>& rows);

/// Replaces the functionals of a recording by the numbers of their speaker's standard deviations from the
/// speaker's mean that are expected, given the recording itself, `enrolment`, other recordings of the
/// speaker, and the corpus. Values that are not defined count as not there; of the recording they become 0.
/// All rows have the columns of `corpus`, else std::invalid_argument is thrown.
void standardize_by_enrolment(std::span<double> row, const std::vector<std::span<const double>>& enrolment,
                              const CorpusStatistics& corpus);

}  // namespace emomc
