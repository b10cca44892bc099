// A softmax regression that is trained on a whole corpus, to classify other recordings with.
// docs/softmax.md says what is computed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emomc/speech/softmax_evaluation.hpp"
#include "emomc/speech/speaker_knowledge.hpp"

namespace emomc {

/// The most draws of a posterior that a classifier keeps, at equal distances over all chains.
inline constexpr int kClassifierDraws = 400;

/// Draws from the posterior of the weights, and what standardises a row before they are used.
struct SoftmaxClassifier {
  std::vector<std::string> columns;  ///< of a row
  int num_classes = 0;
  std::uint64_t seed = 0;
  SoftmaxPrior prior = SoftmaxPrior::ridge;
  double prior_sd = 1;                        ///< ridge; 0: there is none
  double relevant_share = 0, slab_scale = 0;  ///< SoftmaxSettings'; horseshoe; 0: there is none
  double temperature = 1;
  std::array<SoftmaxTemper, kNumKnowledge> tempers;  ///< by SpeakerKnowledge
  CorpusStatistics corpus;                           ///< of the training recordings
  std::size_t rank = 0, num_draws = 0;
  std::vector<double> axes;     ///< columns.size() x rank, row-major: the rotation of a row
  std::vector<double> weights;  ///< num_draws x (rank + 1) x (num_classes - 1): of contrasts of classes
};

/// A classifier, and its predictions for recordings that it was trained on, to judge convergence by: `fold`
/// has at most 300 rows, at equal distances.
struct SoftmaxTraining {
  SoftmaxClassifier classifier;
  SoftmaxFold fold;
};

/// Collective as evaluate_softmax(): ranks divide fits and inner posteriors. Trains on all rows of a corpus
/// that have a class. The result, which only rank 0 has, does not depend on the numbers of threads and ranks
/// or the order of the rows. Exceptions are those of evaluate_softmax.
SoftmaxTraining train_softmax(const SoftmaxCorpus& corpus, const SoftmaxSettings& settings, int threads,
                              const SoftmaxReport& report, Communicator& ranks = single_rank());

/// Probabilities of the classes of one recording.
struct ClassProbabilities {
  std::vector<double> mean, sd;  ///< [num_classes] over draws
};

/// `row`: [columns.size()], standardised by what is known of its speaker, `knowledge`; `num_frames`: of the
/// recording; 0: unknown. The result is a function of these and the classifier alone. Throws
/// std::invalid_argument where sizes disagree.
ClassProbabilities class_probabilities(const SoftmaxClassifier& classifier, std::span<const double> row,
                                       SpeakerKnowledge knowledge, std::size_t num_frames);

}  // namespace emomc
