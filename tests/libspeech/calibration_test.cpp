#include "emomc/speech/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "simulated_predictions.hpp"

namespace emomc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Adds `right` and `wrong` utterances of a speaker whose predicted class has the probability p.
void add(Predictions& to, int speaker, double p, int right, int wrong) {
  to.num_classes = 2;
  for (int i = 0; i < right + wrong; ++i) {
    to.truth.push_back(i < right ? 0 : 1);
    to.speaker.push_back(speaker);
    to.log_probability.push_back(std::log(p));
    to.log_probability.push_back(std::log1p(-p));
  }
}

// With two classes, p^a gives the share q of right utterances the largest likelihood if logit(p) a =
// logit(q).
TEST(CalibrationSlope, IsTheRatioOfLogitsForEqualPredictions) {
  Predictions p;
  add(p, 0, 0.9, 8, 2);
  EXPECT_NEAR(calibration_slope(p), std::log(4.0) / std::log(9.0), 1e-12);
  EXPECT_TRUE(std::isnan(calibration_slope_interval(p).low));  // one speaker
  Predictions calibrated;
  add(calibrated, 0, 0.75, 6, 2);
  EXPECT_NEAR(calibration_slope(calibrated), 1, 1e-12);
  Predictions contrary;
  add(contrary, 0, 0.75, 2, 6);
  EXPECT_NEAR(calibration_slope(contrary), -1, 1e-12);
}

TEST(CalibrationSlope, HasTheJackknifeIntervalOverSpeakers) {
  Predictions p;
  add(p, 3, 0.9, 8, 2);
  add(p, 0, 0.9, 7, 1);
  add(p, 5, 0.9, 20, 1);
  const Interval found = calibration_slope_interval(p, 0.9);
  const auto slope = [](double right, double wrong) { return std::log(right / wrong) / std::log(9.0); };
  const Interval wanted =
      jackknife_interval(slope(35, 4), std::vector<double>{slope(28, 3), slope(27, 2), slope(15, 3)},
                         -kInfinity, kInfinity, 0.9);
  EXPECT_NEAR(calibration_slope(p), slope(35, 4), 1e-12);
  EXPECT_NEAR(found.low, wanted.low, 1e-10);
  EXPECT_NEAR(found.high, wanted.high, 1e-10);
}

// The labels of these 40,000 utterances of three classes are drawn from p^a. The information about a is the
// mean variance of log p, above 1 here, so that the standard error is below 0.005 where p^a is not too
// certain.
TEST(CalibrationSlope, IsTheExponentThatMadeTheLabels) {
  for (const double exponent : {0.5, 1.0, 1.7}) {
    const Predictions p = testing::simulated(40000, exponent, 11);
    const Interval found = calibration_slope_interval(p);
    EXPECT_NEAR(calibration_slope(p), exponent, 0.03) << exponent;
    EXPECT_LT(found.high - found.low, 0.2);
    EXPECT_GT(found.high - found.low, 0.005);
  }
}

TEST(CalibrationSlope, OfPerfectAndUselessPredictionsIsNotFinite) {
  Predictions right;
  add(right, 0, 0.6, 5, 0);
  add(right, 1, 0.7, 5, 0);
  EXPECT_EQ(calibration_slope(right), kInfinity);
  EXPECT_TRUE(std::isnan(calibration_slope_interval(right).high));
  Predictions wrong;
  add(wrong, 0, 0.6, 0, 5);
  EXPECT_EQ(calibration_slope(wrong), -kInfinity);
  Predictions equal;
  add(equal, 0, 0.5, 3, 4);
  EXPECT_TRUE(std::isnan(calibration_slope(equal)));
  Predictions six{6, {0, 5, 3}, {0, 1, 2}, std::vector<double>(18, std::log(1.0 / 6))};
  EXPECT_TRUE(std::isnan(calibration_slope(six)));
  // A speaker without whom no slope is finite has no interval.
  Predictions one_wrong;
  add(one_wrong, 0, 0.6, 5, 0);
  add(one_wrong, 1, 0.6, 5, 1);
  EXPECT_TRUE(std::isfinite(calibration_slope(one_wrong)));
  EXPECT_TRUE(std::isnan(calibration_slope_interval(one_wrong).low));
}

// Classes of probability 0 have no effect unless they are true.
TEST(CalibrationSlope, LeavesOutClassesOfProbabilityZero) {
  Predictions p{3, {}, {}, {}};
  for (int i = 0; i < 10; ++i) {
    p.truth.push_back(i < 8 ? 0 : 1);
    p.speaker.push_back(0);
    for (const double x : {std::log(0.9), std::log(0.1), -kInfinity}) p.log_probability.push_back(x);
  }
  EXPECT_NEAR(calibration_slope(p), std::log(4.0) / std::log(9.0), 1e-12);
  p.truth[9] = 2;
  EXPECT_TRUE(std::isnan(calibration_slope(p)));
  p.truth[9] = 3;
  EXPECT_THROW(calibration_slope(p), std::invalid_argument);
}

// Without differences between speakers, the range of 600 utterances is that of Scores up to its error: each
// end has a standard error of about 0.002 over 2,000 simulations.
TEST(CalibrationRange, OfOneSpeakerIsThatOfTheUtterances) {
  Predictions p;
  for (const double q : {0.55, 0.65, 0.75, 0.85, 0.95}) add(p, 0, q, 60, 60);
  const Interval range = calibration_range_of_speakers(p, 1);
  const Interval plain = score(p, 1).calibration_range;
  EXPECT_NEAR(range.low, plain.low, 0.01);
  EXPECT_NEAR(range.high, plain.high, 0.01);
  EXPECT_GT(range.low, 0);
  EXPECT_THROW(calibration_range_of_speakers(p, 1, 0), std::invalid_argument);
}

// Most utterances are of one speaker. Where that speaker is not drawn, few utterances are left and the error
// is larger.
TEST(CalibrationRange, IsWiderWhereOneSpeakerHasMostUtterances) {
  Predictions p;
  add(p, 0, 0.8, 800, 200);
  for (int speaker = 1; speaker < 4; ++speaker) add(p, speaker, 0.8, 16, 4);
  const Interval range = calibration_range_of_speakers(p, 1), plain = score(p, 1).calibration_range;
  EXPECT_GT(range.high, 2 * plain.high);
  const Interval again = calibration_range_of_speakers(p, 1);
  EXPECT_EQ(range.low, again.low);
  EXPECT_EQ(range.high, again.high);
}

}  // namespace
}  // namespace emomc
