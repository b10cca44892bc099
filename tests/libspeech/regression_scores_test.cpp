#include "emomc/speech/regression_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace emomc {
namespace {

using nlohmann::json;

// Returns values that tests/libspeech/data/make_regression.py computes by NumPy and SciPy.
json by_numpy() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/regression.json");
  return json::parse(file)["scores"];
}

NumberPredictions predictions_of(const json& given) {
  NumberPredictions p;
  p.truth = given["truth"].get<std::vector<double>>();
  p.speaker = given["speaker"].get<std::vector<int>>();
  for (std::size_t i = 0; i < p.truth.size(); ++i)
    p.predicted.push_back({given["mean"][i], given["scale"][i], given["freedom"]});
  return p;
}

void expect_score(const json& wanted, double score, const Interval& interval, const std::string& name) {
  EXPECT_NEAR(score, wanted[0].get<double>(), 1e-12) << name;
  EXPECT_NEAR(interval.low, wanted[1].get<double>(), 1e-9) << name;
  EXPECT_NEAR(interval.high, wanted[2].get<double>(), 1e-9) << name;
}

TEST(NumberScores, AndTheirIntervalsOverSpeakersAgreeWithNumPy) {
  const json given = by_numpy(), &of = given["of"];
  const NumberPredictions p = predictions_of(given);
  const NumberScores s = score(p);
  const NumberIntervals i = intervals(p);
  expect_score(of["ccc"], s.ccc, i.ccc, "ccc");
  expect_score(of["mean_ccc_of_speakers"], s.mean_ccc_of_speakers, i.mean_ccc_of_speakers, "of speakers");
  expect_score(of["pearson"], s.pearson, i.pearson, "pearson");
  expect_score(of["rmse"], s.rmse, i.rmse, "rmse");
  expect_score(of["mae"], s.mae, i.mae, "mae");
  expect_score(of["coverage"], s.coverage, i.coverage, "coverage");
  expect_score(of["log_density"], s.log_density, i.log_density, "log density");
}

// The values are computed by hand: means 2 and 3, s_xy 2/3, variances 2/3 each, so that the CCC is 2 (2/3) /
// (2/3 + 2/3 + 1).
TEST(Concordance, OfAShiftIsLessThanTheCorrelation) {
  const std::vector<double> truth{1, 2, 3}, shifted{2, 3, 4}, twice{2, 4, 6}, back{3, 2, 1};
  EXPECT_NEAR(concordance(truth, shifted), 4.0 / 7, 1e-15);
  EXPECT_NEAR(correlation(truth, shifted), 1, 1e-15);
  EXPECT_NEAR(concordance(truth, twice), 2 * (4.0 / 3) / (2.0 / 3 + 8.0 / 3 + 4), 1e-15);
  EXPECT_DOUBLE_EQ(concordance(truth, truth), 1);
  EXPECT_DOUBLE_EQ(concordance(truth, back), -1);
}

TEST(Concordance, OfConstantPredictionsIsZeroAndOfOneRecordingUndefined) {
  const std::vector<double> truth{1, 2, 3}, constant{2, 2, 2}, one{1}, none;
  EXPECT_EQ(concordance(truth, constant), 0);
  EXPECT_EQ(concordance(constant, truth), 0);
  EXPECT_TRUE(std::isnan(correlation(truth, constant)));
  EXPECT_TRUE(std::isnan(concordance(constant, constant)));
  EXPECT_TRUE(std::isnan(concordance(one, one)));
  EXPECT_TRUE(std::isnan(concordance(none, none)));
  EXPECT_THROW(concordance(truth, one), std::invalid_argument);
}

// These are large numbers with a small spread, in which sums of squares would cancel.
TEST(Concordance, DoesNotDependOnTheOriginOfTheNumbers) {
  std::vector<double> truth, predicted, far_truth, far_predicted;
  for (int i = 0; i < 40; ++i) {
    truth.push_back((i % 7) / 8.0);
    predicted.push_back((i % 5) / 16.0 + truth.back() / 2);
    far_truth.push_back(truth.back() + 1048576);
    far_predicted.push_back(predicted.back() + 1048576);
  }
  EXPECT_NEAR(concordance(truth, predicted), concordance(far_truth, far_predicted), 1e-9);
}

TEST(NumberScores, OfASpeakerAloneHaveNoIntervals) {
  NumberPredictions p{{1, 2, 3}, {{1, 1, 9}, {2, 1, 9}, {2, 1, 9}}, {4, 4, 4}};
  const NumberIntervals i = intervals(p);
  EXPECT_TRUE(std::isnan(i.ccc.low));
  EXPECT_TRUE(std::isnan(i.rmse.high));
  const std::vector<double> by_speaker = ccc_by_speaker(p);
  ASSERT_EQ(by_speaker.size(), 5u);
  EXPECT_TRUE(std::isnan(by_speaker[0]));
  EXPECT_DOUBLE_EQ(by_speaker[4], score(p).ccc);
  // A speaker with one recording has no CCC, and the mean over speakers leaves that one out.
  p.speaker = {4, 4, 1};
  EXPECT_DOUBLE_EQ(score(p).mean_ccc_of_speakers, 1);
  EXPECT_THROW(score(NumberPredictions()), std::invalid_argument);
  p.speaker.pop_back();
  EXPECT_THROW(score(p), std::invalid_argument);
}

TEST(NumberScores, DifferencesLeaveTheSameSpeakerOutOfBoth) {
  const NumberPredictions a = predictions_of(by_numpy());
  const Interval none = ccc_difference_interval(a, a);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 0);
  NumberPredictions b = a;
  for (PredictiveT& one : b.predicted) one.mean += 0.5;
  const Interval less = ccc_difference_interval(b, a);
  EXPECT_LT(less.low, score(b).ccc - score(a).ccc);
  EXPECT_GT(less.high, score(b).ccc - score(a).ccc);
  std::swap(b.truth[0], b.truth[1]);
  EXPECT_THROW(ccc_difference_interval(b, a), std::invalid_argument);
}

TEST(PredictiveT, HasTheMomentsAndTheDensityOfStudentsT) {
  const PredictiveT t{2, 3, 4};
  EXPECT_NEAR(t.sd(), 3 * std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(t.log_density(2), std::log(0.375 / 3), 1e-14);  // the density of t with 4 degrees at 0 is 3/8
  EXPECT_TRUE(std::isinf(PredictiveT({0, 1, 2}).sd()));
  const Interval interval = t.interval(0.9);
  EXPECT_NEAR(interval.high - 2, 3 * 2.131846786326649, 1e-12);
  EXPECT_NEAR(interval.low + interval.high, 4, 1e-12);
  EXPECT_THROW(t.interval(1), std::invalid_argument);
}

}  // namespace
}  // namespace emomc
