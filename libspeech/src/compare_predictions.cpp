#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <limits>
#include <stdexcept>

#include "emomc/device/random.hpp"
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

/// Numbers of the speakers that have utterances.
std::vector<std::size_t> present_speakers(const Predictions& predictions) {
  std::vector<std::size_t> speakers(predictions.speaker.begin(), predictions.speaker.end());
  std::sort(speakers.begin(), speakers.end());
  speakers.erase(std::unique(speakers.begin(), speakers.end()), speakers.end());
  return speakers;
}

/// Interval of statistic(draw), where draw lists as many speakers as there are, drawn with replacement.
template <class Statistic>
Interval bootstrap(const Predictions& predictions, std::uint64_t seed, int resamples, double level,
                   Statistic statistic) {
  if (resamples < 1 || !(level > 0 && level < 1))
    throw std::invalid_argument("bootstrap: at least 1 resample is needed, and a level between 0 and 1");
  const auto speakers = present_speakers(predictions);
  if (speakers.size() < 2) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none};
  }
  std::vector<std::size_t> draw(speakers.size());
  std::vector<double> values;
  for (int r = 0; r < resamples; ++r) {
    const device::RandomSource random{seed, static_cast<std::uint64_t>(r), 0};
    for (std::size_t s = 0; s < draw.size(); ++s) {
      const double u = random.uniform(device::Purpose::choice, static_cast<std::uint32_t>(s));
      const auto chosen = static_cast<std::size_t>(u * static_cast<double>(speakers.size()));
      draw[s] = speakers[std::min(chosen, speakers.size() - 1)];
    }
    values.push_back(statistic(draw));
  }
  return central_interval(std::move(values), level);
}

double uar_of(const std::vector<RecallCounts>& by_speaker, const std::vector<std::size_t>& draw) {
  RecallCounts counts = by_speaker[draw[0]];
  for (std::size_t s = 1; s < draw.size(); ++s) counts.add(by_speaker[draw[s]]);
  return counts.uar();
}

}  // namespace

Interval bootstrap_uar(const Predictions& predictions, std::uint64_t seed, int resamples, double level) {
  check(predictions);
  const auto counts = counts_by_speaker(predictions);
  return bootstrap(predictions, seed, resamples, level,
                   [&](const std::vector<std::size_t>& draw) { return uar_of(counts, draw); });
}

Interval bootstrap_uar_difference(const Predictions& a, const Predictions& b, std::uint64_t seed,
                                  int resamples, double level) {
  check_same_utterances(a, b);
  const auto counts_a = counts_by_speaker(a), counts_b = counts_by_speaker(b);
  return bootstrap(a, seed, resamples, level, [&](const std::vector<std::size_t>& draw) {
    return uar_of(counts_a, draw) - uar_of(counts_b, draw);
  });
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
  // P(X <= fewer) of a binomial X as an incomplete beta function; 1 where the two are equal, 0 among them.
  if (test.only_first != test.only_second)
    test.p_value = std::min(1.0, 2 * boost::math::ibeta(both - fewer, fewer + 1, 0.5));
  return test;
}

}  // namespace emomc
