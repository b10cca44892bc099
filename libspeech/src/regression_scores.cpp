#include "emomc/speech/regression_scores.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "emomc/device/gamma_functions.hpp"

namespace emomc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

// Means, and sums of products of deviations from the means.
struct Moments {
  double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
};

Moments moments(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("numbers and predictions differ in number");
  Moments m;
  double count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    count += 1;
    const double dx = x[i] - m.mean_x, dy = y[i] - m.mean_y;
    m.mean_x += dx / count;
    m.mean_y += dy / count;
    m.xx += dx * (x[i] - m.mean_x);
    m.yy += dy * (y[i] - m.mean_y);
    m.xy += dx * (y[i] - m.mean_y);
  }
  return m;
}

void check(const NumberPredictions& p) {
  if (p.truth.empty() || p.predicted.size() != p.truth.size() || p.speaker.size() != p.truth.size())
    throw std::invalid_argument("predictions of numbers: none, or sizes disagree");
}

std::vector<std::size_t> all_rows(const NumberPredictions& p) {
  std::vector<std::size_t> rows(p.truth.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

double ccc_of(const NumberPredictions& p, const std::vector<std::size_t>& rows) {
  std::vector<double> truth, mean;
  for (const std::size_t row : rows) {
    truth.push_back(p.truth[row]);
    mean.push_back(p.predicted[row].mean);
  }
  return concordance(truth, mean);
}

// The rows of each speaker that has any, in the order of speaker numbers.
std::vector<std::vector<std::size_t>> rows_by_speaker(const NumberPredictions& p,
                                                      const std::vector<std::size_t>& rows) {
  std::vector<std::vector<std::size_t>> by_speaker;
  for (const std::size_t row : rows) {
    const auto speaker = static_cast<std::size_t>(p.speaker[row]);
    if (speaker >= by_speaker.size()) by_speaker.resize(speaker + 1);
    by_speaker[speaker].push_back(row);
  }
  std::erase_if(by_speaker, [](const auto& own) { return own.empty(); });
  return by_speaker;
}

// The share of `rows` whose true number is in the predictive interval.
double covered_share(const NumberPredictions& p, const std::vector<std::size_t>& rows, double level) {
  std::size_t inside = 0;
  for (const std::size_t row : rows) {
    const Interval interval = p.predicted[row].interval(level);
    inside += p.truth[row] >= interval.low && p.truth[row] <= interval.high ? 1 : 0;
  }
  return static_cast<double>(inside) / static_cast<double>(rows.size());
}

NumberScores score_rows(const NumberPredictions& p, const std::vector<std::size_t>& rows) {
  NumberScores scores;
  const auto n = static_cast<double>(rows.size());
  std::vector<double> truth, mean;
  for (const std::size_t row : rows) {
    const PredictiveT& one = p.predicted[row];
    const double error = one.mean - p.truth[row];
    truth.push_back(p.truth[row]);
    mean.push_back(one.mean);
    scores.rmse += error * error / n;
    scores.mae += std::abs(error) / n;
    scores.log_density += one.log_density(p.truth[row]) / n;
  }
  scores.rmse = std::sqrt(scores.rmse);
  scores.coverage = covered_share(p, rows, kPredictiveLevel);
  scores.ccc = concordance(truth, mean);
  scores.pearson = correlation(truth, mean);
  double sum = 0, speakers = 0;
  for (const auto& own : rows_by_speaker(p, rows))
    if (const double ccc = ccc_of(p, own); !std::isnan(ccc)) {
      sum += ccc;
      speakers += 1;
    }
  scores.mean_ccc_of_speakers = speakers > 0 ? sum / speakers : kNaN;
  return scores;
}

// The rows without each speaker in turn; empty if there is one speaker.
std::vector<std::vector<std::size_t>> rows_without_each(const NumberPredictions& p) {
  const std::vector<std::size_t> all = all_rows(p);
  const std::set<int> speakers(p.speaker.begin(), p.speaker.end());
  std::vector<std::vector<std::size_t>> without;
  for (const int speaker : speakers) {
    if (speakers.size() == 1) break;
    without.emplace_back();
    for (const std::size_t row : all)
      if (p.speaker[row] != speaker) without.back().push_back(row);
  }
  return without;
}

}  // namespace

double PredictiveT::sd() const {
  return freedom > 2 ? scale * std::sqrt(freedom / (freedom - 2)) : kInfinity;
}

double PredictiveT::log_density(double x) const {
  const double z = (x - mean) / scale;
  return device::lgamma((freedom + 1) / 2) - device::lgamma(freedom / 2) -
         0.5 * std::log(freedom * 3.141592653589793) - std::log(scale) -
         (freedom + 1) / 2 * std::log1p(z * z / freedom);
}

Interval PredictiveT::interval(double level) const {
  if (!(level > 0 && level < 1)) throw std::invalid_argument("an interval needs a level between 0 and 1");
  const boost::math::students_t t(freedom);
  const double half = scale * quantile(complement(t, 0.5 * (1 - level)));
  return {mean - half, mean + half};
}

double concordance(std::span<const double> truth, std::span<const double> predicted) {
  const Moments m = moments(truth, predicted);
  const auto n = static_cast<double>(truth.size());
  const double distance = m.mean_x - m.mean_y, spread = m.xx + m.yy + n * distance * distance;
  return truth.size() < 2 || spread == 0 ? kNaN : 2 * m.xy / spread;
}

double correlation(std::span<const double> truth, std::span<const double> predicted) {
  const Moments m = moments(truth, predicted);
  return truth.size() < 2 || m.xx == 0 || m.yy == 0 ? kNaN : m.xy / std::sqrt(m.xx * m.yy);
}

NumberScores score(const NumberPredictions& predictions) {
  check(predictions);
  return score_rows(predictions, all_rows(predictions));
}

double coverage(const NumberPredictions& predictions, double level) {
  check(predictions);
  return covered_share(predictions, all_rows(predictions), level);
}

NumberIntervals intervals(const NumberPredictions& predictions) {
  check(predictions);
  const NumberScores all = score_rows(predictions, all_rows(predictions));
  std::vector<NumberScores> parts;
  for (const auto& rows : rows_without_each(predictions)) parts.push_back(score_rows(predictions, rows));
  const auto of = [&](double NumberScores::*score, double lowest, double highest) -> Interval {
    std::vector<double> without;
    double sum = all.*score;
    for (const NumberScores& part : parts) {
      without.push_back(part.*score);
      sum += part.*score;
    }
    if (std::isnan(sum)) return {kNaN, kNaN};
    return jackknife_interval(all.*score, without, lowest, highest);
  };
  using S = NumberScores;
  return {of(&S::ccc, -1, 1),
          of(&S::mean_ccc_of_speakers, -1, 1),
          of(&S::pearson, -1, 1),
          of(&S::rmse, 0, kInfinity),
          of(&S::mae, 0, kInfinity),
          of(&S::coverage, 0, 1),
          of(&S::log_density, -kInfinity, kInfinity)};
}

Interval ccc_difference_interval(const NumberPredictions& a, const NumberPredictions& b) {
  check(a);
  check(b);
  if (a.truth != b.truth || a.speaker != b.speaker)
    throw std::invalid_argument("predictions to compare are not of the same recordings in the same order");
  const auto difference = [&](const std::vector<std::size_t>& rows) {
    return ccc_of(a, rows) - ccc_of(b, rows);
  };
  std::vector<double> without;
  for (const auto& rows : rows_without_each(a)) without.push_back(difference(rows));
  const double all = difference(all_rows(a));
  if (std::isnan(std::accumulate(without.begin(), without.end(), all))) return {kNaN, kNaN};
  return jackknife_interval(all, without, -2, 2);
}

std::vector<double> ccc_by_speaker(const NumberPredictions& predictions) {
  check(predictions);
  const int last = *std::max_element(predictions.speaker.begin(), predictions.speaker.end());
  std::vector<double> result(static_cast<std::size_t>(last) + 1, kNaN);
  for (const auto& own : rows_by_speaker(predictions, all_rows(predictions)))
    result[static_cast<std::size_t>(predictions.speaker[own[0]])] = ccc_of(predictions, own);
  return result;
}

}  // namespace emomc
