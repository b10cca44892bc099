// Computes scores of predictive distributions of numbers, such as arousal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emomc/speech/scores.hpp"

namespace emomc {

/// A predictive distribution: that of mean + scale t, where t has Student's distribution with `freedom`
/// degrees of freedom.
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

/// Predictive distributions of one number for n recordings, and the true numbers.
struct NumberPredictions {
  std::vector<double> truth;           ///< [n]
  std::vector<PredictiveT> predicted;  ///< [n]
  std::vector<int> speaker;            ///< [n] numbered from 0
};

/// The concordance correlation coefficient (Lin 1989, "A concordance correlation coefficient to evaluate
/// reproducibility", Biometrics 45): 2 s_xy / (s_x^2 + s_y^2 + (m_x - m_y)^2), with divisors n. NaN for fewer
/// than two pairs, or if both arguments are constant and equal. Throws std::invalid_argument if the sizes
/// differ.
double concordance(std::span<const double> truth, std::span<const double> predicted);
/// Pearson's correlation coefficient; NaN for fewer than two pairs, or if one of the arguments is constant.
double correlation(std::span<const double> truth, std::span<const double> predicted);

/// The scores of one dimension.
struct NumberScores {
  double ccc = 0;                   ///< concordance() of the predictive means, over all recordings together
  double mean_ccc_of_speakers = 0;  ///< mean over the speakers that have a CCC; NaN if none has
  double pearson = 0, rmse = 0, mae = 0;
  double coverage = 0;     ///< share of true numbers in their predictive intervals of kPredictiveLevel
  double log_density = 0;  ///< mean log predictive density of the true numbers
};
/// An interval for each score, in the same order.
struct NumberIntervals {
  Interval ccc, mean_ccc_of_speakers, pearson, rmse, mae, coverage, log_density;
};

/// The scores over all recordings. Throws std::invalid_argument if there are none or sizes disagree; so do
/// the functions below.
NumberScores score(const NumberPredictions& predictions);
/// The share of true numbers in their central predictive intervals of probability `level`, in (0, 1).
double coverage(const NumberPredictions& predictions, double level);
/// Intervals of probability 95 % over speakers by the jackknife (scores.hpp). NaN for a single speaker, or if
/// a score is NaN.
NumberIntervals intervals(const NumberPredictions& predictions);
/// The interval of the CCC of `a` minus that of `b`, where the same speaker is left out of both. Throws
/// std::invalid_argument if `a` and `b` do not have the same recordings in the same order.
Interval ccc_difference_interval(const NumberPredictions& a, const NumberPredictions& b);
/// The CCC of each speaker, indexed by speaker number; NaN if the speaker has none.
std::vector<double> ccc_by_speaker(const NumberPredictions& predictions);

}  // namespace emomc
