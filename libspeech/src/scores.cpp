#include "emomc/speech/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "emomc/device/random.hpp"
#include "emomc/speech/calibration.hpp"
#include "recall_counts.hpp"

namespace emomc {
namespace {

constexpr std::size_t kNumBins = 10;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The index b of the bin (b/10, (b+1)/10] that contains p. If rounding has made p larger than 1, the last
/// bin; for 0, the first.
std::size_t bin_of(double p) {
  std::size_t b = 0;
  while (b + 1 < kNumBins && p > static_cast<double>(b + 1) / kNumBins) ++b;
  return b;
}

/// The most probable class of an utterance: its probability and whether it is the true class.
struct TopLabel {
  double confidence;
  std::size_t bin;
  bool is_right;
};

std::vector<TopLabel> top_labels(const Predictions& predictions) {
  std::vector<TopLabel> top;
  top.reserve(predictions.size());
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const int label = predictions.predicted(i);
    const auto at = i * static_cast<std::size_t>(predictions.num_classes) + static_cast<std::size_t>(label);
    const double confidence = std::exp(predictions.log_probability[at]);
    top.push_back({confidence, bin_of(confidence), label == predictions.truth[i]});
  }
  return top;
}

/// The sum over bins of (share of utterances) |accuracy - confidence|, computed without dividing by the bin's
/// size.
template <class IsRight>
double calibration_error(const std::vector<TopLabel>& top, IsRight is_right) {
  double gap[kNumBins] = {};
  for (std::size_t i = 0; i < top.size(); ++i) gap[top[i].bin] += top[i].confidence - (is_right(i) ? 1 : 0);
  double sum = 0;
  for (double g : gap) sum += std::abs(g);
  return sum / static_cast<double>(top.size());
}

void score_calibration(const std::vector<TopLabel>& top, std::uint64_t seed, int simulations,
                       Scores& scores) {
  scores.calibration_error = calibration_error(top, [&](std::size_t i) { return top[i].is_right; });
  scores.bins.resize(kNumBins);
  for (const auto& label : top) {
    auto& bin = scores.bins[label.bin];
    const auto n = static_cast<double>(++bin.count);
    bin.confidence += (label.confidence - bin.confidence) / n;
    bin.accuracy += ((label.is_right ? 1 : 0) - bin.accuracy) / n;
  }
  // The result depends only on whether a drawn label is the most probable class; one uniform number for each
  // label is therefore sufficient.
  std::vector<double> errors;
  for (int s = 0; s < simulations; ++s) {
    const device::RandomSource random{seed, static_cast<std::uint64_t>(s), 0};
    errors.push_back(calibration_error(top, [&](std::size_t i) {
      return random.uniform(device::Purpose::simulation, static_cast<std::uint32_t>(i)) < top[i].confidence;
    }));
    scores.expected_calibration_error += errors.back() / simulations;
  }
  scores.calibration_range = central_interval(std::move(errors), 0.99);
}

void score_classes(const Predictions& predictions, Scores& scores) {
  const auto k = static_cast<std::size_t>(predictions.num_classes);
  scores.confusion.resize(k * k);
  for (std::size_t i = 0; i < predictions.size(); ++i)
    ++scores.confusion[static_cast<std::size_t>(predictions.truth[i]) * k +
                       static_cast<std::size_t>(predictions.predicted(i))];
  std::size_t right = 0;
  for (std::size_t c = 0; c < k; ++c) {
    std::size_t occurs = 0, predicted = 0;
    for (std::size_t other = 0; other < k; ++other) {
      occurs += scores.confusion[c * k + other];
      predicted += scores.confusion[other * k + c];
    }
    const std::size_t hits = scores.confusion[c * k + c];
    scores.recall.push_back(occurs ? static_cast<double>(hits) / static_cast<double>(occurs) : kNaN);
    scores.precision.push_back(predicted ? static_cast<double>(hits) / static_cast<double>(predicted) : kNaN);
    right += hits;
  }
  scores.accuracy = static_cast<double>(right) / static_cast<double>(predictions.size());
}

void score_probabilities(const Predictions& predictions, Scores& scores) {
  const auto k = static_cast<std::size_t>(predictions.num_classes);
  const auto n = static_cast<double>(predictions.size());
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto truth = static_cast<std::size_t>(predictions.truth[i]);
    for (std::size_t c = 0; c < k; ++c) {
      const double distance = std::exp(predictions.log_probability[i * k + c]) - (c == truth ? 1 : 0);
      scores.brier += distance * distance / n;
    }
    scores.log_loss -= predictions.log_probability[i * k + truth] / n;
  }
}

}  // namespace

int Predictions::predicted(std::size_t i) const {
  const double* row = log_probability.data() + i * static_cast<std::size_t>(num_classes);
  return static_cast<int>(std::max_element(row, row + num_classes) - row);
}

Scores score(const Predictions& predictions, std::uint64_t seed, int simulations) {
  check(predictions);
  if (simulations < 1) throw std::invalid_argument("score: the number of simulations must be at least 1");
  Scores scores;
  score_classes(predictions, scores);
  score_probabilities(predictions, scores);
  score_calibration(top_labels(predictions), seed, simulations, scores);
  RecallCounts all(predictions.num_classes);
  for (const auto& counts : counts_by_speaker(predictions)) all.add(counts);
  scores.uar = all.uar();
  return scores;
}

Interval calibration_range_of_speakers(const Predictions& predictions, std::uint64_t seed, int simulations) {
  check(predictions);
  if (simulations < 1)
    throw std::invalid_argument(
        "calibration_range_of_speakers: the number of simulations must be at least 1");
  const std::vector<TopLabel> top = top_labels(predictions);
  std::map<int, std::vector<TopLabel>> of_speaker;
  for (std::size_t i = 0; i < top.size(); ++i) of_speaker[predictions.speaker[i]].push_back(top[i]);
  std::vector<const std::vector<TopLabel>*> speakers;
  for (const auto& [speaker, labels] : of_speaker) speakers.push_back(&labels);
  std::vector<double> errors;
  std::vector<TopLabel> drawn;
  for (int s = 0; s < simulations; ++s) {
    const device::RandomSource random{seed, static_cast<std::uint64_t>(s), 1};
    drawn.clear();
    for (std::size_t i = 0; i < speakers.size(); ++i) {
      const double u = random.uniform(device::Purpose::start, static_cast<std::uint32_t>(i));
      const std::size_t chosen =
          std::min(static_cast<std::size_t>(u * static_cast<double>(speakers.size())), speakers.size() - 1);
      drawn.insert(drawn.end(), speakers[chosen]->begin(), speakers[chosen]->end());
    }
    errors.push_back(calibration_error(drawn, [&](std::size_t i) {
      return random.uniform(device::Purpose::simulation, static_cast<std::uint32_t>(i)) < drawn[i].confidence;
    }));
  }
  return central_interval(std::move(errors), 0.99);
}

double macro_f1(const Scores& scores) {
  double sum = 0, classes = 0;
  for (std::size_t k = 0; k < scores.recall.size(); ++k) {
    const double recall = scores.recall[k], precision = scores.precision[k];
    if (std::isnan(recall)) continue;
    classes += 1;
    if (recall > 0) sum += 2 * recall * precision / (recall + precision);
  }
  return sum / classes;
}

}  // namespace emomc
