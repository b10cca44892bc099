// Computes class probabilities from the logits of one or several draws.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "rotated_rows.hpp"

namespace emomc {

/// The log of each class's probability, averaged over draws: rows x K. `draws` contains at least one matrix
/// of logits, rows x K.
Eigen::MatrixXd averaged_log_probability(const std::vector<Eigen::MatrixXd>& draws);

/// The log of the weighted mean of probabilities: rows x K. `parts` are log probabilities of that shape, at
/// least one; the weights sum to 1.
Eigen::MatrixXd mixed_log_probability(const std::vector<Eigen::MatrixXd>& parts,
                                      const std::vector<double>& weights);

/// The probabilities raised to the power `temper`, normalised: rows x K, from log probabilities or logits of
/// that shape.
Eigen::MatrixXd tempered_log_probability(const Eigen::MatrixXd& log_probability, double temper);

/// The logits of rows under one draw of the weights, rows x K. Weights in directions outside the rotation are
/// drawn from their prior, whose standard deviation, with the temperature applied, is `outside_sd`. The
/// random numbers are a function of `seed`, `draw` and the row's stream.
Eigen::MatrixXd logits_of_others(const OtherRows& rows, const Eigen::MatrixXd& weights, double outside_sd,
                                 std::uint64_t seed, std::uint64_t draw);

/// Multiplies each row of log probabilities or logits by share_of_temper of its recording. `num_frames` has
/// the number of frames of each row; empty: unknown.
Eigen::MatrixXd shared_by_frames(Eigen::MatrixXd log_probability, double frames,
                                 const std::vector<int>& num_frames);

/// Rows with their classes.
struct LabelledRows {
  Eigen::MatrixXd log_probability;     ///< rows x K
  std::vector<int> truth;              ///< [rows]
  std::vector<int> num_frames;         ///< [rows] numbers of frames of the recordings; empty: unknown
  std::vector<std::size_t> rows = {};  ///< [rows] indices in the corpus; not needed to choose a temper
};

struct ChosenTemper {
  double temper = 1, log_loss = 0;
};

/// The temper between 1/16 and 16 with the smallest mean log loss over all rows, and that loss, which is a
/// convex function of the temper; or the loss at a given temper. `frames`: SoftmaxTemper::frames. Throws
/// std::invalid_argument if there are no rows.
ChosenTemper choose_temper(const std::vector<LabelledRows>& parts, std::optional<double> given,
                           double frames = 0);

/// The sum of the rows' log probabilities of their classes, with a temper.
double log_density_of(const LabelledRows& rows, double temper);

/// The value of SoftmaxTemper::frames, from 0 to 300, with the smallest log loss of `clips`, where the temper
/// is learned from `whole` with the same value; 0 if there are no clips.
double choose_frames(const std::vector<LabelledRows>& whole, const std::vector<LabelledRows>& clips);

}  // namespace emomc
