// The predictions of an evaluation's folds, for any classifier.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/speech/classification.hpp"
#include "emomc/speech/scores.hpp"

namespace emomc {

/// A pair has converged if its R-hat and its bulk ESS are within these bounds.
inline constexpr double kMostRhat = 1.05, kLeastEss = 100;

/// The number of pairs of an utterance and a class, and of those pairs whose log p(utterance | draw) has
/// converged between chains.
struct Convergence {
  std::size_t num_pairs = 0, num_converged = 0;
  /// Over the pairs. NaN, of chains that do not move, is worse than any number.
  double worst_rhat = 0, least_ess = 0;
  void add(double rhat, double ess) { add(Convergence{1, rhat <= kMostRhat && ess >= kLeastEss, rhat, ess}); }
  void add(const Convergence& other) {
    if (other.num_pairs == 0) return;
    if (!std::isnan(worst_rhat) && !(other.worst_rhat <= worst_rhat)) worst_rhat = other.worst_rhat;
    if (num_pairs == 0 || (!std::isnan(least_ess) && !(other.least_ess >= least_ess)))
      least_ess = other.least_ess;
    num_pairs += other.num_pairs;
    num_converged += other.num_converged;
  }
  double share() const {
    return num_pairs ? static_cast<double>(num_converged) / static_cast<double>(num_pairs) : 1;
  }
};

/// Test utterances that were cut to `num_frames` frames; shorter ones are left out.
struct CutResult {
  std::size_t num_frames = 0;
  std::vector<std::size_t> utterances;
  std::vector<double> log_probability;  ///< utterances x classes
};

/// The results of one fold.
struct FoldResult {
  Evidence evidence = Evidence::sum;
  double temper = 1, damping_frames = 0;  ///< values of the fold's Classifier
  /// Log loss for the training speakers that were left out in turn; NaN: nothing was chosen.
  double inner_log_loss = 0;
  std::vector<std::size_t> utterances;
  std::vector<double> log_probability;  ///< utterances x classes
  /// Training speakers' utterances that were left out in turn. They are predicted from a posterior that was
  /// trained without them, with the temper applied. Empty if the temper was given.
  std::vector<std::size_t> inner_utterances;
  std::vector<double> inner_log_probability;  ///< inner_utterances x classes
  std::vector<Convergence> of_class;          ///< [num_classes]; empty for EM
  std::vector<CutResult> cuts;  ///< cuts to the same lengths in all folds; empty for softmax regression
};

/// The predictions of all folds together, in the order of LabelledFrames' utterances. `utterances`, if given,
/// receives the indices of the predicted utterances.
Predictions pooled(const LabelledFrames& frames, const std::vector<FoldResult>& folds,
                   std::vector<std::size_t>* utterances = nullptr);

}  // namespace emomc
