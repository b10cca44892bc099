#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "emomc/speech/scores.hpp"
#include "recall_counts.hpp"

namespace emomc {
namespace {

void check_same_utterances(const Predictions& a, const Predictions& b) {
  check(a);
  check(b);
  if (a.num_classes != b.num_classes || a.truth != b.truth || a.speaker != b.speaker)
    throw std::invalid_argument("predictions to compare are not of the same utterances in the same order");
}

/// The numbers of the speakers that have utterances, in increasing order.
std::vector<std::size_t> present_speakers(const Predictions& predictions) {
  std::vector<std::size_t> speakers(predictions.speaker.begin(), predictions.speaker.end());
  std::sort(speakers.begin(), speakers.end());
  speakers.erase(std::unique(speakers.begin(), speakers.end()), speakers.end());
  return speakers;
}

/// The unweighted average recall without speaker present[left_out]; over all speakers if left_out is
/// present.size().
double uar_without(const std::vector<RecallCounts>& by_speaker, const std::vector<std::size_t>& present,
                   int num_classes, std::size_t left_out) {
  RecallCounts counts(num_classes);
  for (std::size_t s = 0; s < present.size(); ++s)
    if (s != left_out) counts.add(by_speaker[present[s]]);
  return counts.uar();
}

}  // namespace

Interval jackknife_interval(double all, std::span<const double> without, double lowest, double highest,
                            double level) {
  if (!(level > 0 && level < 1)) throw std::invalid_argument("an interval needs a level between 0 and 1");
  const auto n = static_cast<double>(without.size());
  if (without.size() < 2) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none};
  }
  double mean = 0, squares = 0;
  for (const double x : without) mean += x / n;
  for (const double x : without) squares += (x - mean) * (x - mean);
  const boost::math::students_t t(n - 1);
  const double half = quantile(complement(t, 0.5 * (1 - level))) * std::sqrt((n - 1) / n * squares);
  return {std::max(lowest, all - half), std::min(highest, all + half)};
}

Interval share_interval(double all, std::span<const double> without, double level) {
  constexpr double kRounding = 1e-12;
  const bool is_constant = std::all_of(without.begin(), without.end(),
                                       [&](double x) { return std::abs(x - without[0]) <= kRounding; });
  return jackknife_interval(all, is_constant ? std::span<const double>() : without, 0, 1, level);
}

Interval uar_interval(const Predictions& predictions, double level) {
  check(predictions);
  const auto counts = counts_by_speaker(predictions);
  const auto speakers = present_speakers(predictions);
  std::vector<double> without;
  for (std::size_t s = 0; speakers.size() > 1 && s < speakers.size(); ++s)
    without.push_back(uar_without(counts, speakers, predictions.num_classes, s));
  return share_interval(uar_without(counts, speakers, predictions.num_classes, speakers.size()), without,
                        level);
}

Interval uar_difference_interval(const Predictions& a, const Predictions& b, double level) {
  check_same_utterances(a, b);
  const auto counts_a = counts_by_speaker(a), counts_b = counts_by_speaker(b);
  const auto speakers = present_speakers(a);
  const auto difference = [&](std::size_t left_out) {
    return uar_without(counts_a, speakers, a.num_classes, left_out) -
           uar_without(counts_b, speakers, a.num_classes, left_out);
  };
  std::vector<double> without;
  for (std::size_t s = 0; speakers.size() > 1 && s < speakers.size(); ++s) without.push_back(difference(s));
  return jackknife_interval(difference(speakers.size()), without, -1, 1, level);
}

McNemar mcnemar(const Predictions& first, const Predictions& second) {
  check_same_utterances(first, second);
  McNemar test;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool first_right = first.predicted(i) == first.truth[i];
    const bool second_right = second.predicted(i) == second.truth[i];
    if (first_right && !second_right) ++test.only_first;
    if (second_right && !first_right) ++test.only_second;
  }
  const auto fewer = static_cast<double>(std::min(test.only_first, test.only_second));
  const auto both = static_cast<double>(test.only_first + test.only_second);
  // P(X <= fewer) of X ~ Binomial(both, 1/2) as a regularised incomplete beta function. Equal counts, also
  // two zeros, keep p = 1.
  if (test.only_first != test.only_second)
    test.p_value = std::min(1.0, 2 * boost::math::ibeta(both - fewer, fewer + 1, 0.5));
  return test;
}

}  // namespace emomc
