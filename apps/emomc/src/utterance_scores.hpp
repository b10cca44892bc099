// Log likelihoods of utterances under posteriors that did not see their speakers, and predictions by them.
#pragma once

#include <filesystem>
#include <vector>

#include "class_posteriors.hpp"
#include "emomc/speech/classification.hpp"
#include "emomc/speech/scores.hpp"

namespace emomc::app {

/// Parameters of each group of a set, a row a draw, as the engine has them.
struct GroupDraws {
  std::size_t num_draws = 0, num_chains = 1;  ///< num_draws of all chains together, chain after chain
  std::vector<double> theta;                  ///< num_draws x dim of the model
};

/// At most `most` draws of a group's chains at equal distances, as many of each chain.
GroupDraws read_group_draws(const std::filesystem::path& run_directory, const ClassPosteriors& posteriors,
                            std::size_t group, std::size_t most);

/// Scores utterances with draws. Keeps the frames of one group of speakers on the device at a time.
class UtteranceScorer {
 public:
  /// `posteriors` is borrowed; its engine is not used.
  UtteranceScorer(const LabelledFrames& frames, const ClassPosteriors& posteriors, const RunConfig& config);
  /// Of `utterances`, under the draws of each class (all of equal number).
  ClassLikelihoods score(const std::vector<std::size_t>& utterances, const std::vector<GroupDraws>& classes);

 private:
  const LabelledFrames& frames_;
  const ClassPosteriors& posteriors_;
  const RunConfig& config_;
  std::vector<std::size_t> held_;
  std::unique_ptr<LikelihoodEngine> engine_;
};

/// Whether log p(utterance | draw) of a class has converged over its chains.
struct Convergence {
  std::size_t num_pairs = 0, num_converged = 0;
  double worst_rhat = 0, least_ess = 0;
  double share() const {
    return num_pairs ? static_cast<double>(num_converged) / static_cast<double>(num_pairs) : 1;
  }
};
inline constexpr double kMostRhat = 1.05, kLeastEss = 100;

/// A fold's part of an evaluation.
struct FoldResult {
  Evidence evidence = Evidence::sum;
  double temper = 1;
  double inner_log_loss = 0;  ///< of the training speakers left out in turn; NaN: the temper was given
  std::vector<std::size_t> utterances;
  std::vector<double> log_probability;  ///< utterances x classes
  std::vector<Convergence> of_class;    ///< [num_classes]; empty for EM
};

/// Draws of any group.
using DrawSource = std::function<GroupDraws(std::size_t group, std::size_t most)>;

/// Learns each fold's temper in its inner folds and predicts its test speakers. `draws_per_class` score a
/// test utterance, fewer learn the temper.
std::vector<FoldResult> predict_folds(const LabelledFrames& frames, const EvaluationPlan& plan,
                                      const EvaluationConfig& config, UtteranceScorer& scorer,
                                      const DrawSource& draws, bool judge_convergence, const Report& report);

/// Log prior of the classes for a fold, by the configuration: counts of the training utterances.
std::vector<double> class_log_prior(const LabelledFrames& frames, const std::vector<int>& excluded,
                                    const ClassificationConfig& config);

/// Evidence, temper and class prior of a fold, given or learned from its inner folds.
struct FoldClassifier {
  Classifier classifier;
  double inner_log_loss;
};
FoldClassifier classifier_of(const LabelledFrames& frames, const Fold& fold, const EvaluationPlan& plan,
                             const EvaluationConfig& config, UtteranceScorer& scorer,
                             const DrawSource& draws);

/// All folds together, in the order of LabelledFrames' utterances.
Predictions pooled(const LabelledFrames& frames, const std::vector<FoldResult>& folds,
                   std::vector<std::size_t>* utterances = nullptr);

}  // namespace emomc::app
