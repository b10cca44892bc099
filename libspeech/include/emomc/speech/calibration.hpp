// Measures of calibration that regard speakers as clusters of utterances.
#pragma once

#include <cstdint>

#include "emomc/speech/scores.hpp"

namespace emomc {

/// The calibration slope of predicted probabilities p: the exponent a for which p^a, normalised, gives the
/// utterances their largest likelihood (Cox 1958, "Two further applications of a model for binary
/// regression", for two classes and without an intercept). 1 if the predictions are calibrated, less if they
/// are too certain, and more if they are not certain enough. Infinite, with its sign, if the exponent is
/// beyond 1000 or every larger one predicts better, as where all utterances are recognised. NaN if a true
/// class has probability 0 or no exponent makes a difference. Throws the exceptions of score().
double calibration_slope(const Predictions& predictions);
/// The interval of the calibration slope by jackknife_interval() over speakers; NaN if there is one speaker,
/// or if a slope, of all speakers or without one, is not finite.
Interval calibration_slope_interval(const Predictions& predictions, double level = 0.95);

/// The central 99 % interval of the calibration error of calibrated predictions for other speakers: as
/// Scores::calibration_range, and each set of labels is drawn for as many speakers, drawn from these with
/// replacement. It also holds how the error varies between speakers. Throws the exceptions of score().
Interval calibration_range_of_speakers(const Predictions& predictions, std::uint64_t seed,
                                       int simulations = 2000);

}  // namespace emomc
