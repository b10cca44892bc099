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

/// Appends `rows`, sorted by their row in the corpus, to a fold, with predictions. `mode` are the logits
/// under the posterior mode, rows x K; `draws` are the logits under each draw, in the same shape. The tempers
/// of the fold are applied. Returns the rows' places in `rows`, in the order in which they were appended.
std::vector<Eigen::Index> append_predictions(const SoftmaxRows& corpus, const std::vector<std::size_t>& rows,
                                             const Eigen::MatrixXd& mode, std::vector<Eigen::MatrixXd> draws,
                                             SoftmaxFold& fold);

/// Writes the predictions of a fold for other ranks: all members except draw_log_probability, the tempers and
/// the inner results, which the other ranks already have.
void put_predictions(const SoftmaxFold& fold, Numbers& to);
void take_predictions(Numbers& from, SoftmaxFold& fold);

/// The training speakers that a fold leaves out in turn: all of them, or the nearest ones in the circle of
/// all speakers, so that neighbouring folds share fits.
std::vector<int> inner_speakers(const std::vector<int>& test, int num_speakers);

/// The classifier from a posterior given all rows. `fold` provides the prior sd and the tempers.
SoftmaxClassifier classifier_of(const SoftmaxRows& corpus, const SoftmaxFold& fold,
                                const SoftmaxSettings& settings, const SoftmaxDraws& draws);

}  // namespace emomc
