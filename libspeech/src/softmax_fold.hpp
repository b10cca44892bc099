// Derives predictions of a corpus's rows, and a classifier, from a posterior and its mode.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "divided_work.hpp"
#include "emomc/speech/softmax_classifier.hpp"
#include "emomc/speech/softmax_evaluation.hpp"
#include "softmax_model.hpp"
#include "softmax_rows.hpp"

namespace emomc {

/// The logits of rows under each draw from one posterior, rows x K, and the posterior's weight in an average.
struct WeightedLogits {
  double weight;
  std::vector<Eigen::MatrixXd> draws;
};

/// Appends `rows`, sorted by their row in the corpus, to a fold, with predictions. `mode` are the logits
/// under the posterior mode, rows x K; the weights of `posteriors` sum to 1. The tempers of the fold are
/// applied. Returns the rows' places in `rows`, in the order in which they were appended.
std::vector<Eigen::Index> append_predictions(const SoftmaxRows& corpus, const std::vector<std::size_t>& rows,
                                             const Eigen::MatrixXd& mode,
                                             std::vector<WeightedLogits> posteriors, SoftmaxFold& fold);

/// Writes the predictions of a fold for other ranks: all members except draw_log_probability, which stays in
/// its rank, and the prior sds, tempers and inner results, which the other ranks already have.
void put_predictions(const SoftmaxFold& fold, Numbers& to);
void take_predictions(Numbers& from, SoftmaxFold& fold);

/// The training speakers that a fold leaves out in turn: all of them, or the nearest ones in the circle of
/// all speakers, so that neighbouring folds share fits.
std::vector<int> inner_speakers(const std::vector<int>& test, int num_speakers);

/// The classifier of all rows, without draws. `fold` provides the tempers.
SoftmaxClassifier classifier_without_draws(const SoftmaxRows& corpus, const SoftmaxFold& fold,
                                           const SoftmaxSettings& settings);

/// Appends `number` draws, evenly spaced over `draws`, to a classifier. `prior_sd`: that of the draws; 0 with
/// the horseshoe.
void append_draws(const SoftmaxDraws& draws, std::size_t number, double prior_sd,
                  SoftmaxClassifier& classifier);

}  // namespace emomc
