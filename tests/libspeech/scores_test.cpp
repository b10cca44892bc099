#include "emomc/speech/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "simulated_predictions.hpp"

namespace emomc {
namespace {

using Json = nlohmann::json;
using testing::simulated;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json outside() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/scores.json");
  return Json::parse(file);
}

void expect_near(const std::vector<double>& ours, const Json& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t c = 0; c < ours.size(); ++c) {
    if (theirs[c].is_null())
      EXPECT_TRUE(std::isnan(ours[c])) << c;
    else
      EXPECT_NEAR(ours[c], theirs[c].get<double>(), 1e-14) << c;
  }
}

/// Returns predictions in which class `label` has probability 1.
Predictions certain(int num_classes, std::vector<int> truth, std::vector<int> speaker,
                    const std::vector<int>& label) {
  Predictions p{num_classes, std::move(truth), std::move(speaker), {}};
  for (int chosen : label)
    for (int c = 0; c < num_classes; ++c) p.log_probability.push_back(c == chosen ? 0 : -kInfinity);
  return p;
}

TEST(Scores, AgreeWithScikitLearn) {
  const Json cases = outside()["cases"];
  ASSERT_EQ(cases.size(), 3u);
  for (const auto& c : cases) {
    Predictions p{c["num_classes"], c["truth"], {}, c["log_probability"]};
    p.speaker.assign(p.size(), 0);
    const Scores s = score(p, 1, 10);
    EXPECT_NEAR(s.accuracy, c["accuracy"], 1e-14);
    EXPECT_NEAR(s.uar, c["uar"], 1e-14);
    expect_near(s.recall, c["recall"]);
    expect_near(s.precision, c["precision"]);
    EXPECT_EQ(s.confusion, c["confusion"].get<std::vector<std::size_t>>());
    EXPECT_NEAR(s.log_loss, c["log_loss"], 1e-13);
    EXPECT_NEAR(s.brier, c["brier"], 1e-13);
    EXPECT_NEAR(s.calibration_error, c["calibration_error"], 1e-13);
  }
}

TEST(Scores, AreTheOnesWorkedByHand) {
  // The probabilities of the predicted classes are 0.9 right, 0.85 wrong, 0.6 right and 0.55 right.
  Predictions p{2, {0, 1, 1, 0}, {0, 0, 1, 3}, {}};
  for (double q : {0.9, 0.85, 0.4, 0.55}) {
    p.log_probability.push_back(std::log(q));
    p.log_probability.push_back(std::log(1 - q));
  }
  const Scores s = score(p, 1);
  EXPECT_EQ(s.accuracy, 0.75);
  EXPECT_EQ(s.uar, 0.75);
  EXPECT_EQ(s.recall, (std::vector<double>{1, 0.5}));
  EXPECT_NEAR(s.precision[0], 2.0 / 3, 1e-15);
  EXPECT_EQ(s.confusion, (std::vector<std::size_t>{2, 0, 1, 1}));
  EXPECT_NEAR(s.log_loss, -std::log(0.9 * 0.15 * 0.6 * 0.55) / 4, 1e-14);
  EXPECT_NEAR(s.brier, 2 * (0.01 + 0.85 * 0.85 + 0.16 + 0.45 * 0.45) / 4, 1e-14);
  EXPECT_EQ(s.bins[8].count, 2u);
  EXPECT_NEAR(s.bins[8].confidence, 0.875, 1e-15);
  EXPECT_EQ(s.bins[8].accuracy, 0.5);
  EXPECT_EQ(s.bins[5].count, 2u);
  EXPECT_EQ(s.bins[9].count, 0u);
  EXPECT_EQ(s.bins[9].confidence, 0);
  EXPECT_NEAR(s.calibration_error, 0.5 * (0.875 - 0.5) + 0.5 * (1 - 0.575), 1e-14);
  const auto speakers = uar_by_speaker(p);
  ASSERT_EQ(speakers.size(), 4u);
  EXPECT_EQ(speakers[0], 0.5);
  EXPECT_EQ(speakers[1], 1);
  EXPECT_TRUE(std::isnan(speakers[2]));
  EXPECT_EQ(speakers[3], 1);
  EXPECT_EQ(uar(p, std::vector<std::size_t>{0, 1, 1, 2}), (1 + 1.0 / 3) / 2);
  EXPECT_EQ(uar(p, std::vector<std::size_t>{1}), 0);
}

TEST(Scores, TakeTheFirstOfEqualsAndBinsClosedAbove) {
  Predictions p{2, {0, 1}, {0, 0}, std::vector<double>(4, std::log(0.5))};
  EXPECT_EQ(p.predicted(1), 0);
  const Scores s = score(p, 1);
  EXPECT_EQ(s.bins[4].count, 2u);  // 0.5 is in (0.4, 0.5]
  EXPECT_NEAR(s.calibration_error, 0, 1e-15);
}

TEST(Scores, OfImpossibleClassesAreInfiniteButNeverNaN) {
  const Scores right = score(certain(3, {0, 1, 2}, {0, 0, 0}, {0, 1, 2}), 1);
  EXPECT_EQ(right.log_loss, 0);
  EXPECT_EQ(right.brier, 0);
  EXPECT_EQ(right.bins[9].count, 3u);
  EXPECT_EQ(right.calibration_range.high, 0);
  const Scores wrong = score(certain(3, {0, 1, 2}, {0, 0, 0}, {0, 1, 1}), 1);
  EXPECT_EQ(wrong.log_loss, kInfinity);
  EXPECT_NEAR(wrong.brier, 2.0 / 3, 1e-15);
  EXPECT_TRUE(std::isnan(wrong.precision[2]));
}

// The test uses the 99 % ranges of 20 calibrated sets: more than 5 outside have a probability below 1e-6
// (binomial with p = 0.01).
TEST(Scores, SimulateWhatCalibrationErrorCalibratedPredictionsHave) {
  int outside_range = 0;
  double mean = 0, expected = 0, width = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Scores s = score(simulated(400, 1, seed), 1000 + seed, 1000);
    outside_range +=
        s.calibration_error < s.calibration_range.low || s.calibration_error > s.calibration_range.high;
    mean += s.calibration_error / 20;
    expected += s.expected_calibration_error / 20;
    width += (s.calibration_range.high - s.calibration_range.low) / 20;
    EXPECT_GT(s.calibration_range.low, 0);
    EXPECT_LT(s.calibration_range.high, 0.2);
    const Scores overconfident = score(simulated(400, 0.4, seed), 1000 + seed, 1000);
    EXPECT_GT(overconfident.calibration_error, overconfident.calibration_range.high);
  }
  EXPECT_LE(outside_range, 5);
  // A 99 % range is 5.15 standard deviations wide. The bound is 5 standard errors of the mean of 20.
  EXPECT_NEAR(mean, expected, 5 / 5.15 * width / std::sqrt(20.0));
}

TEST(Scores, AreReproducibleAndDependOnTheSeed) {
  const auto p = simulated(100, 1, 3);
  const Scores a = score(p, 5, 200), b = score(p, 5, 200), c = score(p, 6, 200);
  EXPECT_EQ(a.expected_calibration_error, b.expected_calibration_error);
  EXPECT_NE(a.expected_calibration_error, c.expected_calibration_error);
}

TEST(Scores, RefuseWhatIsInconsistent) {
  const Predictions good = simulated(4, 1, 1);
  const auto refused = [&](auto change) {
    Predictions p = good;
    change(p);
    EXPECT_THROW(score(p, 1), std::invalid_argument);
    EXPECT_THROW(uar_interval(p), std::invalid_argument);
    EXPECT_THROW(uar_by_speaker(p), std::invalid_argument);
    EXPECT_THROW(mcnemar(p, good), std::invalid_argument);
  };
  refused([](Predictions& p) { p = Predictions{3, {}, {}, {}}; });
  refused([](Predictions& p) { p.speaker.pop_back(); });
  refused([](Predictions& p) { p.log_probability.pop_back(); });
  refused([](Predictions& p) { p.truth[2] = 3; });
  refused([](Predictions& p) { p.speaker[2] = -1; });
  refused([](Predictions& p) { p.log_probability[4] = std::nan(""); });
  refused([](Predictions& p) { p.log_probability[4] += 0.1; });
  EXPECT_THROW(score(good, 1, 0), std::invalid_argument);
  EXPECT_THROW(uar_interval(good, 1.0), std::invalid_argument);
  EXPECT_THROW(uar(good, {}), std::invalid_argument);
  Predictions other = good;
  other.speaker[0] = 4;
  EXPECT_THROW(uar_difference_interval(good, other), std::invalid_argument);
}

TEST(SpeakerInterval, IsTheTIntervalOfTheMeanWhereSpeakersHaveEquallyMany) {
  // Five speakers have ten utterances of one class each. The unweighted average recall is the mean of their
  // shares of right predictions.
  const std::vector<int> right{3, 7, 6, 9, 5};
  std::vector<int> truth, speaker, label;
  for (int s = 0; s < 5; ++s)
    for (int i = 0; i < 10; ++i) {
      truth.push_back(0);
      speaker.push_back(2 * s);  // numbers without utterances are not speakers
      label.push_back(i < right[static_cast<std::size_t>(s)] ? 0 : 1);
    }
  const Interval interval = uar_interval(certain(2, truth, speaker, label));
  const double half = 2.776445 * 0.2236068 / std::sqrt(5.0);  // scipy.stats.t.ppf(.975, 4); sd of the shares
  EXPECT_NEAR(interval.low, 0.6 - half, 1e-6);
  EXPECT_NEAR(interval.high, 0.6 + half, 1e-6);
}

TEST(SpeakerInterval, IsCutToWhatAUarCanBe) {
  const auto p = certain(2, {0, 1, 0, 1}, {0, 0, 1, 1}, {0, 1, 1, 0});
  const Interval interval = uar_interval(p);
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, 1);
}

// Speakers differ by a normal effect on the logit of being right. The number of intervals, out of 4,000, that
// contain the unweighted average recall of all speakers is binomial. Its share must be at most 5 standard
// errors (0.0034) above 0.95, and at least 0.93, since the shares of the few speakers of a small corpus are
// bounded and not normal.
TEST(SpeakerInterval, CoversAsItSaysWithFewSpeakers) {
  constexpr int kSets = 4000, kUtterances = 40;
  for (const int speakers : {4, 5, 10}) {
    int covered = 0;
    // The unweighted average recall of all speakers is the mean of 1 / (1 + exp(-(0.5 + 0.7 z))),
    // approximated with 20,000 draws of z.
    double truth_of_all = 0;
    for (int i = 0; i < 20000; ++i) {
      const double z =
          device::RandomSource{9, static_cast<std::uint64_t>(i), 7}.normal(device::Purpose::simulation, 0);
      truth_of_all += 1 / (1 + std::exp(-(0.5 + 0.7 * z))) / 20000;
    }
    for (int set = 0; set < kSets; ++set) {
      std::vector<int> truth, speaker, label;
      for (int s = 0; s < speakers; ++s) {
        const device::RandomSource random{11, static_cast<std::uint64_t>(set), static_cast<std::uint32_t>(s)};
        const double p = 1 / (1 + std::exp(-(0.5 + 0.7 * random.normal(device::Purpose::simulation, 0))));
        for (int i = 0; i < kUtterances; ++i) {
          truth.push_back(0);
          speaker.push_back(s);
          label.push_back(random.uniform(device::Purpose::choice, static_cast<std::uint32_t>(i)) < p ? 0 : 1);
        }
      }
      const Interval interval = uar_interval(certain(2, truth, speaker, label));
      covered += interval.low <= truth_of_all && truth_of_all <= interval.high ? 1 : 0;
    }
    const double share = covered / static_cast<double>(kSets);
    EXPECT_GT(share, 0.93) << speakers;
    EXPECT_LT(share, 0.95 + 5 * 0.0034) << speakers;
  }
}

TEST(SpeakerInterval, OfADifferenceLeavesTheSameSpeakerOutOfBoth) {
  // b is wrong in one more utterance of each speaker: the difference does not depend on the speaker that is
  // left out.
  std::vector<int> truth, speaker, a, b;
  for (int s = 0; s < 6; ++s)
    for (int i = 0; i < 4; ++i) {
      truth.push_back(0);
      speaker.push_back(s);
      a.push_back(i < s % 3 ? 1 : 0);
      b.push_back(i < s % 3 + 1 ? 1 : 0);
    }
  const auto first = certain(2, truth, speaker, a), second = certain(2, truth, speaker, b);
  const Interval difference = uar_difference_interval(first, second);
  EXPECT_NEAR(difference.low, 0.25, 1e-12);
  EXPECT_NEAR(difference.high, 0.25, 1e-12);
  EXPECT_NEAR(uar_difference_interval(second, first).low, -0.25, 1e-12);
}

TEST(SpeakerInterval, OfSpeakersWhoDoNotDifferSaysNothing) {
  const auto all_right = certain(2, {0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 2, 2}, {0, 1, 0, 1, 0, 1});
  EXPECT_TRUE(std::isnan(uar_interval(all_right).low) && std::isnan(uar_interval(all_right).high));
  const auto one_wrong = certain(2, {0, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 2, 2}, {0, 1, 0, 1, 0, 0});
  EXPECT_LT(uar_interval(one_wrong).low, uar_interval(one_wrong).high);
}

TEST(SpeakerInterval, OfOneSpeakerSaysNothing) {
  const auto p = certain(2, {0, 1, 0}, {3, 3, 3}, {0, 0, 0});
  EXPECT_TRUE(std::isnan(uar_interval(p).low));
  EXPECT_TRUE(std::isnan(uar_difference_interval(p, p).high));
}

TEST(McNemar, AgreesWithScipysBinomialTest) {
  const Json cases = outside()["mcnemar"];
  ASSERT_EQ(cases.size(), 9u);
  for (const auto& c : cases) {
    const std::size_t first_only = c["only_first"], second_only = c["only_second"];
    const std::size_t n = first_only + second_only + 3;  // plus three utterances that both predict rightly
    std::vector<int> first(n, 0), second(n, 0);
    for (std::size_t i = 0; i < first_only + second_only; ++i) (i < first_only ? second : first)[i] = 1;
    const std::vector<int> zero(n, 0);
    const McNemar test = mcnemar(certain(2, zero, zero, first), certain(2, zero, zero, second));
    EXPECT_EQ(test.only_first, first_only);
    EXPECT_EQ(test.only_second, second_only);
    EXPECT_NEAR(test.p_value / c["p_value"].get<double>(), 1, 1e-9) << first_only << " " << second_only;
  }
}

}  // namespace
}  // namespace emomc
