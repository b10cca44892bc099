// Class probabilities of utterances from the draws of each class's posterior.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emomc {

enum class Rule {
  predictive,  ///< log mean over draws of exp(temper * log likelihood)
  mean_log,    ///< mean over draws of temper * log likelihood
};

/// What of an utterance's log likelihood counts. Frames depend on one another, and a long utterance says
/// hardly more than a short one.
enum class Evidence {
  sum,   ///< over its frames
  mean,  ///< over its frames
};

/// Log likelihoods of utterances under the draws of each class: values[(utterance * num_classes + class) *
/// num_draws + draw], each the sum over the utterance's frames.
struct ClassLikelihoods {
  std::size_t num_utterances = 0;
  int num_classes = 0;
  std::size_t num_draws = 0;
  std::vector<double> values;
  std::vector<double> num_frames;  ///< [num_utterances]

  std::span<const double> of(std::size_t utterance, int label) const {
    const auto row = utterance * static_cast<std::size_t>(num_classes) + static_cast<std::size_t>(label);
    return {values.data() + row * num_draws, num_draws};
  }
};

/// The evidence is multiplied by `temper` > 0: with temper 1 and the sum, dependent frames would count as
/// independent ones, and probabilities be absurdly close to 0 and 1.
struct Classifier {
  Rule rule = Rule::predictive;
  Evidence evidence = Evidence::sum;
  double temper = 1;
  std::vector<double> log_prior;  ///< [num_classes] of the classes, normalised
};

/// out [num_classes]: normalised log probabilities of one utterance's classes.
void class_log_probabilities(const Classifier& classifier, const ClassLikelihoods& likelihoods,
                             std::size_t utterance, std::span<double> out);

/// out [num_classes]: standard deviation over draws of the probability that draw s of all classes gives; how
/// much the probabilities depend on which parameters of the posterior are the true ones. 0 for one draw.
void class_probability_spread(const Classifier& classifier, const ClassLikelihoods& likelihoods,
                              std::size_t utterance, std::span<double> out);

/// Utterances with their classes.
struct LabelledLikelihoods {
  const ClassLikelihoods* likelihoods = nullptr;
  std::vector<int> truth;  ///< [num_utterances]
};

struct LearnedTemper {
  double temper = 1;
  double log_loss = 0;  ///< mean over the utterances, at temper
};

inline constexpr double kMostTemper = 1e4;

/// The temper in [1e-6, most] of the smallest mean log loss over all utterances: the best of a grid of
/// logarithms, then a golden-section search beside it. `classifier.temper` is not looked at. Throws
/// std::invalid_argument without utterances.
LearnedTemper learn_temper(Classifier classifier, std::span<const LabelledLikelihoods> sets,
                           double most = kMostTemper);

}  // namespace emomc
