// Functions shared by the evaluation and the training of softmax regression: corpus, settings and
// convergence.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/fold_results.hpp"
#include "emomc/speech/softmax_evaluation.hpp"

namespace emomc {

/// The functionals of `corpus` in the order of the labelled utterances, and the functionals of its clips.
SoftmaxCorpus softmax_corpus(const LabelledFrames& frames, const CorpusFeatures& corpus);
/// The settings of softmax regression, without class weights that are given by class names.
SoftmaxSettings softmax_settings(const EvaluationConfig& config);
/// The settings with class weights. `classes` are those of the corpus; a given class prior must have a
/// probability for each of them (check_class_prior).
SoftmaxSettings softmax_settings(const EvaluationConfig& config, const std::vector<std::string>& classes);

/// Throws InputError if fewer than two speakers train a fold and a setting has to be chosen by leaving
/// speakers out in turn. `most_tested` is the largest number of test speakers of a fold. The library also
/// throws, but only after the results directory has been created.
void require_inner_speakers(const SoftmaxSettings& settings, std::size_t speakers, std::size_t most_tested);

/// Throws InputError if the prior does not allow this many columns.
void require_few_columns(const EvaluationConfig& config, std::size_t columns);

/// The set of functionals and its version, or the table that was read; and the number of columns.
nlohmann::ordered_json functionals_json(const EvaluationConfig& config, std::size_t columns);
/// The functionals in a text, such as "1638 functionals (set full, version 3)".
std::string functionals_text(const EvaluationConfig& config, std::size_t columns);

/// The number of pairs of an utterance and a class, and of the pairs with an R-hat of at most 1.01 and at
/// least 400 effective draws in bulk and tails.
struct StrictShare {
  std::size_t pairs = 0, within = 0;
  double worst_rhat = 0;
};

/// R-hat and effective draws of one log probability; if several posteriors are averaged, the worst of them.
struct JudgedPair {
  double rhat, bulk, tail;
};
using JudgedPairs = std::vector<JudgedPair>;  ///< utterances of a fold x its classes

/// Computes R-hat and effective draws of SoftmaxFold::draw_log_probability. Collective: each rank does the
/// folds in its range_of_rank(), on `threads` threads; every rank receives all results.
std::vector<JudgedPairs> judged_pairs(std::span<const SoftmaxFold> folds, std::size_t classes, int chains,
                                      int threads, Communicator& ranks);
/// The convergence of the log probabilities of a fold's utterances, for each class. Adds the counts to
/// `strict`.
std::vector<Convergence> softmax_convergence(const JudgedPairs& judged, std::size_t classes,
                                             StrictShare& strict);

}  // namespace emomc
