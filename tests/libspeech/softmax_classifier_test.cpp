#include "emomc/speech/softmax_classifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "synthetic_corpus.hpp"

namespace emomc {
namespace {

using testing::quick_settings;
using testing::synthetic_corpus;

constexpr std::size_t kColumns = 30;

SoftmaxSettings settings_for_training() {
  SoftmaxSettings settings = quick_settings();
  settings.draws = 400;
  settings.inner_draws = 100;
  settings.temperature = 0.25;
  return settings;
}

// The posterior of the horseshoe is wider, and its draws are less independent, so that there are more of
// them.
SoftmaxSettings horseshoe_for_training() {
  SoftmaxSettings settings = testing::quick_horseshoe();
  settings.warmup = 300;
  settings.draws = 1000;
  return settings;
}

// Returns the corpus without the last speaker.
SoftmaxCorpus training_part(const SoftmaxCorpus& corpus) {
  SoftmaxCorpus part;
  part.table.columns = corpus.table.columns;
  part.num_classes = corpus.num_classes;
  part.num_speakers = corpus.num_speakers - 1;
  for (std::size_t row = 0; row < corpus.table.rows.size(); ++row) {
    if (corpus.speaker_of[row] == corpus.num_speakers - 1) continue;
    part.table.rows.push_back(corpus.table.rows[row]);
    const auto begin = corpus.table.values.begin() + static_cast<std::ptrdiff_t>(row * kColumns);
    part.table.values.insert(part.table.values.end(), begin, begin + kColumns);
    part.class_of.push_back(corpus.class_of[row]);
    part.speaker_of.push_back(corpus.speaker_of[row]);
  }
  return part;
}

SoftmaxTraining trained(const SoftmaxCorpus& corpus, const SoftmaxSettings& settings, int threads = 1) {
  return train_softmax(corpus, settings, threads, [](const auto&...) {});
}

std::vector<double> row_of(const FunctionalTable& table, std::size_t row) {
  const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(row * kColumns);
  return {begin, begin + kColumns};
}

// A classifier that is trained on four speakers must predict the fifth one as an evaluation does that leaves
// this speaker out, although the evaluation has rotated the rows of all five together. Draws differ: a mean
// probability of 400 effective draws has a standard error of at most 0.025, and the temper has a standard
// error of its own.
void expect_what_an_evaluation_does(SoftmaxSettings settings, double tolerance) {
  const SoftmaxCorpus corpus = synthetic_corpus(5, 6, 2);
  settings.temper = 1;
  settings.prior_sds = {4};
  const SoftmaxFold fold = evaluate_softmax(corpus, {{4}}, settings, 1, [](const auto&...) {})[0];
  const SoftmaxClassifier classifier = trained(training_part(corpus), settings).classifier;
  EXPECT_EQ(classifier.num_draws, 400u);
  EXPECT_EQ(classifier.rank, std::min<std::size_t>(kColumns, 4 * 18 - 4));
  FunctionalTable own = corpus.table;
  standardize_by_speaker(own);
  double most_less = 0;
  for (std::size_t i = 0; i < fold.rows.size(); ++i) {
    const ClassProbabilities p =
        class_probabilities(classifier, row_of(own, fold.rows[i]), SpeakerKnowledge::own, 0);
    std::vector<double> unknown = row_of(corpus.table, fold.rows[i]);
    standardize_by_enrolment(unknown, {}, classifier.corpus);
    const ClassProbabilities less = class_probabilities(classifier, unknown, SpeakerKnowledge::corpus, 0);
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(p.mean[k], std::exp(fold.posterior.log_probability[3 * i + k]), tolerance) << i << " " << k;
      EXPECT_NEAR(p.sd[k], fold.probability_sd[3 * i + k], tolerance);
      EXPECT_NEAR(less.mean[k], std::exp(fold.less_known[2].log_probability[3 * i + k]), tolerance)
          << i << " " << k;
      most_less = std::max(most_less, std::abs(less.mean[k] - p.mean[k]));
      sum += p.mean[k];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  EXPECT_GT(most_less, 0.2);  // the knowledge about the speaker matters here
}

TEST(SoftmaxClassifier, DoesWhatAnEvaluationDoes) {
  expect_what_an_evaluation_does(settings_for_training(), 0.08);
}

// A mean of probabilities whose sd is 0.35 has a standard error of 0.02 with 300 effective draws or more, and
// the difference of two such means one of 0.029.
TEST(SoftmaxClassifier, DoesWhatAnEvaluationDoesByTheHorseshoe) {
  expect_what_an_evaluation_does(horseshoe_for_training(), 0.15);
}

TEST(SoftmaxClassifier, OfTheHorseshoeHasItsPriorAndNoRotation) {
  SoftmaxSettings settings = testing::quick_horseshoe();
  settings.relevant_share = 0.2;
  settings.slab_scale = 0.7;
  const SoftmaxClassifier classifier = trained(synthetic_corpus(), settings).classifier;
  EXPECT_EQ(classifier.prior, SoftmaxPrior::horseshoe);
  EXPECT_TRUE(classifier.prior_sds.empty());
  EXPECT_EQ(classifier.relevant_share, 0.2);
  EXPECT_EQ(classifier.slab_scale, 0.7);
  ASSERT_EQ(classifier.rank, kColumns);
  for (std::size_t j = 0; j < kColumns; ++j)
    for (std::size_t i = 0; i < kColumns; ++i)
      EXPECT_EQ(classifier.axes[j * kColumns + i], i == j ? 1 / std::sqrt(30.0) : 0);
  EXPECT_EQ(trained(synthetic_corpus(), quick_settings()).classifier.prior, SoftmaxPrior::ridge);
}

TEST(SoftmaxClassifier, LearnsATemperForEachKindOfKnowledge) {
  const SoftmaxCorpus corpus = synthetic_corpus(5, 6, 2);
  const SoftmaxTraining training = trained(corpus, settings_for_training());
  const auto& tempers = training.classifier.tempers;
  for (const SoftmaxTemper& one : tempers) {
    EXPECT_GT(one.temper, 0);
    EXPECT_GT(one.inner_log_loss, 0);
    EXPECT_LT(one.inner_log_loss, 1.2);
  }
  // The loss grows as less is known about a speaker, but five recordings lose little.
  const auto loss = [&](SpeakerKnowledge k) { return tempers[static_cast<std::size_t>(k)].inner_log_loss; };
  EXPECT_LT(loss(SpeakerKnowledge::own), loss(SpeakerKnowledge::one));
  EXPECT_LT(loss(SpeakerKnowledge::five), loss(SpeakerKnowledge::one));
  EXPECT_LT(loss(SpeakerKnowledge::one), loss(SpeakerKnowledge::corpus));
  EXPECT_EQ(training.fold.rows.size(), 90u);
  const auto& posteriors = training.fold.draw_log_probability;
  ASSERT_EQ(posteriors.size(), training.fold.prior_sds.size());
  for (const std::vector<double>& posterior : posteriors) EXPECT_EQ(posterior.size(), 90u * 3 * 800);
}

// The draws that are kept of each posterior have its share of the weights.
TEST(SoftmaxClassifier, HasTheDrawsOfEachPosteriorByItsWeight) {
  SoftmaxSettings settings = settings_for_training();
  settings.prior_sds = {2, 3, 4};
  settings.temper = 1;
  const SoftmaxTraining training = trained(synthetic_corpus(5, 6, 2), settings);
  const auto& weights = training.fold.prior_sds;
  const auto& kept = training.classifier.prior_sds;
  ASSERT_GE(weights.size(), 2u);
  ASSERT_EQ(kept.size(), weights.size());
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].prior_sd, weights[i].prior_sd);
    EXPECT_NEAR(static_cast<double>(kept[i].num_draws), kClassifierDraws * weights[i].weight, 1);
    sum += kept[i].num_draws;
  }
  EXPECT_EQ(sum, 400u);
  EXPECT_EQ(training.classifier.num_draws, 400u);
  EXPECT_EQ(training.classifier.weights.size(), 400u * (training.classifier.rank + 1) * 2);
}

TEST(SoftmaxClassifier, DoesNotDependOnThreadsOrTheOrderOfRows) {
  const SoftmaxCorpus corpus = synthetic_corpus(4, 3);
  SoftmaxCorpus turned = corpus;
  const std::size_t n = corpus.table.rows.size();
  for (std::size_t row = 0; row < n; ++row) {
    turned.table.rows[row] = corpus.table.rows[n - 1 - row];
    turned.class_of[row] = corpus.class_of[n - 1 - row];
    turned.speaker_of[row] = corpus.speaker_of[n - 1 - row];
    std::copy_n(corpus.table.values.begin() + static_cast<std::ptrdiff_t>((n - 1 - row) * kColumns), kColumns,
                turned.table.values.begin() + static_cast<std::ptrdiff_t>(row * kColumns));
  }
  const SoftmaxClassifier one = trained(corpus, quick_settings()).classifier,
                          other = trained(turned, quick_settings(), 3).classifier;
  EXPECT_EQ(one.weights, other.weights);
  EXPECT_EQ(one.axes, other.axes);
  EXPECT_EQ(one.corpus, other.corpus);
  for (std::size_t k = 0; k < kNumKnowledge; ++k) EXPECT_EQ(one.tempers[k].temper, other.tempers[k].temper);
}

// No training row has a part in this direction, so that the direction's weights are those of the prior. With
// two classes, the logit of a row of length 1 in this direction has the standard deviation of the prior,
// times the root of the temperature. The sd of 400 draws has a relative standard error of 0.035.
TEST(SoftmaxClassifier, DirectionsThatNoRowHasAreThePriors) {
  SoftmaxClassifier classifier;
  classifier.columns = {"a", "b"};
  classifier.num_classes = 2;
  classifier.prior_sds = {{1.5, 400}};
  classifier.temperature = 0.25;
  classifier.seed = 3;
  classifier.rank = 1;
  classifier.num_draws = 400;
  classifier.axes = {1 / std::sqrt(2.0), 0};  // the first column, divided by the root of two columns
  classifier.weights.assign(800, 0.0);
  const auto sd_of = [&](const std::vector<double>& row) {
    return class_probabilities(classifier, row, SpeakerKnowledge::own, 0).sd[0];
  };
  EXPECT_EQ(sd_of({5, 0}), 0);
  // For a small logit l / sqrt(2) of one contrast of two classes, p = 1/2 + sqrt(2) l / 4.
  const double length = 0.02;
  EXPECT_NEAR(sd_of({0, std::sqrt(2.0) * length}), 1.5 * 0.5 * length * std::sqrt(2.0) / 4, 0.2 * 0.0053);
  EXPECT_NEAR(sd_of({3, 2 * std::sqrt(2.0) * length}), 2 * sd_of({0, std::sqrt(2.0) * length}), 1e-5);
  // The variance of a mixture of two normal distributions with mean 0 is the mean of their variances.
  classifier.prior_sds = {{1.5, 100}, {4.5, 300}};
  const double mixed = std::sqrt(0.25 * 1.5 * 1.5 + 0.75 * 4.5 * 4.5);
  EXPECT_NEAR(sd_of({0, std::sqrt(2.0) * length}), mixed * 0.5 * length * std::sqrt(2.0) / 4,
              0.2 * mixed / 1.5 * 0.0053);
  EXPECT_THROW(sd_of({1}), std::invalid_argument);
  classifier.prior_sds = {{1.5, 100}, {4.5, 299}};
  EXPECT_THROW(sd_of({5, 0}), std::invalid_argument);
}

TEST(SoftmaxClassifier, RefusesASpeakerAloneUnlessNothingIsToBeChosen) {
  SoftmaxCorpus corpus = synthetic_corpus(1, 6);
  SoftmaxSettings settings = quick_settings();
  EXPECT_THROW(trained(corpus, settings), InputError);
  settings.temper = 1;
  settings.prior_sds = {4};
  EXPECT_EQ(trained(corpus, settings).classifier.tempers[3].temper, 1);
}

}  // namespace
}  // namespace emomc
