// Computes scores of predicted class probabilities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace emomc {

/// Predicted class probabilities of n utterances, and their true classes. Classes are numbered from 0.
struct Predictions {
  int num_classes = 0;
  std::vector<int> truth;               ///< [n]
  std::vector<int> speaker;             ///< [n] numbered from 0
  std::vector<double> log_probability;  ///< n x num_classes, row-major, normalised
  std::size_t size() const { return truth.size(); }
  /// The class of highest probability; the first one in a tie.
  int predicted(std::size_t i) const;
};

struct Interval {
  double low = 0, high = 0;
};

struct CalibrationBin {
  std::size_t count = 0;
  double confidence = 0, accuracy = 0;  ///< means over the bin; 0 if the bin is empty
};

struct Scores {
  double accuracy = 0;
  double uar = 0;  ///< unweighted average recall over the classes that occur (Schuller et al. 2009)
  std::vector<double> recall,
      precision;  ///< [num_classes]; NaN if the class does not occur (recall) or is not predicted (precision)
  std::vector<std::size_t> confusion;  ///< num_classes x num_classes: row true class, column predicted class
  double log_loss = 0;                 ///< mean -log p(truth), natural logarithm
  double brier = 0;  ///< mean over utterances of the sum over classes of (p - [class is true])^2 (Brier 1950)
  double calibration_error = 0;      ///< ECE of the most probable class, 10 equal bins (Naeini et al. 2015)
  std::vector<CalibrationBin> bins;  ///< [10]
  /// Mean and central 99 % interval of the calibration error of labels drawn from the predicted
  /// probabilities.
  double expected_calibration_error = 0;
  Interval calibration_range;
};

/// Computes all scores. `simulations` sets of labels are drawn with `seed` for the expected calibration
/// error. The log loss is infinite if a true class has probability 0. Throws std::invalid_argument if sizes
/// disagree, a class or speaker is out of range, the probabilities of a row do not sum to 1 within 1e-6, or
/// there are no predictions; so do the functions below that take predictions.
Scores score(const Predictions& predictions, std::uint64_t seed, int simulations = 2000);

/// The mean, over the classes that occur, of F1, the harmonic mean of recall and precision. F1 is 0 for a
/// class that is never predicted correctly.
double macro_f1(const Scores& scores);

/// The unweighted average recall of each speaker number, over the classes that the speaker has; NaN for a
/// number without utterances.
std::vector<double> uar_by_speaker(const Predictions& predictions);

/// The unweighted average recall of the utterances `rows`, over the classes that occur among them; a row may
/// occur more than once. Throws std::invalid_argument if there are no rows or a row is out of range.
double uar(const Predictions& predictions, std::span<const std::size_t> rows);

/// A confidence interval of a statistic over n speakers by the delete-one jackknife (Efron and Tibshirani
/// 1993, 11.5): all +- t(n - 1) se, with se^2 = (n - 1) / n sum_i (without_i - m)^2, where m is the mean of
/// the without_i, clipped to [lowest, highest]. `all` is the statistic of all speakers, and without_i its
/// value without speaker i. With few speakers this interval has the right coverage, whereas a bootstrap,
/// which never leaves the range of its speakers, is too narrow (docs/statistics.md). Both ends are NaN for a
/// single speaker, which contains no information about others. Throws std::invalid_argument for a level
/// outside (0, 1).
Interval jackknife_interval(double all, std::span<const double> without, double lowest, double highest,
                            double level = 0.95);
/// The jackknife interval of a share such as the UAR, in [0, 1]. Both ends are NaN where all without_i are
/// equal, since speakers who do not differ show nothing of how others do, and a width of 0 would claim
/// certainty.
Interval share_interval(double all, std::span<const double> without, double level = 0.95);
/// The interval of the unweighted average recall by share_interval().
Interval uar_interval(const Predictions& predictions, double level = 0.95);
/// The jackknife interval of uar(a) - uar(b), where the same speaker is left out of both. Throws
/// std::invalid_argument if `a` and `b` do not have the same utterances in the same order.
Interval uar_difference_interval(const Predictions& a, const Predictions& b, double level = 0.95);

/// Exact two-sided McNemar test of equal error rates (McNemar 1947): the binomial tail probability doubled,
/// at most 1.
struct McNemar {
  /// Numbers of utterances that only one of the two classifies correctly.
  std::size_t only_first = 0, only_second = 0;
  double p_value = 1;
};
/// Throws std::invalid_argument if the utterances are not the same in the same order.
McNemar mcnemar(const Predictions& first, const Predictions& second);

}  // namespace emomc
