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

/// Log likelihoods of utterances under the draws of each class: values[(utterance * num_classes + class) *
/// num_draws + draw], each the sum over the utterance's frames.
struct ClassLikelihoods {
  std::size_t num_utterances = 0;
  int num_classes = 0;
  std::size_t num_draws = 0;
  std::vector<double> values;

  std::span<const double> of(std::size_t utterance, int label) const {
    const auto row = utterance * static_cast<std::size_t>(num_classes) + static_cast<std::size_t>(label);
    return {values.data() + row * num_draws, num_draws};
  }
};

/// Frames of an utterance depend on one another, so their log likelihoods are multiplied by `temper` > 0
/// before they count as evidence.
struct Classifier {
  Rule rule = Rule::predictive;
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

/// The temper in [1e-6, 100] of the smallest mean log loss over all utterances: the best of a grid of
/// logarithms, then a golden-section search beside it. Throws std::invalid_argument without utterances.
double learn_temper(Rule rule, std::span<const double> log_prior, std::span<const LabelledLikelihoods> sets);

}  // namespace emomc
