// What is made of a posterior and a mode: predictions of rows of a corpus, and a classifier.
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

/// Appends `rows`, by increasing rows of the corpus, to a fold, with what is predicted of them by `mode`,
/// logits under the mode, rows x K, and by `draws`, logits under each draw, of the same shape; the tempers
/// are the fold's. Returns the rows' places in `rows`, in the order in which they were appended.
std::vector<Eigen::Index> append_predictions(const SoftmaxRows& corpus, const std::vector<std::size_t>& rows,
                                             const Eigen::MatrixXd& mode, std::vector<Eigen::MatrixXd> draws,
                                             SoftmaxFold& fold);

/// What other ranks are told of a fold that has been predicted: all but draw_log_probability, the tempers,
/// and what inner folds have given, which they know.
void put_predictions(const SoftmaxFold& fold, Numbers& to);
void take_predictions(Numbers& from, SoftmaxFold& fold);

/// The training speakers that a fold leaves out in turn: all, or the nearest ones in the circle of all
/// speakers, so that neighbouring folds share fits.
std::vector<int> inner_speakers(const std::vector<int>& test, int num_speakers);

/// The classifier of a posterior given all rows. `fold`: its prior and its tempers.
SoftmaxClassifier classifier_of(const SoftmaxRows& corpus, const SoftmaxFold& fold,
                                const SoftmaxSettings& settings, const SoftmaxDraws& draws);

}  // namespace emomc
