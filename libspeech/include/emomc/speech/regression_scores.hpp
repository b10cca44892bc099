// Scores of predicted numbers with their uncertainty, such as arousal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/speech/scores.hpp"

namespace emomc {

/// A predictive distribution: mean + scale t, t of Student's distribution with `freedom` degrees of freedom.
struct PredictiveT {
  double mean = 0, scale = 1, freedom = 1;
  /// The standard deviation; infinite for two degrees of freedom or fewer.
  double sd() const;
  /// The log density at x.
  double log_density(double x) const;
  /// The central interval of probability `level`, which is in (0, 1).
  Interval interval(double level) const;
};

/// The level of the predictive intervals whose coverage is a score.
inline constexpr double kPredictiveLevel = 0.9;

/// Predictions of one number for n recordings with the true ones.
struct NumberPredictions {
  std::vector<double> truth;           ///< [n]
  std::vector<PredictiveT> predicted;  ///< [n]
  std::vector<int> speaker;            ///< [n] numbered from 0
};

/// The concordance correlation coefficient (Lin 1989, "A concordance correlation coefficient to evaluate
/// reproducibility", Biometrics 45): 2 s_xy / (s_x^2 + s_y^2 + (m_x - m_y)^2), with divisors n. NaN for fewer
/// than two pairs and where both are constant and equal. Throws std::invalid_argument where sizes differ.
double concordance(std::span<const double> truth, std::span<const double> predicted);
/// Pearson's correlation coefficient; NaN for fewer than two pairs and where one of both is constant.
double correlation(std::span<const double> truth, std::span<const double> predicted);

/// What the scores of one dimension are.
struct NumberScores {
  double ccc = 0;                   ///< concordance() of all recordings together, of the predictive means
  double mean_ccc_of_speakers = 0;  ///< over speakers who have one; NaN if none has
  double pearson = 0, rmse = 0, mae = 0;
  double coverage = 0;     ///< the share of true numbers in their predictive intervals of kPredictiveLevel
  double log_density = 0;  ///< mean log predictive density of the true numbers
};
/// An interval for each score, in the same order.
struct NumberIntervals {
  Interval ccc, mean_ccc_of_speakers, pearson, rmse, mae, coverage, log_density;
};

/// Of all recordings. Throws std::invalid_argument if there are none or sizes disagree; so do the functions
/// below.
NumberScores score(const NumberPredictions& predictions);
/// The share of true numbers in their central predictive intervals of probability `level`, in (0, 1).
double coverage(const NumberPredictions& predictions, double level);
/// Intervals of probability 95 % over speakers by the jackknife (scores.hpp). NaN for a single speaker, and
/// where a score is NaN.
NumberIntervals intervals(const NumberPredictions& predictions);
/// The interval of the CCC of a less that of b, where the same speaker is left out of both. They must be of
/// the same recordings in the same order, else std::invalid_argument is thrown.
Interval ccc_difference_interval(const NumberPredictions& a, const NumberPredictions& b);
/// The CCC of each speaker number; NaN where there is none.
std::vector<double> ccc_by_speaker(const NumberPredictions& predictions);

}  // namespace emomc
