// What evaluating and training softmax regression share: the corpus, settings and convergence.
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

/// The functionals of `corpus` in the order of the labelled utterances, and those of its clips.
SoftmaxCorpus softmax_corpus(const LabelledFrames& frames, const CorpusFeatures& corpus);
/// Without what classes count where that is given by their names.
SoftmaxSettings softmax_settings(const EvaluationConfig& config);
/// `classes`: those of the corpus, for each of which a given prior has a probability (check_class_prior).
SoftmaxSettings softmax_settings(const EvaluationConfig& config, const std::vector<std::string>& classes);

/// Throws InputError if fewer than two speakers train a fold while something is to be chosen by leaving them
/// out in turn. `most_tested`: the most test speakers of a fold. The library refuses this too, but after the
/// directory of the results has been begun.
void require_inner_speakers(const SoftmaxSettings& settings, std::size_t speakers, std::size_t most_tested);

/// Throws InputError if the prior takes fewer columns than there are.
void require_few_columns(const EvaluationConfig& config, std::size_t columns);

/// The set of functionals and its version, or the table that was read; and the number of columns.
nlohmann::ordered_json functionals_json(const EvaluationConfig& config, std::size_t columns);
/// The same as a text: "1638 functionals (set full, version 3)".
std::string functionals_text(const EvaluationConfig& config, std::size_t columns);

/// How many pairs of an utterance and a class have an R-hat of at most 1.01 and 400 effective draws in bulk
/// and tails.
struct StrictShare {
  std::size_t pairs = 0, within = 0;
  double worst_rhat = 0;
};

/// R-hat and effective draws of one log probability.
struct JudgedPair {
  double rhat, bulk, tail;
};
using JudgedPairs = std::vector<JudgedPair>;  ///< of the utterances of a fold x its classes

/// Collective. Judges SoftmaxFold::draw_log_probability of each fold on the rank that has it, of which
/// range_of_rank() says which, on `threads` threads; every rank has the results.
std::vector<JudgedPairs> judged_pairs(std::span<const SoftmaxFold> folds, std::size_t classes, int chains,
                                      int threads, Communicator& ranks);
/// Whether the log probability of every (utterance, class) of a fold has converged, by class; `strict` counts
/// on.
std::vector<Convergence> softmax_convergence(const JudgedPairs& judged, std::size_t classes,
                                             StrictShare& strict);

}  // namespace emomc
