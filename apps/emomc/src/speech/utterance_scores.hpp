// Log likelihoods of utterances under posteriors that were trained without their speakers, and predictions
// from them.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "class_posteriors.hpp"
#include "emomc/emotion/fold_results.hpp"
#include "emomc/speech/classification.hpp"

namespace emomc::app {

/// The most draws of each class that score the utterances by which a temper is learned, and cuts.
inline constexpr std::size_t kDrawsForTemper = 200, kDrawsForCuts = 50;

/// Parameter draws of one group, one row for each draw, in the order and units of the engine.
struct GroupDraws {
  /// Num_draws counts all chains together; the draws of a chain are consecutive.
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

/// The numbers of frames to which utterances are cut to see what becomes of probabilities: 0.2, 0.5, 1 and
/// 2 s at the usual 10 ms from frame to frame.
inline constexpr std::array<std::size_t, 4> kCutFrames{20, 50, 100, 200};

/// Of each of `utterances` that has more frames than `num_frames`, its middle with so many.
std::vector<Cut> middles(const LabelledFrames& frames, const std::vector<std::size_t>& utterances,
                         std::size_t num_frames);

/// Computes log likelihoods of utterances and cuts. The frames of one list at a time are on the device; they
/// stay there until another list is scored.
class UtteranceScorer {
 public:
  /// `frames`, `posteriors` and `config` must outlive the object. The engine of `posteriors` is not used.
  UtteranceScorer(const LabelledFrames& frames, const ClassPosteriors& posteriors, const RunConfig& config);
  /// The log likelihoods of `utterances` under the draws of each class; all classes have the same number of
  /// draws.
  ClassLikelihoods score(const std::vector<std::size_t>& utterances, const std::vector<GroupDraws>& classes);
  /// The same for cuts.
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
/// config.classification.draws draws of each class score a test utterance, kDrawsForTemper at most those that
/// learn the temper, and kDrawsForCuts at most cuts, by which the damping is learned; `FoldResult::cuts` has
/// those of the test utterances. `report` counts sets of utterances that have been scored.
std::vector<FoldResult> predict_folds(const LabelledFrames& frames, const EvaluationPlan& plan,
                                      const EvaluationConfig& config, UtteranceScorer& scorer,
                                      const DrawSource& draws, bool judge_convergence, const Report& report);

/// The log prior of the classes for a fold, as the configuration has it: uniform, given, or the shares of the
/// classes among the utterances of the speakers that are not `excluded`.
std::vector<double> class_log_prior(const LabelledFrames& frames, const std::vector<int>& excluded,
                                    const ClassificationConfig& config);

/// Evidence, temper and class prior of a fold; evidence and temper are given or learned from its inner folds.
/// `scored`, if given, is called after each inner fold.
struct FoldClassifier {
  Classifier classifier;
  double inner_log_loss;
  std::vector<double> inner_log_probability = {};  ///< as of FoldResult
};
FoldClassifier classifier_of(const LabelledFrames& frames, const Fold& fold, const EvaluationPlan& plan,
                             const EvaluationConfig& config, UtteranceScorer& scorer, const DrawSource& draws,
                             const std::function<void()>& scored = {});

}  // namespace emomc::app
