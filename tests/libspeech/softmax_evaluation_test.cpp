#include "emomc/speech/softmax_evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "rotated_rows.hpp"
#include "softmax_prediction.hpp"
#include "synthetic_corpus.hpp"

namespace emomc {
namespace {

using testing::quick_horseshoe;
using testing::quick_settings;
using testing::synthetic_corpus;

std::vector<std::vector<int>> each_speaker(const SoftmaxCorpus& corpus) {
  std::vector<std::vector<int>> tests;
  for (int s = 0; s < corpus.num_speakers; ++s) tests.push_back({s});
  return tests;
}

std::vector<SoftmaxFold> evaluated(const SoftmaxCorpus& corpus, int threads = 1) {
  return evaluate_softmax(corpus, each_speaker(corpus), quick_settings(), threads, [](const auto&...) {});
}

double accuracy(const SoftmaxCorpus& corpus, const std::vector<SoftmaxFold>& folds) {
  double right = 0, all = 0;
  for (const SoftmaxFold& fold : folds)
    for (std::size_t i = 0; i < fold.rows.size(); ++i) {
      const auto first = fold.posterior.log_probability.begin() + static_cast<std::ptrdiff_t>(3 * i);
      right += std::max_element(first, first + 3) - first == corpus.class_of[fold.rows[i]];
      ++all;
    }
  return right / all;
}

TEST(SoftmaxEvaluation, TellsClassesOfNewSpeakersApart) {
  const SoftmaxCorpus corpus = synthetic_corpus();
  const auto folds = evaluated(corpus);
  EXPECT_GT(accuracy(corpus, folds), 0.9);
  std::vector<std::size_t> rows;
  for (const SoftmaxFold& fold : folds) {
    rows.insert(rows.end(), fold.rows.begin(), fold.rows.end());
    ASSERT_EQ(fold.draw_log_probability.size(), fold.prior_sds.size());
    for (std::size_t i = 0; i < fold.rows.size(); ++i) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += std::exp(fold.posterior.log_probability[3 * i + k]);
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    EXPECT_LT(fold.posterior.inner_log_loss, std::log(3.0) / 2);
  }
  std::sort(rows.begin(), rows.end());
  std::vector<std::size_t> all(corpus.table.rows.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(rows, all);
}

double log_loss(const SoftmaxCorpus& corpus, const SoftmaxPredictions& predictions,
                const std::vector<std::size_t>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    sum -= predictions.log_probability[3 * i + static_cast<std::size_t>(corpus.class_of[rows[i]])];
  return sum / static_cast<double>(rows.size());
}

// Only two of 30 columns tell the classes apart.
TEST(SoftmaxEvaluation, TellsClassesApartByTheHorseshoe) {
  const SoftmaxCorpus corpus = synthetic_corpus(5, 6, 2);
  const auto tests = each_speaker(corpus);
  const auto run = [&](const SoftmaxSettings& settings, int threads) {
    return evaluate_softmax(corpus, tests, settings, threads, [](const auto&...) {});
  };
  const auto horseshoe = run(quick_horseshoe(), 1), again = run(quick_horseshoe(), 3),
             ridge = run(quick_settings(), 1);
  double loss = 0, of_ridge = 0;
  for (std::size_t f = 0; f < tests.size(); ++f) {
    loss += log_loss(corpus, horseshoe[f].posterior, horseshoe[f].rows) / 5;
    of_ridge += log_loss(corpus, ridge[f].posterior, ridge[f].rows) / 5;
    EXPECT_EQ(horseshoe[f].posterior.log_probability, again[f].posterior.log_probability);
    // The penalised fit equals that of the ridge, whose rows are rotated.
    EXPECT_EQ(horseshoe[f].prior_sd, ridge[f].prior_sd);
    for (std::size_t i = 0; i < ridge[f].penalised.log_probability.size(); ++i)
      EXPECT_NEAR(horseshoe[f].penalised.log_probability[i], ridge[f].penalised.log_probability[i], 1e-3);
    for (const SoftmaxPredictions& less : horseshoe[f].less_known)
      EXPECT_GT(log_loss(corpus, less, horseshoe[f].rows), 0);
  }
  EXPECT_LT(loss, of_ridge - 0.05);
}

// Each posterior in the average has draws of its own, and agrees with an evaluation with its prior sd alone.
// The mean of 800 probabilities whose sd is 0.3 has a standard error below 0.03 with 100 effective draws or
// more, and the difference of two such means one below 0.042.
TEST(SoftmaxEvaluation, AveragesOverPriorSds) {
  const SoftmaxCorpus corpus = synthetic_corpus(5, 6, 1);
  const auto tests = each_speaker(corpus);
  SoftmaxSettings settings = quick_settings();
  settings.prior_sds = {1.5, 6, 0.01};
  settings.temperature = 0.25;
  settings.temper = 1;
  settings.draws = 400;
  const auto evaluated_with = [&](const std::vector<double>& sds) {
    SoftmaxSettings other = settings;
    other.prior_sds = sds;
    return evaluate_softmax(corpus, tests, other, 1, [](const auto&...) {});
  };
  const auto folds = evaluated_with(settings.prior_sds);
  std::map<double, std::vector<SoftmaxFold>> alone;
  for (const double sd : {1.5, 6.0}) alone[sd] = evaluated_with({sd});
  int averages = 0;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const SoftmaxFold& fold = folds[f];
    averages += fold.prior_sds.size() > 1;
    const std::size_t pairs = fold.rows.size() * 3;
    std::vector<double> mixed(pairs, 0.0), square(pairs, 0.0);
    double sum = 0, acceptance = 0;
    for (std::size_t i = 0; i < fold.prior_sds.size(); ++i) {
      const auto [sd, weight] = fold.prior_sds[i];
      // With the prior sd 0.01, predictions are hardly better than chance, so that the weight is below
      // kLeastPosteriorWeight.
      ASSERT_NE(sd, 0.01);
      sum += weight;
      const std::vector<double>& drawn = fold.draw_log_probability[i];
      constexpr std::size_t draws = 2 * 400;
      ASSERT_EQ(drawn.size(), pairs * draws);
      const SoftmaxFold& other = alone.at(sd).at(f);
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        double mean = 0, mean_square = 0;
        for (std::size_t d = 0; d < draws; ++d) {
          const double p = std::exp(drawn[pair * draws + d]) / static_cast<double>(draws);
          mean += p;
          mean_square += p * p * static_cast<double>(draws);
        }
        EXPECT_NEAR(mean, std::exp(other.posterior.log_probability[pair]), 0.1) << sd << " " << pair;
        mixed[pair] += weight * mean;
        square[pair] += weight * mean_square;
      }
      acceptance += weight * other.acceptance;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_NEAR(fold.acceptance, acceptance, 0.1);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      EXPECT_NEAR(std::exp(fold.posterior.log_probability[pair]), mixed[pair], 1e-12);
      EXPECT_NEAR(fold.probability_sd[pair], std::sqrt(square[pair] - mixed[pair] * mixed[pair]), 1e-7);
    }
  }
  EXPECT_GE(averages, 2);
  // The posteriors differ by more than the tolerance above.
  double most = 0;
  for (std::size_t i = 0; i < folds[0].posterior.log_probability.size(); ++i)
    most = std::max(most, std::abs(std::exp(alone[1.5][0].posterior.log_probability[i]) -
                                   std::exp(alone[6.0][0].posterior.log_probability[i])));
  EXPECT_GT(most, 0.2);
}

TEST(SoftmaxEvaluation, HorseshoeTakesTwoHundredColumns) {
  SoftmaxCorpus corpus = synthetic_corpus();
  const auto widen = [&](int columns) {
    SoftmaxCorpus wide = corpus;
    wide.table.columns.clear();
    wide.table.values.clear();
    for (int j = 0; j < columns; ++j) wide.table.columns.push_back("x" + std::to_string(j));
    for (std::size_t row = 0; row < corpus.table.rows.size(); ++row)
      for (int j = 0; j < columns; ++j)
        wide.table.values.push_back(corpus.table.values[30 * row + static_cast<std::size_t>(j % 30)]);
    return wide;
  };
  SoftmaxSettings settings = quick_horseshoe();
  settings.temper = 1;
  settings.prior_sds = {4};
  settings.warmup = settings.draws = 10;
  EXPECT_EQ(evaluate_softmax(widen(200), {{0}}, settings, 1, [](const auto&...) {}).size(), 1u);
  try {
    evaluate_softmax(widen(201), {{0}}, settings, 1, [](const auto&...) {});
    FAIL();
  } catch (const InputError& error) {
    for (const char* word : {"softmax.prior", "200", "201"})
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

// The classes do not differ: the accuracy of 90 recordings has a standard error of 0.05 around 1/3.
TEST(SoftmaxEvaluation, FindsNothingWhereThereIsNothing) {
  const SoftmaxCorpus corpus = synthetic_corpus(5, 6, 0);
  const auto folds = evaluated(corpus);
  EXPECT_NEAR(accuracy(corpus, folds), 1.0 / 3, 0.25);
  for (const SoftmaxFold& fold : folds) EXPECT_GT(fold.posterior.inner_log_loss, 0.9);
}

TEST(SoftmaxEvaluation, DoesNotDependOnTheTestSpeakersLabels) {
  SoftmaxCorpus corpus = synthetic_corpus();
  const auto before = evaluated(corpus);
  for (std::size_t row = 0; row < corpus.table.rows.size(); ++row)
    if (corpus.speaker_of[row] == 2)
      corpus.class_of[row] = (corpus.class_of[row] + 1 + static_cast<int>(row) % 2) % 3;
  const auto after = evaluated(corpus);
  EXPECT_EQ(before[2].posterior.log_probability, after[2].posterior.log_probability);
  EXPECT_EQ(before[2].penalised.log_probability, after[2].penalised.log_probability);
  EXPECT_EQ(before[2].probability_sd, after[2].probability_sd);
  EXPECT_NE(before[1].posterior.log_probability, after[1].posterior.log_probability);
}

TEST(SoftmaxEvaluation, DoesNotDependOnThreadsOrTheOrderOfRows) {
  const SoftmaxCorpus corpus = synthetic_corpus();
  const auto one = evaluated(corpus, 1), three = evaluated(corpus, 3);
  SoftmaxCorpus turned = corpus;
  const std::size_t n = corpus.table.rows.size();
  for (std::size_t row = 0; row < n; ++row) {
    turned.table.rows[row] = corpus.table.rows[n - 1 - row];
    turned.class_of[row] = corpus.class_of[n - 1 - row];
    turned.speaker_of[row] = corpus.speaker_of[n - 1 - row];
    std::copy_n(corpus.table.values.begin() + static_cast<std::ptrdiff_t>(30 * (n - 1 - row)), 30,
                turned.table.values.begin() + static_cast<std::ptrdiff_t>(30 * row));
  }
  const auto backwards = evaluated(turned);
  for (std::size_t f = 0; f < one.size(); ++f) {
    EXPECT_EQ(one[f].posterior.log_probability, three[f].posterior.log_probability);
    const std::size_t last = one[f].rows.size() - 1;
    for (std::size_t i = 0; i <= last; ++i)
      for (int k = 0; k < 3; ++k)
        EXPECT_EQ(one[f].posterior.log_probability[3 * i + k],
                  backwards[f].posterior.log_probability[3 * (last - i) + k]);
  }
}

TEST(SoftmaxEvaluation, RefusesWhatCannotBeChosenOrLearned) {
  const SoftmaxCorpus two = synthetic_corpus(2);
  EXPECT_THROW(evaluated(two), InputError);
  SoftmaxSettings given = quick_settings();
  given.temper = 1;
  given.prior_sds = {4};
  const auto folds = evaluate_softmax(two, each_speaker(two), given, 1, [](const auto&...) {});
  EXPECT_TRUE(std::isnan(folds[0].posterior.inner_log_loss));
  EXPECT_GT(accuracy(two, folds), 0.6);  // from 18 training rows of 30 columns; chance is 1/3
  SoftmaxCorpus missing = synthetic_corpus(3);
  for (std::size_t row = 0; row < missing.table.rows.size(); ++row)
    if (missing.speaker_of[row] != 0 && missing.class_of[row] == 2) missing.class_of[row] = 1;
  EXPECT_THROW(evaluated(missing), InputError);
}

TEST(FunctionalTable, IsStandardizedBySpeaker) {
  const double nan = std::nan("");
  FunctionalTable table{{"a", "b", "c"},
                        {{"1", "x", "e"}, {"2", "x", "f"}, {"3", "y", "e"}, {"4", "y", "f"}},
                        {1, 5, nan, 3, 5, 2, 10, nan, nan, 30, 7, nan},
                        {}};
  standardize_by_speaker(table);
  EXPECT_EQ(table.values, (std::vector<double>{-1, 0, 0, 1, 0, 0, -1, 0, 0, 1, 0, 0}));
}

TEST(FunctionalTable, IsWrittenAsCsv) {
  const FunctionalTable table{{"a", "b,c"}, {{"u 1", "x", "e\"f"}}, {0.1, std::nan("")}, {}};
  EXPECT_EQ(functional_table_csv(table), "utterance,speaker,emotion,a,\"b,c\"\nu 1,x,\"e\"\"f\",0.1,\n");
}

// With a Gaussian prior, predictions depend only on the inner products of rows.
TEST(RotatedRows, HaveTheInnerProductsOfTheTable) {
  SoftmaxCorpus corpus = synthetic_corpus(2, 3);
  standardize_by_speaker(corpus.table);
  const Eigen::MatrixXd x = rotated_rows(corpus.table).x;
  const auto n = static_cast<Eigen::Index>(corpus.table.rows.size());
  ASSERT_EQ(x.rows(), n);
  ASSERT_LE(x.cols(), n);
  for (Eigen::Index a = 0; a < n; ++a)
    for (Eigen::Index b = 0; b < n; ++b) {
      double sum = 0;
      for (int j = 0; j < 30; ++j)
        sum += corpus.table.values[30 * a + j] * corpus.table.values[30 * b + j] / 30;
      EXPECT_NEAR(x.row(a).dot(x.row(b)), sum + 1, 1e-10);  // the column of the intercept adds 1
    }
}

TEST(SoftmaxPrediction, AveragesProbabilitiesOverDraws) {
  const std::vector<Eigen::MatrixXd> draws{Eigen::MatrixXd{{0, std::log(3.0)}}, Eigen::MatrixXd{{900, 0}},
                                           Eigen::MatrixXd{{0, 0}}};
  const Eigen::MatrixXd mean = averaged_log_probability(draws);
  EXPECT_NEAR(std::exp(mean(0, 0)), (0.25 + 1 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(std::exp(mean(0, 1)), (0.75 + 0 + 0.5) / 3, 1e-12);
}

TEST(SoftmaxPrediction, MixesProbabilitiesByWeights) {
  const Eigen::MatrixXd one{{std::log(0.25), std::log(0.75)}, {-2000, 0}},
      other{{std::log(0.5), std::log(0.5)}, {-2000 - std::log(4.0), -1000}};
  const Eigen::MatrixXd mixed = mixed_log_probability({one, other}, {0.2, 0.8});
  EXPECT_NEAR(mixed(0, 0), std::log(0.2 * 0.25 + 0.8 * 0.5), 1e-12);
  EXPECT_NEAR(mixed(0, 1), std::log(0.2 * 0.75 + 0.8 * 0.5), 1e-12);
  EXPECT_NEAR(mixed(1, 0), -2000 + std::log(0.2 + 0.8 / 4), 1e-9);
  EXPECT_NEAR(mixed(1, 1), std::log(0.2), 1e-12);
  EXPECT_EQ(mixed_log_probability({one}, {1}), one);
}

// For logits of +- a with a share q of right rows, the best temper gives probability q.
TEST(SoftmaxPrediction, TemperMakesProbabilitiesThoseThatOccur) {
  LabelledRows rows{Eigen::MatrixXd::Zero(10, 2), {}, {}};
  rows.log_probability.col(0).setConstant(5);
  for (int i = 0; i < 10; ++i) rows.truth.push_back(i < 8 ? 0 : 1);
  const ChosenTemper chosen = choose_temper({rows}, {});
  EXPECT_NEAR(chosen.temper, std::log(4.0) / 5, 1e-4);
  EXPECT_NEAR(chosen.log_loss, -0.8 * std::log(0.8) - 0.2 * std::log(0.2), 1e-8);
  EXPECT_THROW(choose_temper({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace emomc
