#include "emomc/emotion/fused_results.hpp"

#include <map>
#include <stdexcept>

namespace emomc {
namespace {

// The rows of `values` (utterances x classes), indexed by utterance.
std::map<std::size_t, const double*> by_utterance(const std::vector<std::size_t>& utterances,
                                                  const std::vector<double>& values, std::size_t classes) {
  std::map<std::size_t, const double*> rows;
  for (std::size_t i = 0; i < utterances.size(); ++i) rows[utterances[i]] = values.data() + i * classes;
  return rows;
}

// The values of the second classifier in the order of the first one's utterances. Throws
// std::invalid_argument if one is missing.
std::vector<double> arranged(const FoldResult& first, const FoldResult& second, std::size_t classes) {
  const auto rows = by_utterance(second.utterances, second.log_probability, classes);
  std::vector<double> values;
  for (const std::size_t u : first.utterances) {
    const auto at = rows.find(u);
    if (at == rows.end()) throw std::invalid_argument("fuse: folds of other utterances");
    values.insert(values.end(), at->second, at->second + classes);
  }
  return values;
}

FusionWeights weights_of(const LabelledFrames& frames, const FoldResult& mixtures,
                         const FoldResult& softmax) {
  const std::size_t classes = frames.num_classes();
  const auto rows = by_utterance(softmax.inner_utterances, softmax.inner_log_probability, classes);
  std::vector<double> first, second;
  std::vector<int> truth;
  for (std::size_t i = 0; i < mixtures.inner_utterances.size(); ++i) {
    const std::size_t u = mixtures.inner_utterances[i];
    const auto at = rows.find(u);
    if (at == rows.end()) continue;
    const double* of_mixtures = mixtures.inner_log_probability.data() + i * classes;
    first.insert(first.end(), of_mixtures, of_mixtures + classes);
    second.insert(second.end(), at->second, at->second + classes);
    truth.push_back(frames.class_of[u]);
  }
  return learn_fusion(first, second, truth, static_cast<int>(classes));
}

}  // namespace

FusedFolds fuse(const LabelledFrames& frames, const std::vector<FoldResult>& mixtures,
                const std::vector<FoldResult>& softmax) {
  if (mixtures.size() != softmax.size()) throw std::invalid_argument("fuse: other folds");
  const std::size_t classes = frames.num_classes();
  FusedFolds fused;
  for (std::size_t f = 0; f < mixtures.size(); ++f) {
    const FusionWeights weights = weights_of(frames, mixtures[f], softmax[f]);
    FoldResult result;
    result.inner_log_loss = weights.log_loss;
    result.utterances = mixtures[f].utterances;
    result.log_probability =
        fused_log_probability(weights, mixtures[f].log_probability,
                              arranged(mixtures[f], softmax[f], classes), static_cast<int>(classes));
    result.of_class = mixtures[f].of_class;
    fused.folds.push_back(std::move(result));
    fused.weights.push_back(weights);
  }
  return fused;
}

}  // namespace emomc
