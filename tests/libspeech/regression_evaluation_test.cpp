#include "emomc/speech/regression_evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "emomc/core/errors.hpp"
#include "ridge_posterior.hpp"
#include "thread_ranks.hpp"

namespace emomc {
namespace {

using nlohmann::json;

const SoftmaxReport kNoReport = [](const auto&...) {};

// Returns values that tests/libspeech/data/make_regression.py computes by scikit-learn, NumPy and SciPy.
json outside() {
  std::ifstream file(EMOMC_SOURCE_DIR "/tests/libspeech/data/regression.json");
  return json::parse(file);
}

RegressionCorpus corpus_of(const json& given) {
  RegressionCorpus corpus;
  for (std::size_t j = 0; j < given["table"][0].size(); ++j)
    corpus.table.columns.push_back("x" + std::to_string(j));
  for (std::size_t i = 0; i < given["table"].size(); ++i) {
    const std::string speaker = given["speakers"][i];
    corpus.table.rows.push_back({"u" + std::to_string(100 + i), speaker, ""});
    corpus.speaker_of.push_back(speaker[0] - 'A');
    for (const double x : given["table"][i]) corpus.table.values.push_back(x);
    for (const double x : given["numbers"][i]) corpus.truth.push_back(x);
  }
  corpus.num_speakers = 4;
  corpus.dimensions = {"arousal", "valence"};
  return corpus;
}

std::vector<std::vector<int>> each_speaker(const RegressionCorpus& corpus) {
  std::vector<std::vector<int>> tests;
  for (int s = 0; s < corpus.num_speakers; ++s) tests.push_back({s});
  return tests;
}

std::vector<RegressionFold> evaluated(const RegressionCorpus& corpus, const RegressionSettings& settings = {},
                                      int threads = 1) {
  return evaluate_regression(corpus, each_speaker(corpus), settings, threads, kNoReport);
}

// Returns a corpus of speakers with offsets and scales of their own. The first number depends on three
// columns, and the second one on none.
RegressionCorpus synthetic_numbers(unsigned seed, int speakers = 6, int takes = 12, int columns = 20) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  RegressionCorpus corpus;
  corpus.num_speakers = speakers;
  corpus.dimensions = {"arousal", "valence"};
  for (int j = 0; j < columns; ++j) corpus.table.columns.push_back("x" + std::to_string(j));
  for (int s = 0; s < speakers; ++s) {
    const double offset = 4 * normal(random), scale = std::exp(0.3 * normal(random));
    for (int t = 0; t < takes; ++t) {
      corpus.table.rows.push_back({"u" + std::to_string(100 * s + t), "s" + std::to_string(s), ""});
      corpus.speaker_of.push_back(s);
      double first = 3;
      for (int j = 0; j < columns; ++j) {
        const double z = normal(random);
        if (j < 3) first += z;
        corpus.table.values.push_back(offset + scale * z);
      }
      corpus.truth.push_back(first + 0.3 * normal(random));
      corpus.truth.push_back(normal(random));
    }
  }
  return corpus;
}

NumberPredictions pooled(const RegressionCorpus& corpus, const std::vector<RegressionFold>& folds,
                         std::size_t dimension, SpeakerKnowledge knowledge = SpeakerKnowledge::own) {
  NumberPredictions all;
  for (const RegressionFold& fold : folds)
    for (std::size_t i = 0; i < fold.rows.size(); ++i) {
      all.truth.push_back(corpus.truth[2 * fold.rows[i] + dimension]);
      all.speaker.push_back(corpus.speaker_of[fold.rows[i]]);
      all.predicted.push_back(
          fold.dimensions[dimension].known[static_cast<std::size_t>(knowledge)].of_row[i]);
    }
  return all;
}

void expect_equal(const PredictiveT& a, const PredictiveT& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.freedom, b.freedom);
}

void expect_equal(const RegressionFold& a, const RegressionFold& b) {
  EXPECT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.dimensions.size(), b.dimensions.size());
  for (std::size_t d = 0; d < a.dimensions.size(); ++d) {
    EXPECT_EQ(a.dimensions[d].prior_sd, b.dimensions[d].prior_sd);
    for (std::size_t k = 0; k < kNumKnowledge; ++k) {
      const RegressionPredictions &one = a.dimensions[d].known[k], &other = b.dimensions[d].known[k];
      EXPECT_EQ(one.factor, other.factor);
      EXPECT_EQ(one.inner_log_density, other.inner_log_density);
      ASSERT_EQ(one.of_row.size(), other.of_row.size());
      for (std::size_t i = 0; i < one.of_row.size(); ++i) expect_equal(one.of_row[i], other.of_row[i]);
    }
  }
}

// The data have 30 columns of 21 training recordings, and there are four prior sds.
TEST(RegressionEvaluation, HasThePredictiveDistributionsOfScikitLearnAndNumPy) {
  const json given = outside();
  const RegressionCorpus corpus = corpus_of(given);
  for (std::size_t s = 0; s < 4; ++s) {
    RegressionSettings settings;
    settings.prior_sds = {given["folds"][0]["plain"][0][s]["sd"].get<double>()};
    settings.sd_factor = 1;
    const auto folds = evaluated(corpus, settings);
    for (std::size_t f = 0; f < 4; ++f)
      for (std::size_t d = 0; d < 2; ++d) {
        const json& wanted = given["folds"][f]["plain"][d][s];
        const RegressionPredictions& own = folds[f].dimensions[d].known[0];
        EXPECT_TRUE(std::isnan(own.inner_log_density));
        ASSERT_EQ(own.of_row.size(), 7u);
        for (std::size_t i = 0; i < 7; ++i) {
          const PredictiveT& one = own.of_row[i];
          EXPECT_NEAR(one.mean, wanted["mean"][i].get<double>(), 1e-9);
          EXPECT_NEAR(one.scale, wanted["scale"][i].get<double>(), 1e-9);
          EXPECT_EQ(one.freedom, 20);
          EXPECT_NEAR(one.interval(0.9).low, wanted["low"][i].get<double>(), 1e-9);
          EXPECT_NEAR(one.log_density(corpus.truth[2 * folds[f].rows[i] + d]),
                      wanted["log_density"][i].get<double>(), 1e-9);
        }
      }
  }
}

TEST(RegressionEvaluation, ChoosesThePriorAndTheFactorThatSciPyFinds) {
  const json given = outside();
  RegressionSettings settings;
  settings.prior_sds = {8, 0.1, 2, 0.5};  // the order of prior_sds has no effect
  const auto folds = evaluated(corpus_of(given), settings);
  for (std::size_t f = 0; f < 4; ++f)
    for (std::size_t d = 0; d < 2; ++d) {
      const json& wanted = given["folds"][f]["chosen"][d];
      const RegressionFold::Dimension& found = folds[f].dimensions[d];
      EXPECT_EQ(found.prior_sd, wanted["sd"].get<double>());
      EXPECT_NEAR(found.known[0].factor, wanted["factor"].get<double>(), 1e-4);  // the maximum is flat
      EXPECT_NEAR(found.known[0].inner_log_density, wanted["log_density"].get<double>(), 1e-8);
    }
}

TEST(RegressionEvaluation, PredictsWhatFunctionalsExplainAndNothingElse) {
  const RegressionCorpus corpus = synthetic_numbers(3);
  const auto folds = evaluated(corpus);
  EXPECT_GT(score(pooled(corpus, folds, 0)).ccc, 0.8);
  EXPECT_LT(std::abs(score(pooled(corpus, folds, 1)).ccc), 0.25);
  // The less is known about a speaker, the less certain are the predictions for the speaker's recordings.
  const double own = score(pooled(corpus, folds, 0)).log_density,
               five = score(pooled(corpus, folds, 0, SpeakerKnowledge::five)).log_density,
               none = score(pooled(corpus, folds, 0, SpeakerKnowledge::corpus)).log_density;
  EXPECT_GT(own, five);
  EXPECT_GT(five, none);
  // The intervals are wide enough: with the factor of known speakers they would be too narrow. A count of 72
  // is this small with probability 1e-6 if each interval has 90 %.
  for (const SpeakerKnowledge known :
       {SpeakerKnowledge::own, SpeakerKnowledge::five, SpeakerKnowledge::one, SpeakerKnowledge::corpus})
    EXPECT_GT(coverage(pooled(corpus, folds, 0, known), 0.9), 0.9 - 4.9 * std::sqrt(0.09 / 72))
        << knowledge_name(known);
}

TEST(RegressionEvaluation, DoesNotDependOnTheNumbersOfTestSpeakers) {
  const RegressionCorpus corpus = synthetic_numbers(5);
  RegressionCorpus other = corpus;
  for (std::size_t row = 0; row < corpus.speaker_of.size(); ++row)
    if (corpus.speaker_of[row] == 2) {
      other.truth[2 * row] = 100 - other.truth[2 * row];
      other.truth[2 * row + 1] = 7;
    }
  const auto folds = evaluated(corpus), others = evaluated(other);
  expect_equal(folds[2], others[2]);
  EXPECT_NE(folds[1].dimensions[0].known[0].of_row[0].mean, others[1].dimensions[0].known[0].of_row[0].mean);
}

TEST(RegressionEvaluation, DoesNotDependOnTheOrderOfRowsOrOnThreads) {
  const RegressionCorpus corpus = synthetic_numbers(7);
  const std::size_t n = corpus.speaker_of.size(), stride = corpus.table.columns.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(1);
  std::shuffle(order.begin(), order.end(), random);
  RegressionCorpus shuffled = corpus;
  for (std::size_t i = 0; i < n; ++i) {
    shuffled.table.rows[i] = corpus.table.rows[order[i]];
    shuffled.speaker_of[i] = corpus.speaker_of[order[i]];
    std::copy_n(corpus.table.values.begin() + static_cast<std::ptrdiff_t>(order[i] * stride), stride,
                shuffled.table.values.begin() + static_cast<std::ptrdiff_t>(i * stride));
    std::copy_n(corpus.truth.begin() + static_cast<std::ptrdiff_t>(order[i] * 2), 2,
                shuffled.truth.begin() + static_cast<std::ptrdiff_t>(i * 2));
  }
  const auto folds = evaluated(corpus), others = evaluated(shuffled, {}, 3);
  for (std::size_t f = 0; f < folds.size(); ++f)
    for (std::size_t i = 0; i < folds[f].rows.size(); ++i) {
      const auto at = std::find(order.begin(), order.end(), folds[f].rows[i]) - order.begin();
      const auto place = std::find(others[f].rows.begin(), others[f].rows.end(), at) - others[f].rows.begin();
      for (std::size_t d = 0; d < 2; ++d)
        for (std::size_t k = 0; k < kNumKnowledge; ++k)
          expect_equal(folds[f].dimensions[d].known[k].of_row[i],
                       others[f].dimensions[d].known[k].of_row[static_cast<std::size_t>(place)]);
    }
}

TEST(RegressionEvaluation, IsTheSameOnSeveralRanks) {
  const RegressionCorpus corpus = synthetic_numbers(9, 5, 8);
  const auto folds = evaluated(corpus);
  const Regressor alone = train_regression(corpus, {}, 1, kNoReport);
  testing::on_ranks(3, [&](Communicator& ranks) {
    const auto mine = evaluate_regression(corpus, each_speaker(corpus), {}, 1, kNoReport, ranks);
    for (std::size_t f = 0; f < folds.size(); ++f) expect_equal(folds[f], mine[f]);
    const Regressor trained = train_regression(corpus, {}, 1, kNoReport, ranks);
    EXPECT_EQ(trained.dimensions[0].weights, alone.dimensions[0].weights);
    EXPECT_EQ(trained.dimensions[1].factors[3].factor, alone.dimensions[1].factors[3].factor);
  });
}

// The numbers are permuted over all recordings. The 20 mean CCCs, each of about 72 pairs whose predictions
// hardly vary, have a standard deviation below 1 / sqrt(72). Their mean is therefore bounded by 4.9 times
// this over sqrt(20), with a false-alarm rate of 1e-6.
TEST(RegressionEvaluation, FindsNothingInPermutedNumbers) {
  double sum = 0;
  constexpr int kTimes = 20;
  for (unsigned i = 0; i < kTimes; ++i) {
    RegressionCorpus corpus = synthetic_numbers(21);
    std::mt19937_64 random(i);
    std::vector<std::size_t> order(corpus.speaker_of.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<double> truth = corpus.truth;
    for (std::size_t row = 0; row < order.size(); ++row) corpus.truth[2 * row] = truth[2 * order[row]];
    sum += score(pooled(corpus, evaluated(corpus), 0)).ccc;
  }
  EXPECT_LT(std::abs(sum / kTimes), 4.9 / std::sqrt(72.0 * kTimes));
}

// Rows, weights and noise follow the model. The predictive distribution is then exact, whatever b and sigma
// are, and each of 4,000 data sets gives one independent trial. A binomial count is outside these bounds with
// probability 1e-6.
TEST(RidgePosterior, IntervalsHaveTheirProbability) {
  constexpr int kSets = 4000, kRows = 9, kColumns = 12;
  constexpr double kSd = 1.7;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  int inside_90 = 0, inside_50 = 0;
  for (int set = 0; set < kSets; ++set) {
    const double sigma = 0.2 + set % 5, b = 100 * (set % 3);
    Eigen::MatrixXd x(kRows + 1, kColumns), y(kRows + 1, 1);
    Eigen::VectorXd w(kColumns);
    for (Eigen::Index j = 0; j < kColumns; ++j) w(j) = kSd * sigma * normal(random);
    for (Eigen::Index i = 0; i <= kRows; ++i) {
      for (Eigen::Index j = 0; j < kColumns; ++j) x(i, j) = normal(random) / 3 + 0.5;
      y(i, 0) = b + x.row(i).dot(w) + sigma * normal(random);
    }
    const RidgePosterior posterior(x.topRows(kRows), y.topRows(kRows));
    const PredictiveT one = posterior.predict(posterior.turned(x.bottomRows(1)), 0, kSd)[0];
    const auto is_inside = [&](double level) {
      const Interval interval = one.interval(level);
      return interval.low <= y(kRows, 0) && y(kRows, 0) <= interval.high;
    };
    inside_90 += is_inside(0.9);
    inside_50 += is_inside(0.5);
  }
  EXPECT_NEAR(inside_90, 0.9 * kSets, 4.9 * std::sqrt(0.09 * kSets));
  EXPECT_NEAR(inside_50, 0.5 * kSets, 4.9 * std::sqrt(0.25 * kSets));
}

// The test predicts one new speaker's recording of each of 500 corpora, through the whole evaluation with the
// true prior.
TEST(RegressionEvaluation, IntervalsOfNewSpeakersHaveTheirProbability) {
  constexpr int kCorpora = 500, kSpeakers = 4, kTakes = 5, kColumns = 6;
  std::mt19937_64 random(77);
  std::normal_distribution<double> normal;
  RegressionSettings settings;
  settings.prior_sds = {1.5};
  settings.sd_factor = 1;
  int inside = 0;
  for (int c = 0; c < kCorpora; ++c) {
    RegressionCorpus corpus = synthetic_numbers(static_cast<unsigned>(c), kSpeakers, kTakes, kColumns);
    corpus.dimensions = {"arousal"};
    corpus.truth.clear();
    FunctionalTable standardised = corpus.table;
    standardize_by_speaker(standardised);
    std::vector<double> w(kColumns);
    for (double& x : w) x = 1.5 * normal(random) / std::sqrt(double{kColumns});
    for (std::size_t row = 0; row < corpus.speaker_of.size(); ++row) {
      double y = 4 + normal(random);
      for (std::size_t j = 0; j < kColumns; ++j) y += w[j] * standardised.values[row * kColumns + j];
      corpus.truth.push_back(y);
    }
    const auto folds = evaluate_regression(corpus, {{c % kSpeakers}}, settings, 1, kNoReport);
    const Interval interval = folds[0].dimensions[0].known[0].of_row[0].interval(0.9);
    const double truth = corpus.truth[folds[0].rows[0]];
    inside += interval.low <= truth && truth <= interval.high;
  }
  EXPECT_NEAR(inside, 0.9 * kCorpora, 4.9 * std::sqrt(0.09 * kCorpora));
}

// A speaker whom training left out has the predictive distributions of an evaluation. The part of a row
// outside of the training rows' directions has the variance of the prior in both.
TEST(Regressor, PredictsANewSpeakerAsAnEvaluationDoes) {
  const RegressionCorpus corpus = synthetic_numbers(11, 5, 12, 90);
  RegressionCorpus others = corpus;
  const std::size_t kept = 48, stride = corpus.table.columns.size();
  others.table.rows.resize(kept);
  others.table.values.resize(kept * stride);
  others.speaker_of.resize(kept);
  others.truth.resize(2 * kept);
  others.num_speakers = 4;
  const Regressor regressor = train_regression(others, {}, 1, kNoReport);
  EXPECT_EQ(regressor.num_rows, 48u);
  FunctionalTable own{corpus.table.columns, {}, {}, {}};
  own.rows.assign(corpus.table.rows.begin() + kept, corpus.table.rows.end());
  own.values.assign(corpus.table.values.begin() + kept * stride, corpus.table.values.end());
  standardize_by_speaker(own);
  // The fold's inner speakers are those of the training: all four.
  const auto folds = evaluate_regression(corpus, {{4}}, {}, 1, kNoReport);
  for (std::size_t i = 0; i < own.rows.size(); ++i) {
    const auto begin = own.values.begin() + static_cast<std::ptrdiff_t>(i * stride);
    const auto predicted = predict_numbers(regressor, {begin, begin + static_cast<std::ptrdiff_t>(stride)},
                                           SpeakerKnowledge::own);
    for (std::size_t d = 0; d < 2; ++d) {
      const PredictiveT& wanted = folds[0].dimensions[d].known[0].of_row[i];
      EXPECT_NEAR(predicted[d].mean, wanted.mean, 1e-9);
      // The factor is a minimum that a search finds, and the functions of the two searches differ by
      // rounding.
      const double factor = regressor.dimensions[d].factors[0].factor;
      EXPECT_NEAR(predicted[d].scale / factor, wanted.scale / folds[0].dimensions[d].known[0].factor, 1e-9);
      EXPECT_NEAR(factor, folds[0].dimensions[d].known[0].factor, 1e-4);
      EXPECT_EQ(predicted[d].freedom, 47);
    }
  }
  EXPECT_THROW(predict_numbers(regressor, {1, 2}, SpeakerKnowledge::own), std::invalid_argument);
}

void expect_refused(const RegressionCorpus& corpus, const std::vector<std::vector<int>>& tests,
                    const RegressionSettings& settings, const std::string& why) {
  try {
    evaluate_regression(corpus, tests, settings, 1, kNoReport);
    ADD_FAILURE() << "accepted; expected: " << why;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(RegressionEvaluation, RefusesWhatNothingCanBeLearnedFrom) {
  RegressionCorpus corpus = synthetic_numbers(13, 3, 4);
  RegressionSettings given;
  given.prior_sds = {1};
  given.sd_factor = 1;
  expect_refused(corpus, {{0, 1}}, {}, "fewer than two training speakers");
  EXPECT_EQ(evaluate_regression(corpus, {{0, 1}}, given, 1, kNoReport)[0].rows.size(), 8u);
  expect_refused(synthetic_numbers(13, 3, 3), {{0, 1}}, given, "3 recordings train a fold");
  for (std::size_t row = 0; row < 8; ++row) corpus.truth[2 * row + 1] = 5;
  expect_refused(corpus, {{2}}, given, "the same valence");
  corpus.truth[0] = NAN;
  EXPECT_THROW(evaluate_regression(corpus, {{2}}, given, 1, kNoReport), std::invalid_argument);
}

}  // namespace
}  // namespace emomc
