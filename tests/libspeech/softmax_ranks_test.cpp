// Tests softmax regression whose work is divided among ranks, which are threads here.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "emomc/core/rank_range.hpp"
#include "emomc/speech/softmax_classifier.hpp"
#include "emomc/speech/softmax_evaluation.hpp"
#include "synthetic_corpus.hpp"
#include "thread_ranks.hpp"

namespace emomc {
namespace {

using testing::on_ranks;
using testing::quick_settings;
using testing::synthetic_corpus;

const SoftmaxReport kNoReport = [](const auto&...) {};
const std::vector<std::vector<int>> kTests{{0}, {1, 2}, {3}, {4}};

// Returns a corpus with a clip of each recording. The clip of every second recording comes from the next
// recording.
SoftmaxCorpus corpus_with_clips() {
  SoftmaxCorpus corpus = synthetic_corpus(5, 4, 2);
  const std::size_t n = corpus.table.rows.size(), stride = corpus.table.columns.size();
  corpus.table.frames.assign(n, 200);
  corpus.clips.columns = corpus.table.columns;
  for (std::size_t row = 0; row < n; ++row) {
    corpus.clips.rows.push_back(corpus.table.rows[row]);
    corpus.clips.frames.push_back(30 + static_cast<int>(row % 3));
    const auto from = corpus.table.values.begin() + static_cast<std::ptrdiff_t>((row + row % 2) % n * stride);
    corpus.clips.values.insert(corpus.clips.values.end(), from, from + static_cast<std::ptrdiff_t>(stride));
  }
  return corpus;
}

void expect_equal(const SoftmaxPredictions& a, const SoftmaxPredictions& b) {
  EXPECT_EQ(a.temper, b.temper);
  EXPECT_EQ(a.inner_log_loss, b.inner_log_loss);
  EXPECT_EQ(a.frames, b.frames);
  EXPECT_EQ(a.log_probability, b.log_probability);
}

void expect_equal(const SoftmaxFold& a, const SoftmaxFold& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.prior_sd, b.prior_sd);
  ASSERT_EQ(a.prior_sds.size(), b.prior_sds.size());
  for (std::size_t i = 0; i < a.prior_sds.size(); ++i) {
    EXPECT_EQ(a.prior_sds[i].prior_sd, b.prior_sds[i].prior_sd);
    EXPECT_EQ(a.prior_sds[i].weight, b.prior_sds[i].weight);
  }
  expect_equal(a.penalised, b.penalised);
  expect_equal(a.posterior, b.posterior);
  for (std::size_t i = 0; i < a.less_known.size(); ++i) expect_equal(a.less_known[i], b.less_known[i]);
  EXPECT_EQ(a.probability_sd, b.probability_sd);
  EXPECT_EQ(a.acceptance, b.acceptance);
  EXPECT_EQ(a.inner_rows, b.inner_rows);
  EXPECT_EQ(a.inner_log_probability, b.inner_log_probability);
}

// With six ranks, two ranks have no fold.
TEST(SoftmaxRanks, EveryRankHasTheFoldsOfOne) {
  const SoftmaxCorpus corpus = corpus_with_clips();
  const auto alone = evaluate_softmax(corpus, kTests, quick_settings(), 1, kNoReport);
  EXPECT_GT(alone[0].posterior.frames + alone[1].posterior.frames, 0);  // learned from the clips
  for (const int size : {2, 3, 6})
    on_ranks(size, [&](Communicator& ranks) {
      const auto folds = evaluate_softmax(corpus, kTests, quick_settings(), 1, kNoReport, ranks);
      ASSERT_EQ(folds.size(), alone.size());
      const RankRange own = range_of_rank(folds.size(), ranks.rank(), size);
      for (std::size_t f = 0; f < folds.size(); ++f) {
        expect_equal(folds[f], alone[f]);
        if (own.first <= f && f < own.end)
          EXPECT_EQ(folds[f].draw_log_probability, alone[f].draw_log_probability);
        else
          EXPECT_TRUE(folds[f].draw_log_probability.empty());
      }
    });
}

TEST(SoftmaxRanks, EveryRankHasTheFoldsOfOneByTheHorseshoe) {
  const SoftmaxCorpus corpus = synthetic_corpus(4, 3);
  const std::vector<std::vector<int>> tests{{0}, {1}, {2, 3}};
  SoftmaxSettings settings = testing::quick_horseshoe();
  settings.draws = 30;
  const auto alone = evaluate_softmax(corpus, tests, settings, 1, kNoReport);
  on_ranks(2, [&](Communicator& ranks) {
    const auto folds = evaluate_softmax(corpus, tests, settings, 1, kNoReport, ranks);
    ASSERT_EQ(folds.size(), alone.size());
    for (std::size_t f = 0; f < folds.size(); ++f) expect_equal(folds[f], alone[f]);
  });
}

TEST(SoftmaxRanks, TheFirstRankHasTheClassifierOfOne) {
  const SoftmaxCorpus corpus = corpus_with_clips();
  const SoftmaxTraining alone = train_softmax(corpus, quick_settings(), 1, kNoReport);
  on_ranks(3, [&](Communicator& ranks) {
    const SoftmaxTraining trained = train_softmax(corpus, quick_settings(), 1, kNoReport, ranks);
    if (ranks.rank() != 0) {
      EXPECT_TRUE(trained.classifier.weights.empty());
      return;
    }
    expect_equal(trained.fold, alone.fold);
    EXPECT_EQ(trained.classifier.weights, alone.classifier.weights);
    EXPECT_EQ(trained.classifier.axes, alone.classifier.axes);
    for (std::size_t i = 0; i < kNumKnowledge; ++i)
      EXPECT_EQ(trained.classifier.tempers[i].temper, alone.classifier.tempers[i].temper);
  });
}

// The stages are those of one process, and each rank reports its part of each stage.
TEST(SoftmaxRanks, DivideEachStage) {
  const SoftmaxCorpus corpus = synthetic_corpus();
  std::mutex mutex;
  std::map<std::string, std::vector<std::size_t>> parts;
  on_ranks(2, [&](Communicator& ranks) {
    evaluate_softmax(
        corpus, kTests, quick_settings(), 1,
        [&](const std::string& stage, std::size_t done, std::size_t all) {
          const std::lock_guard lock(mutex);
          if (done == all) parts[stage].push_back(all);
        },
        ranks);
  });
  ASSERT_EQ(parts.size(), 3U);
  for (const std::string& stage : softmax_stages()) {
    ASSERT_EQ(parts[stage].size(), 2U) << stage;
    EXPECT_LE(std::max(parts[stage][0], parts[stage][1]), std::min(parts[stage][0], parts[stage][1]) + 1);
  }
  EXPECT_EQ(parts["posteriors"], (std::vector<std::size_t>{2, 2}));
}

}  // namespace
}  // namespace emomc
