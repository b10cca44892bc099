#include "emomc/emotion/softmax_recordings.hpp"

#include "emomc/core/errors.hpp"

namespace emomc {

UtteranceRow utterance_row(const Recording& recording, FunctionalSet set, DescriptorExtractors& extractors) {
  const FrameDescriptors frames = describe_recording(recording, extractors);
  if (frames.num_frames == 0) throw InputError("no frame: shorter than a window, or silent");
  return {frames.num_frames, functionals(frames, set)};
}

ClassifiedRow classify_by_enrolment(const GivenRow& row, const std::vector<std::span<const double>>& others,
                                    const SoftmaxClassifier& classifier) {
  std::vector<double> values(row.values.begin(), row.values.end());
  standardize_by_enrolment(values, others, classifier.corpus);
  const SpeakerKnowledge knowledge =
      others.size() >= kOwnRecordings ? SpeakerKnowledge::own : knowledge_of(others.size());
  return {class_probabilities(classifier, values, knowledge, row.frames),
          others.empty() ? "corpus" : "enrolment", others.size()};
}

std::vector<ClassifiedRow> classify_speaker(const std::vector<GivenRow>& own,
                                            const SoftmaxClassifier& classifier) {
  std::vector<ClassifiedRow> results;
  if (own.size() < kOwnRecordings) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::vector<std::span<const double>> others;
      for (std::size_t other = 0; other < own.size(); ++other)
        if (other != i) others.push_back(own[other].values);
      results.push_back(classify_by_enrolment(own[i], others, classifier));
    }
    return results;
  }
  FunctionalTable table{classifier.columns, {}, {}, {}};
  for (const GivenRow& row : own) {
    table.rows.emplace_back();  // of one speaker, without a name
    table.values.insert(table.values.end(), row.values.begin(), row.values.end());
  }
  standardize_by_speaker(table);
  const std::size_t stride = classifier.columns.size();
  for (std::size_t i = 0; i < own.size(); ++i)
    results.push_back({class_probabilities(classifier, {table.values.data() + i * stride, stride},
                                           SpeakerKnowledge::own, own[i].frames),
                       "own", own.size()});
  return results;
}

}  // namespace emomc
