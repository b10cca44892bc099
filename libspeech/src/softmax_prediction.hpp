// Probabilities of classes from logits of one or several draws.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "rotated_rows.hpp"

namespace emomc {

/// The log of each class's probability, averaged over draws: rows x K. `draws`: logits, each rows x K; at
/// least one.
Eigen::MatrixXd averaged_log_probability(const std::vector<Eigen::MatrixXd>& draws);

/// The probabilities to the power `temper`, normalised: rows x K, of log probabilities or logits of that
/// shape.
Eigen::MatrixXd tempered_log_probability(const Eigen::MatrixXd& log_probability, double temper);

/// Logits of rows under one draw of the weights, rows x K. Weights of directions that are not in the rotation
/// are drawn from their prior, whose standard deviation, with the temperature in it, is `outside_sd`; the
/// random numbers are those of `seed`, `draw` and the row's stream.
Eigen::MatrixXd logits_of_others(const OtherRows& rows, const Eigen::MatrixXd& weights, double outside_sd,
                                 std::uint64_t seed, std::uint64_t draw);

/// Each row of log probabilities or logits times share_of_temper of its recording. `num_frames`: of each row;
/// empty: unknown.
Eigen::MatrixXd shared_by_frames(Eigen::MatrixXd log_probability, double frames,
                                 const std::vector<int>& num_frames);

/// Rows with their classes.
struct LabelledRows {
  Eigen::MatrixXd log_probability;     ///< rows x K
  std::vector<int> truth;              ///< [rows]
  std::vector<int> num_frames;         ///< [rows] of their recordings; empty: unknown
  std::vector<std::size_t> rows = {};  ///< [rows] what they are in the corpus; not needed to choose a temper
};

struct ChosenTemper {
  double temper = 1, log_loss = 0;
};

/// The temper of 1/16 to 16 for which the mean log loss of all rows is smallest, which is a convex function
/// of it; or that loss at a given one. `frames`: SoftmaxTemper::frames. Throws std::invalid_argument if there
/// are no rows.
ChosenTemper choose_temper(const std::vector<LabelledRows>& parts, std::optional<double> given,
                           double frames = 0);

/// Frames of 0 to 300, for which the log loss of `clips` is smallest where the temper is learned from `whole`
/// with the same frames; 0 if there are no clips.
double choose_frames(const std::vector<LabelledRows>& whole, const std::vector<LabelledRows>& clips);

}  // namespace emomc
