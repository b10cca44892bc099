#include "emomc/speech/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "recall_counts.hpp"

namespace emomc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// A larger slope counts as infinite.
constexpr double kMostSlope = 1000;

// The slope of the log likelihood of p^a, and the negative slope of that slope.
struct Derivatives {
  double first = 0, second = 0;
};

// Adds the derivatives of one utterance. Classes of probability 0 have no part in them.
void add_utterance(const double* log_probability, int num_classes, int truth, double a, Derivatives& sum) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int k = 0; k < num_classes; ++k)
    if (std::isfinite(log_probability[k])) largest = std::max(largest, a * log_probability[k]);
  double total = 0, mean = 0, square = 0;
  for (int k = 0; k < num_classes; ++k) {
    const double x = log_probability[k];
    if (!std::isfinite(x)) continue;
    const double weight = std::exp(a * x - largest);
    total += weight;
    mean += weight * x;
    square += weight * x * x;
  }
  mean /= total;
  sum.first += log_probability[truth] - mean;
  sum.second += std::max(0.0, square / total - mean * mean);
}

// The slope of the utterances of all speakers but one; -1: of all.
double slope_without(const Predictions& p, int left_out) {
  const auto derivatives = [&](double a) {
    Derivatives sum;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (p.speaker[i] != left_out)
        add_utterance(p.log_probability.data() + i * static_cast<std::size_t>(p.num_classes), p.num_classes,
                      p.truth[i], a, sum);
    return sum;
  };
  double low = -kMostSlope, high = kMostSlope;
  Derivatives at = derivatives(1);
  // Where no finite exponent is best, the likelihood is flat at large ones, up to rounding.
  const double flat = 1e-12 * static_cast<double>(p.size());
  if (!std::isfinite(at.first) || (std::abs(at.first) < flat && at.second < flat)) return kNaN;
  if (derivatives(high).first > -flat) return std::numeric_limits<double>::infinity();
  if (derivatives(low).first < flat) return -std::numeric_limits<double>::infinity();
  double a = 1;
  // The log likelihood is concave: Newton's method, and halving where a step leaves the interval.
  for (int i = 0; i < 200 && high - low > 1e-12 * std::max(1.0, std::abs(a)); ++i) {
    (at.first > 0 ? low : high) = a;
    const double next = a + at.first / at.second;
    const double before = a;
    a = next > low && next < high ? next : 0.5 * (low + high);
    if (std::abs(a - before) < 1e-13 * std::max(1.0, std::abs(a))) break;
    at = derivatives(a);
  }
  return a;
}

}  // namespace

double calibration_slope(const Predictions& predictions) {
  check(predictions);
  return slope_without(predictions, -1);
}

Interval calibration_slope_interval(const Predictions& predictions, double level) {
  const double slope = calibration_slope(predictions);
  std::vector<int> speakers = predictions.speaker;
  std::sort(speakers.begin(), speakers.end());
  speakers.erase(std::unique(speakers.begin(), speakers.end()), speakers.end());
  if (!std::isfinite(slope) || speakers.size() < 2) return {kNaN, kNaN};
  std::vector<double> without;
  for (const int speaker : speakers) {
    without.push_back(slope_without(predictions, speaker));
    if (!std::isfinite(without.back())) return {kNaN, kNaN};
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return jackknife_interval(slope, without, -kInfinity, kInfinity, level);
}

}  // namespace emomc
