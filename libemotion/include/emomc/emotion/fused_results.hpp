// The product of mixtures' probabilities and of softmax regression's, fold by fold.
#pragma once

#include <vector>

#include "emomc/emotion/fold_results.hpp"
#include "emomc/speech/fusion.hpp"

namespace emomc {

struct FusedFolds {
  std::vector<FoldResult> folds;       ///< convergence is that of the mixtures
  std::vector<FusionWeights> weights;  ///< of each fold: first of the mixtures, second of the regression
};

/// The folds of both classifiers, of the same test utterances. The weights of a fold are learned on its inner
/// predictions (FoldResult::inner_utterances), as far as both classifiers have them: of training speakers
/// that were left out in turn. Throws std::invalid_argument if there are none.
FusedFolds fuse(const LabelledFrames& frames, const std::vector<FoldResult>& mixtures,
                const std::vector<FoldResult>& softmax);

}  // namespace emomc
