// How good predicted class probabilities are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace emomc {

/// Predictions of some utterances. Classes are numbered from 0.
struct Predictions {
  int num_classes = 0;
  std::vector<int> truth;               ///< [n]
  std::vector<int> speaker;             ///< [n] numbered from 0
  std::vector<double> log_probability;  ///< n x num_classes, row-major, normalised
  std::size_t size() const { return truth.size(); }
  /// The class of highest probability, the first of equals.
  int predicted(std::size_t i) const;
};

struct Interval {
  double low = 0, high = 0;
};

struct CalibrationBin {
  std::size_t count = 0;
  double confidence = 0, accuracy = 0;  ///< means of the bin; 0 where it is empty
};

struct Scores {
  double accuracy = 0;
  double uar = 0;  ///< unweighted average recall over the classes that occur (Schuller et al. 2009)
  std::vector<double> recall,
      precision;                       ///< [num_classes]; NaN where a class does not occur, is not predicted
  std::vector<std::size_t> confusion;  ///< num_classes x num_classes: truth, predicted
  double log_loss = 0;                 ///< mean -log p(truth), natural logarithm
  double brier = 0;                    ///< mean sum over classes of (p - [truth])^2 (Brier 1950)
  double calibration_error = 0;        ///< top label, 10 bins of equal width (Naeini et al. 2015)
  std::vector<CalibrationBin> bins;    ///< [10]
  double expected_calibration_error = 0;  ///< of labels drawn from these very probabilities: its mean,
  Interval calibration_range;             ///< and its central 99 %
};

/// Throws std::invalid_argument where sizes disagree, a class or speaker is out of range, a row's
/// probabilities do not sum to 1 (within 1e-6), or there are no predictions; so does all below. `simulations`
/// of labels are drawn with `seed`. A class of probability 0 that is true after all makes the log loss
/// infinite.
Scores score(const Predictions& predictions, std::uint64_t seed, int simulations = 2000);

/// The unweighted average recall of each speaker, over the classes that the speaker has; NaN for a number
/// that no utterance has.
std::vector<double> uar_by_speaker(const Predictions& predictions);

/// The unweighted average recall of some rows, over the classes that occur there; a row may come twice.
double uar(const Predictions& predictions, std::span<const std::size_t> rows);

/// An interval about a statistic of n speakers from its values without each of them (the delete-one
/// jackknife, Efron and Tibshirani 1993, 11.5): all +- t(n - 1) se, se^2 = (n - 1) / n sum (without_i - their
/// mean)^2, cut to [lowest, highest]. With few speakers it covers where a bootstrap, which never leaves the
/// range of its speakers, does not (docs/statistics.md). NaN where there is one speaker only, which says
/// nothing of others.
Interval jackknife_interval(double all, std::span<const double> without, double lowest, double highest,
                            double level = 0.95);
/// The interval of uar over speakers; a uar is over the classes that occur.
Interval uar_interval(const Predictions& predictions, double level = 0.95);
/// The same of uar(a) - uar(b), the same speaker left out of both; a and b have the same utterances in order.
Interval uar_difference_interval(const Predictions& a, const Predictions& b, double level = 0.95);

/// Exact two-sided McNemar test (McNemar 1947; binomial, doubled and at most 1) of equal error rates.
struct McNemar {
  std::size_t only_first = 0, only_second = 0;  ///< right by one alone
  double p_value = 1;
};
McNemar mcnemar(const Predictions& first, const Predictions& second);

}  // namespace emomc
