// Computes log likelihoods of utterances under posteriors that were trained without their speakers, and
// predicts classes from these.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "class_posteriors.hpp"
#include "emomc/emotion/fold_results.hpp"
#include "emomc/speech/classification.hpp"

namespace emomc::app {

/// The largest numbers of draws of each class with which utterances are scored: those by which a temper is
/// learned, and cut utterances.
inline constexpr std::size_t kDrawsForTemper = 200, kDrawsForCuts = 50;

/// Parameter draws of one group, one row for each draw, in the order and units of the engine.
struct GroupDraws {
  /// `num_draws` is the number of draws of all chains together; the draws of a chain are consecutive.
  std::size_t num_draws = 0, num_chains = 1;
  std::vector<double> theta;  ///< num_draws x dim of the model
};

/// At most `most` draws of a group, at equal distances, with the same number from each chain (at least one).
/// Throws InputError if a chain has no draws.
GroupDraws read_group_draws(const std::filesystem::path& run_directory, const ClassPosteriors& posteriors,
                            std::size_t group, std::size_t most);

/// Consecutive frames of an utterance.
struct Cut {
  std::size_t utterance = 0, first_frame = 0, num_frames = 0;
  bool operator==(const Cut&) const = default;
};

/// The numbers of frames to which utterances are cut, to measure how probabilities depend on duration: 0.2,
/// 0.5, 1 and 2 s at the usual 10 ms from frame to frame.
inline constexpr std::array<std::size_t, 4> kCutFrames{20, 50, 100, 200};

/// The middle `num_frames` frames of each of `utterances` that has more frames.
std::vector<Cut> middles(const LabelledFrames& frames, const std::vector<std::size_t>& utterances,
                         std::size_t num_frames);

/// Computes log likelihoods of utterances and cuts. The frames of the last list stay on the device until
/// another list is scored.
class UtteranceScorer {
 public:
  /// `frames`, `posteriors` and `config` must outlive the object. The engine of `posteriors` is not used.
  UtteranceScorer(const LabelledFrames& frames, const ClassPosteriors& posteriors, const RunConfig& config);
  /// The log likelihoods of `utterances` under the draws of each class; all classes have the same number of
  /// draws.
  ClassLikelihoods score(const std::vector<std::size_t>& utterances, const std::vector<GroupDraws>& classes);
  /// The log likelihoods of `cuts` under the draws of each class.
  ClassLikelihoods score(const std::vector<Cut>& cuts, const std::vector<GroupDraws>& classes);

 private:
  const LabelledFrames& frames_;
  const ClassPosteriors& posteriors_;
  const RunConfig& config_;
  std::vector<Cut> held_;
  std::unique_ptr<LikelihoodEngine> engine_;
};

/// A source of draws: at most `most` draws of any group.
using DrawSource = std::function<GroupDraws(std::size_t group, std::size_t most)>;

/// Learns the temper of each fold in its inner folds and predicts its test speakers.
/// A test utterance is scored with config.classification.draws draws of each class, an utterance by which the
/// temper is learned with at most kDrawsForTemper, and a cut utterance with at most kDrawsForCuts. The
/// damping is learned from cut utterances; `FoldResult::cuts` has the predictions for cut test utterances.
/// `report` counts the sets of utterances that have been scored. Collective: several ranks divide the folds;
/// every rank receives all results.
std::vector<FoldResult> predict_folds(const LabelledFrames& frames, const EvaluationPlan& plan,
                                      const EvaluationConfig& config, UtteranceScorer& scorer,
                                      const DrawSource& draws, bool judge_convergence, const Report& report);

/// The log prior of the classes for a fold. The configuration sets the prior: uniform, given, or the shares
/// of the classes among the utterances of the speakers that are not `excluded`.
std::vector<double> class_log_prior(const LabelledFrames& frames, const std::vector<int>& excluded,
                                    const ClassificationConfig& config);

/// The classifier of a fold, with evidence, temper and class prior.
struct FoldClassifier {
  Classifier classifier;
  double inner_log_loss;
  std::vector<double> inner_log_probability = {};  ///< FoldResult::inner_log_probability
};
/// Evidence and temper are given or learned from the fold's inner folds. `scored`, if given, is called after
/// each inner fold.
FoldClassifier classifier_of(const LabelledFrames& frames, const Fold& fold, const EvaluationPlan& plan,
                             const EvaluationConfig& config, UtteranceScorer& scorer, const DrawSource& draws,
                             const std::function<void()>& scored = {});

}  // namespace emomc::app
