// Computes class probabilities of utterances from the posterior draws of each class.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

enum class Rule {
  predictive,  ///< log mean over draws of exp(temper * log likelihood)
  mean_log,    ///< mean over draws of temper * log likelihood
};

/// How the log likelihoods of an utterance's frames are combined. Neighbouring frames are dependent, so a
/// long utterance carries hardly more information than a short one; the mean takes account of that, the sum
/// does not.
enum class Evidence {
  sum,   ///< sum over the frames
  mean,  ///< sum over the n frames divided by n + Classifier::damping_frames
};

/// Log likelihoods of utterances under the draws of each class. The element values[(utterance * num_classes +
/// class) * num_draws + draw] is the sum over the utterance's frames.
struct ClassLikelihoods {
  std::size_t num_utterances = 0;
  int num_classes = 0;
  std::size_t num_draws = 0;
  std::vector<double> values;
  std::vector<double> num_frames;  ///< [num_utterances]

  /// The log likelihoods of one utterance under the draws of class `label`: [num_draws].
  std::span<const double> of(std::size_t utterance, int label) const {
    const auto row = utterance * static_cast<std::size_t>(num_classes) + static_cast<std::size_t>(label);
    return {values.data() + row * num_draws, num_draws};
  }
};

/// How log likelihoods become class probabilities. The evidence is multiplied by `temper` > 0: with a temper
/// of 1 and Evidence::sum, dependent frames would count as independent ones, and the probabilities would be
/// far too close to 0 and 1.
struct Classifier {
  Rule rule = Rule::predictive;
  Evidence evidence = Evidence::sum;
  double temper = 1;
  std::vector<double> log_prior;  ///< [num_classes], normalised
  /// The number of damping frames n0, at least 0. With Evidence::mean, an utterance of n frames has n / (n +
  /// n0) of the weight of a very long one, so that a short utterance gets less certain probabilities. With n0
  /// = 0 all lengths have the same weight; with a large n0 the evidence is proportional to the sum.
  double damping_frames = 0;
};

/// Utterances with fewer frames than this (0.2 s at the usual 10 ms from frame to frame) contain little
/// information.
inline constexpr std::size_t kFewFrames = 20;

/// Writes the normalised log probabilities of one utterance's classes to `out` [num_classes]. Throws
/// std::invalid_argument if no class has a finite log likelihood.
void class_log_probabilities(const Classifier& classifier, const ClassLikelihoods& likelihoods,
                             std::size_t utterance, std::span<double> out);

/// Writes to `out` [num_classes] the standard deviation over draws of each class's probability, where draw s
/// of every class gives one set of probabilities. It shows how much the probabilities depend on the
/// uncertainty about the parameters. It is 0 for a single draw. Throws std::invalid_argument if no class has
/// a finite log likelihood under a draw.
void class_probability_spread(const Classifier& classifier, const ClassLikelihoods& likelihoods,
                              std::size_t utterance, std::span<double> out);

/// Utterances with their true classes.
struct LabelledLikelihoods {
  const ClassLikelihoods* likelihoods = nullptr;
  std::vector<int> truth;  ///< [num_utterances]
};

/// The result of learn_temper.
struct LearnedTemper {
  double temper = 1;
  double log_loss = 0;  ///< mean over the utterances at this temper, natural logarithm
};

/// The default upper bound of learn_temper.
inline constexpr double kMostTemper = 1e4;

/// The temper in [1e-6, most] that minimises the mean log loss over all utterances: the best point of a grid
/// that is equally spaced in log temper, refined by a golden-section search around it. The value of
/// `classifier.temper` is ignored. Throws std::invalid_argument if there are no utterances.
LearnedTemper learn_temper(Classifier classifier, std::span<const LabelledLikelihoods> sets,
                           double most = kMostTemper);

/// The result of learn_damping.
struct LearnedDamping : LearnedTemper {  ///< log_loss is that of the whole utterances
  double damping_frames = 0;
};

/// The largest number of damping frames that learn_damping tries.
inline constexpr double kMostDamping = 4096;

/// Learns Classifier::damping_frames and the temper for Evidence::mean. The candidates for n0 are 0 and a
/// grid from 1 to kMostDamping, with factors of the square root of 2 near the best one. For each n0,
/// learn_temper determines the temper from the `whole` utterances, with `mean_frames` + n0 as the upper
/// bound, at which frames count as independent. The chosen n0 has the smallest mean log loss over all
/// utterances of `whole` and `cuts`. Each element of `cuts` has the utterances cut to one length. Of 0 and
/// the powers of two, the smallest n0 is chosen if means differ only by rounding. Throws
/// std::invalid_argument if there are no utterances.
LearnedDamping learn_damping(Classifier classifier, std::span<const LabelledLikelihoods> whole,
                             std::span<const std::vector<LabelledLikelihoods>> cuts, double mean_frames);

}  // namespace emomc
