// Fills in what a posterior and a mode predict of rows of a corpus.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "emomc/speech/softmax_evaluation.hpp"
#include "softmax_rows.hpp"

namespace emomc {

/// Appends `rows`, by increasing rows of the corpus, to a fold, with what is predicted of them by `mode`,
/// logits under the mode, rows x K, and by `draws`, logits under each draw, of the same shape; the tempers
/// are the fold's. Returns the rows' places in `rows`, in the order in which they were appended.
std::vector<Eigen::Index> append_predictions(const SoftmaxRows& corpus, const std::vector<std::size_t>& rows,
                                             const Eigen::MatrixXd& mode, std::vector<Eigen::MatrixXd> draws,
                                             SoftmaxFold& fold);

}  // namespace emomc
