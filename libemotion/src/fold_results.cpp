#include "emomc/emotion/fold_results.hpp"

#include <map>

namespace emomc {

Predictions pooled(const LabelledFrames& frames, const std::vector<FoldResult>& folds,
                   std::vector<std::size_t>* utterances) {
  const std::size_t classes = frames.num_classes();
  std::map<std::size_t, const double*> by_utterance;
  for (const FoldResult& fold : folds)
    for (std::size_t i = 0; i < fold.utterances.size(); ++i)
      by_utterance[fold.utterances[i]] = fold.log_probability.data() + i * classes;
  Predictions all;
  all.num_classes = static_cast<int>(classes);
  for (const auto& [u, p] : by_utterance) {
    all.truth.push_back(frames.class_of[u]);
    all.speaker.push_back(frames.speaker_of[u]);
    all.log_probability.insert(all.log_probability.end(), p, p + classes);
    if (utterances) utterances->push_back(u);
  }
  return all;
}

}  // namespace emomc
