// A softmax regression that is trained on a whole corpus, for classifying other recordings. docs/softmax.md
// describes the computation.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emomc/speech/softmax_evaluation.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

namespace emomc {

/// The maximum number of posterior draws that a classifier keeps, evenly spaced over all chains. Several
/// posteriors that are averaged have shares of these draws equal to their weights.
inline constexpr int kClassifierDraws = 400;

/// The draws of a classifier that are from the posterior with one prior sd.
struct DrawsOfSd {
  double prior_sd;
  std::size_t num_draws;
};

/// Draws from the posterior of the weights, and the statistics with which rows are standardised.
struct SoftmaxClassifier {
  std::vector<std::string> columns;  ///< names of the columns of a row
  int num_classes = 0;
  std::uint64_t seed = 0;
  SoftmaxPrior prior = SoftmaxPrior::ridge;
  /// For the ridge prior: the prior sds of the draws, in their order; the numbers of draws, each above 0, add
  /// up to num_draws. Empty with the horseshoe.
  std::vector<DrawsOfSd> prior_sds;
  double relevant_share = 0, slab_scale = 0;  ///< as in SoftmaxSettings, for the horseshoe prior; 0: none
  double temperature = 1;
  std::array<SoftmaxTemper, kNumKnowledge> tempers;  ///< indexed by SpeakerKnowledge
  CorpusStatistics corpus;                           ///< statistics of the training recordings
  std::size_t rank = 0, num_draws = 0;
  std::vector<double> axes;  ///< columns.size() x rank, row-major: the rotation of a row
  /// Num_draws x (rank + 1) x (num_classes - 1): weights of contrasts of classes.
  std::vector<double> weights;
};

/// A classifier, and its predictions for recordings on which it was trained, from which convergence is
/// judged. `fold` has at most 300 rows, evenly spaced.
struct SoftmaxTraining {
  SoftmaxClassifier classifier;
  SoftmaxFold fold;
};

/// Trains a classifier on all rows of a corpus that have a class. Collective as evaluate_softmax(): ranks
/// divide fits and inner posteriors. Only rank 0 receives the result, which does not depend on the numbers of
/// threads and ranks or on the order of the rows. Throws the exceptions of evaluate_softmax.
SoftmaxTraining train_softmax(const SoftmaxCorpus& corpus, const SoftmaxSettings& settings, int threads,
                              const SoftmaxReport& report, Communicator& ranks = single_rank());

/// Probabilities of one recording's classes.
struct ClassProbabilities {
  std::vector<double> mean, sd;  ///< [num_classes] mean and sd over draws
};

/// The class probabilities of one recording. `row` [columns.size()] must be standardised with the kind of
/// knowledge of its speaker that `knowledge` states; `num_frames` is the recording's number of frames, 0 if
/// unknown. The result is a function of the arguments alone. Throws std::invalid_argument if the sizes
/// disagree.
ClassProbabilities class_probabilities(const SoftmaxClassifier& classifier, std::span<const double> row,
                                       SpeakerKnowledge knowledge, std::size_t num_frames);

}  // namespace emomc
