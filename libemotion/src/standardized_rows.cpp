#include "emomc/emotion/standardized_rows.hpp"

#include "emomc/core/errors.hpp"
#include "emomc/speech/functional_table.hpp"

namespace emomc {

UtteranceRow utterance_row(const Recording& recording, FunctionalSet set, DescriptorExtractors& extractors) {
  const FrameDescriptors frames = describe_recording(recording, extractors);
  if (frames.num_frames == 0) throw InputError("no frame: shorter than a window, or silent");
  return {frames.num_frames, functionals(frames, set)};
}

StandardizedRow standardized_by_enrolment(std::span<const double> row,
                                          const std::vector<std::span<const double>>& others,
                                          const CorpusStatistics& corpus) {
  StandardizedRow result{
      {row.begin(), row.end()},
      others.size() >= kOwnRecordings ? SpeakerKnowledge::own : knowledge_of(others.size()),
      others.empty() ? "corpus" : "enrolment",
      others.size()};
  standardize_by_enrolment(result.values, others, corpus);
  return result;
}

std::vector<StandardizedRow> standardized_speaker(const std::vector<std::span<const double>>& own,
                                                  const CorpusStatistics& corpus) {
  std::vector<StandardizedRow> results;
  if (own.size() < kOwnRecordings) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::vector<std::span<const double>> others;
      for (std::size_t other = 0; other < own.size(); ++other)
        if (other != i) others.push_back(own[other]);
      results.push_back(standardized_by_enrolment(own[i], others, corpus));
    }
    return results;
  }
  const std::size_t stride = corpus.mean.size();
  FunctionalTable table;
  table.columns.resize(stride);
  for (const auto& row : own) {
    table.rows.emplace_back();  // all rows have the same speaker, without a name
    table.values.insert(table.values.end(), row.begin(), row.end());
  }
  standardize_by_speaker(table);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(i * stride);
    results.push_back(
        {{begin, begin + static_cast<std::ptrdiff_t>(stride)}, SpeakerKnowledge::own, "own", own.size()});
  }
  return results;
}

}  // namespace emomc
