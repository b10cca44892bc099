#include "recall_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace emomc {

void RecallCounts::add(const RecallCounts& other) {
  for (std::size_t c = 0; c < total_.size(); ++c) {
    right_[c] += other.right_[c];
    total_[c] += other.total_[c];
  }
}

double RecallCounts::uar() const {
  double sum = 0;
  int occurring = 0;
  for (std::size_t c = 0; c < total_.size(); ++c) {
    if (total_[c] == 0) continue;
    sum += static_cast<double>(right_[c]) / static_cast<double>(total_[c]);
    ++occurring;
  }
  return occurring ? sum / occurring : std::numeric_limits<double>::quiet_NaN();
}

void check(const Predictions& predictions) {
  const auto refuse = [](const std::string& why) { throw std::invalid_argument("predictions: " + why); };
  const std::size_t n = predictions.size();
  if (n == 0) refuse("there are none");
  if (n >= (std::size_t{1} << 24)) refuse("random numbers are numbered for 2^24 at most");
  if (predictions.num_classes < 1) refuse("there are no classes");
  const auto k = static_cast<std::size_t>(predictions.num_classes);
  if (predictions.speaker.size() != n || predictions.log_probability.size() != n * k)
    refuse("there are " + std::to_string(n) + " labels, but " + std::to_string(predictions.speaker.size()) +
           " speakers and " + std::to_string(predictions.log_probability.size()) + " probabilities of " +
           std::to_string(k) + " classes");
  for (std::size_t i = 0; i < n; ++i) {
    const std::string utterance = "utterance " + std::to_string(i) + ": ";
    if (predictions.truth[i] < 0 || predictions.truth[i] >= predictions.num_classes)
      refuse(utterance + "there is no class " + std::to_string(predictions.truth[i]));
    if (predictions.speaker[i] < 0) refuse(utterance + "the speaker's number is negative");
    double sum = 0;
    for (std::size_t c = 0; c < k; ++c) sum += std::exp(predictions.log_probability[i * k + c]);
    if (!(std::abs(sum - 1) < 1e-6)) refuse(utterance + "probabilities sum to " + std::to_string(sum));
  }
}

std::vector<RecallCounts> counts_by_speaker(const Predictions& predictions) {
  const int last = *std::max_element(predictions.speaker.begin(), predictions.speaker.end());
  std::vector<RecallCounts> counts(static_cast<std::size_t>(last) + 1, RecallCounts(predictions.num_classes));
  for (std::size_t i = 0; i < predictions.size(); ++i)
    counts[static_cast<std::size_t>(predictions.speaker[i])].add(
        predictions.truth[i], predictions.predicted(i) == predictions.truth[i]);
  return counts;
}

std::vector<double> uar_by_speaker(const Predictions& predictions) {
  check(predictions);
  std::vector<double> uars;
  for (const auto& counts : counts_by_speaker(predictions)) uars.push_back(counts.uar());
  return uars;
}

double uar(const Predictions& predictions, std::span<const std::size_t> rows) {
  check(predictions);
  if (rows.empty()) throw std::invalid_argument("uar: there are no rows");
  RecallCounts counts(predictions.num_classes);
  for (std::size_t row : rows) {
    if (row >= predictions.size()) throw std::invalid_argument("uar: there is no row " + std::to_string(row));
    counts.add(predictions.truth[row], predictions.predicted(row) == predictions.truth[row]);
  }
  return counts.uar();
}

Interval central_interval(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double p) {
    const double at = p * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const double above = values[std::min(below + 1, values.size() - 1)];
    return values[below] + (at - static_cast<double>(below)) * (above - values[below]);
  };
  return {quantile((1 - level) / 2), quantile((1 + level) / 2)};
}

}  // namespace emomc
