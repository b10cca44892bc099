#include "emomc/emotion/softmax_recordings.hpp"

namespace emomc {
namespace {

ClassifiedRow classify(const StandardizedRow& row, std::size_t frames, const SoftmaxClassifier& classifier) {
  return {class_probabilities(classifier, row.values, row.knowledge, frames), row.standardised_by,
          row.recordings};
}

}  // namespace

ClassifiedRow classify_by_enrolment(const GivenRow& row, const std::vector<std::span<const double>>& others,
                                    const SoftmaxClassifier& classifier) {
  return classify(standardized_by_enrolment(row.values, others, classifier.corpus), row.frames, classifier);
}

std::vector<ClassifiedRow> classify_speaker(const std::vector<GivenRow>& own,
                                            const SoftmaxClassifier& classifier) {
  std::vector<std::span<const double>> rows;
  for (const GivenRow& row : own) rows.push_back(row.values);
  std::vector<ClassifiedRow> results;
  for (const StandardizedRow& row : standardized_speaker(rows, classifier.corpus))
    results.push_back(classify(row, own[results.size()].frames, classifier));
  return results;
}

}  // namespace emomc
