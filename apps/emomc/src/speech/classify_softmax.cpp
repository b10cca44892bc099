#include "classify_models.hpp"
#include "classify_rows.hpp"
#include "emomc/emotion/softmax_model_file.hpp"

namespace emomc::app {

int classify_by_softmax(const ClassifyOptions& options) {
  const SoftmaxModel model = read_softmax_model(options.model);
  const SoftmaxClassifier& classifier = model.classifier;
  return classify_rows(
      options, {"softmax regression", "shorter than all clips by which the probabilities were calibrated",
                model.set, model.table, model.config, model.sample_rate, classifier.columns,
                classifier.corpus, [&](const GivenRecording& given, const StandardizedRow& row) {
                  const ClassProbabilities p =
                      class_probabilities(classifier, row.values, row.knowledge, given.row.frames);
                  return line_of(given.file, model.classes, p.mean, p.sd, given.row.frames);
                }});
}

}  // namespace emomc::app
