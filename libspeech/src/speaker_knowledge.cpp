#include "emomc/speech/speaker_knowledge.hpp"

#include <cmath>
#include <map>
#include <stdexcept>

namespace emomc {
namespace {

// The variance within speakers of the corpus has the weight of this many recordings, in addition to the
// speaker's own.
constexpr double kWithinCount = 10;
constexpr double kLeastVariance = 1e-24;  // relative to the squared mean; a smaller variance is rounding

struct Moments {
  double count = 0, mean = 0, squares = 0;  // squares: sum of squared distances from the mean
  void add(double x) {
    if (std::isnan(x)) return;
    count += 1;
    const double distance = x - mean;
    mean += distance / count;
    squares += distance * (x - mean);
  }
};

}  // namespace

std::string knowledge_name(SpeakerKnowledge knowledge) {
  switch (knowledge) {
    case SpeakerKnowledge::own:
      return "own";
    case SpeakerKnowledge::five:
      return "five";
    case SpeakerKnowledge::one:
      return "one";
    case SpeakerKnowledge::corpus:
      break;
  }
  return "corpus";
}

SpeakerKnowledge knowledge_of(std::size_t recordings) {
  if (recordings == 0) return SpeakerKnowledge::corpus;
  return recordings < 3 ? SpeakerKnowledge::one : SpeakerKnowledge::five;  // 2 < sqrt(5) < 3
}

std::size_t enrolment_of(SpeakerKnowledge knowledge) {
  return knowledge == SpeakerKnowledge::five ? 5 : knowledge == SpeakerKnowledge::one ? 1 : 0;
}

CorpusStatistics corpus_statistics(const FunctionalTable& table, const std::vector<std::size_t>& rows) {
  if (rows.empty()) throw std::invalid_argument("corpus_statistics: no rows");
  std::map<std::string, std::vector<std::size_t>> speakers;
  for (const std::size_t row : rows) speakers[table.rows.at(row).speaker].push_back(row);
  const std::size_t columns = table.columns.size();
  CorpusStatistics result;
  for (std::size_t j = 0; j < columns; ++j) {
    Moments means;
    double squares = 0, freedom = 0;
    for (const auto& [speaker, own] : speakers) {
      Moments of_speaker;
      for (const std::size_t row : own) of_speaker.add(table.values[row * columns + j]);
      if (of_speaker.count == 0) continue;
      means.add(of_speaker.mean);
      squares += of_speaker.squares;
      freedom += of_speaker.count - 1;
    }
    const double within = freedom > 0 ? squares / freedom : 0;
    result.mean.push_back(means.mean);
    result.within.push_back(within);
    result.between.push_back(means.count > 1 ? means.squares / (means.count - 1) : within);
  }
  return result;
}

void standardize_by_enrolment(std::span<double> row, const std::vector<std::span<const double>>& enrolment,
                              const CorpusStatistics& corpus) {
  const std::size_t columns = corpus.mean.size();
  bool agree = row.size() == columns;
  for (const auto& other : enrolment) agree = agree && other.size() == columns;
  if (!agree) throw std::invalid_argument("standardize_by_enrolment: sizes disagree");
  for (std::size_t j = 0; j < columns; ++j) {
    Moments known;
    for (const auto& other : enrolment) known.add(other[j]);
    const double between = corpus.between[j], within = corpus.within[j];
    if (std::isnan(row[j]) || !(within > kLeastVariance * corpus.mean[j] * corpus.mean[j])) {
      row[j] = 0;
      continue;
    }
    // The speaker's mean is normally distributed about the corpus mean, and recordings about the speaker's
    // mean.
    const double share = known.count > 0 ? between / (between + within / known.count) : 0;
    const double mean = corpus.mean[j] + share * (known.mean - corpus.mean[j]);
    const double uncertainty = (1 - share) * between;
    const double freedom = std::max(0.0, known.count - 1);
    const double variance = (known.squares + kWithinCount * within) / (freedom + kWithinCount);
    row[j] = std::sqrt(variance) * (row[j] - mean) / (variance + uncertainty);
  }
}

}  // namespace emomc
