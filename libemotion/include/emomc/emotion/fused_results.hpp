// Multiplies the probabilities of mixtures by those of softmax regression, fold by fold.
#pragma once

#include <vector>

#include "emomc/emotion/fold_results.hpp"
#include "emomc/speech/fusion.hpp"

namespace emomc {

struct FusedFolds {
  std::vector<FoldResult> folds;  ///< convergence statistics are those of the mixtures
  /// [folds] exponents: `first` of the mixtures, `second` of the regression.
  std::vector<FusionWeights> weights;
};

/// Fuses the folds of two classifiers with the same test utterances. The weights of a fold are learned from
/// its inner predictions (FoldResult::inner_utterances), of training speakers that were left out in turn, as
/// far as both classifiers have them. Throws std::invalid_argument if there are none.
FusedFolds fuse(const LabelledFrames& frames, const std::vector<FoldResult>& mixtures,
                const std::vector<FoldResult>& softmax);

}  // namespace emomc
