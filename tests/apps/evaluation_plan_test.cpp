// Tests the cross-validation plan: no speaker's frames may influence the posterior with which this speaker is
// scored.
#include "emomc/emotion/evaluation_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "emomc/core/errors.hpp"
#include "evaluation_config.hpp"
#include "utterance_scores.hpp"

namespace emomc::app {
namespace {

struct Row {
  std::string speaker, emotion;
  std::size_t frames = 3;
};

/// Makes features whose values identify their utterance and row: 100 * utterance + row, and the negative of
/// that.
FeatureSet features_of(const std::vector<Row>& rows) {
  FeatureSet features;
  features.columns = {"a", "b"};
  for (std::size_t u = 0; u < rows.size(); ++u) {
    features.utterances.push_back(
        {"u" + std::to_string(u), rows[u].speaker, rows[u].emotion, features.num_rows(), rows[u].frames});
    for (std::size_t i = 0; i < rows[u].frames; ++i) {
      const auto value = static_cast<double>(100 * u + i);
      features.values.push_back(value);
      features.values.push_back(-value);
    }
  }
  return features;
}

std::vector<Row> every(int speakers, const std::vector<std::string>& emotions, int each = 2) {
  std::vector<Row> rows;
  for (int i = 0; i < each; ++i)
    for (int s = 0; s < speakers; ++s)
      for (const auto& emotion : emotions)
        rows.push_back({std::string(1, static_cast<char>('A' + s)), emotion});
  return rows;
}

EvaluationConfig config_of(const std::string& more = "") {
  return parse_evaluation_config("corpus: {path: x}\n" + more, "x.yaml");
}

LabelledFrames frames_of(const std::vector<Row>& rows, std::vector<std::string> classes = {}) {
  CorpusConfig corpus;
  corpus.classes = std::move(classes);
  return label_frames(features_of(rows), corpus);
}

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_words(const std::string& message, const std::vector<std::string>& words) {
  EXPECT_NE(message, "");
  EXPECT_EQ(message.find('\n'), std::string::npos);
  for (const auto& word : words)
    EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
}

TEST(LabelledFramesTest, KeepEachUtterancesRows) {
  std::vector<Row> rows{{"B", "sad", 2}, {"A", "sad", 3}, {"A", "glad", 1}, {"B", "glad", 4},
                        {"A", "sad", 0}, {"A", "odd", 2}, {"A", "glad", 5}, {"B", "sad", 1}};
  const LabelledFrames frames = frames_of(rows, {"sad", "glad"});
  EXPECT_EQ(frames.classes, (std::vector<std::string>{"sad", "glad"}));
  EXPECT_EQ(frames.speakers, (std::vector<std::string>{"A", "B"}));
  // The utterance that has no frames and the one of another class are left out.
  ASSERT_EQ(frames.class_of.size(), 6u);
  EXPECT_EQ(frames.rows.num_rows, 16u);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < frames.class_of.size(); ++i) {
    const UtteranceFrames& u = frames.features.utterances[i];
    seen.insert(u.id);
    const std::size_t original = std::stoul(u.id.substr(1));
    EXPECT_EQ(u.num_rows, rows[original].frames);
    EXPECT_EQ(frames.classes[static_cast<std::size_t>(frames.class_of[i])], rows[original].emotion);
    EXPECT_EQ(frames.speakers[static_cast<std::size_t>(frames.speaker_of[i])], rows[original].speaker);
    for (std::size_t r = 0; r < u.num_rows; ++r)
      for (std::size_t j = 0; j < 2; ++j) {
        const double seen_as = frames.rows.values[(u.first_row + r) * 2 + j];
        const double value = seen_as * frames.units.sd[j] + frames.units.mean[j];
        EXPECT_NEAR(value, (j ? -1.0 : 1.0) * static_cast<double>(100 * original + r), 1e-9) << u.id;
        EXPECT_EQ(frames.features.values[(u.first_row + r) * 2 + j], seen_as);
      }
  }
  EXPECT_EQ(seen.size(), 6u);
  double mean = 0, square = 0;
  for (std::size_t r = 0; r < 16; ++r) {
    mean += frames.rows.values[2 * r] / 16;
    square += frames.rows.values[2 * r] * frames.rows.values[2 * r] / 16;
  }
  EXPECT_NEAR(mean, 0, 1e-12);
  EXPECT_NEAR(square, 1, 1e-12);
}

TEST(LabelledFramesTest, HaveASegmentForEachSpeakerAndClass) {
  const LabelledFrames frames = frames_of(every(3, {"x", "y"}));
  ASSERT_EQ(frames.rows.segments.size(), 6u);
  std::set<std::pair<int, int>> pairs;
  std::size_t row = 0;
  for (std::size_t s = 0; s < 6; ++s) {
    EXPECT_EQ(frames.rows.segments[s].first_row, row);
    EXPECT_EQ(frames.rows.segments[s].num_rows, 6u);
    row += 6;
    pairs.insert({frames.segment_speaker[s], frames.segment_class[s]});
    for (std::size_t u = 0; u < frames.class_of.size(); ++u) {
      const auto& utterance = frames.features.utterances[u];
      const bool inside = utterance.first_row >= row - 6 && utterance.first_row < row;
      EXPECT_EQ(inside, frames.class_of[u] == frames.segment_class[s] &&
                            frames.speaker_of[u] == frames.segment_speaker[s]);
    }
  }
  EXPECT_EQ(pairs.size(), 6u);
}

TEST(LabelledFramesTest, RefuseWhatCannotBeToldApart) {
  expect_words(refusal([] { frames_of(every(3, {"x"})); }), {"corpus", "1 class (x)", "two or more"});
  expect_words(refusal([] { frames_of(every(3, {"x", "y"}), {"x"}); }), {"1 class (x)"});
  expect_words(refusal([] {
                 frames_of(every(3, {"sad", "glad"}), {"sad", "gladd"});
               }),
               {"corpus.classes", "gladd", "did you mean glad", "sad"});
  expect_words(refusal([] { frames_of({{"A", "x", 0}, {"B", "y", 0}}); }), {"no utterance has a frame"});
  expect_words(refusal([] { frames_of({{"A", "x", 2}, {"B", "y", 0}}); }), {"1 class (x)"});
}

/// Checks the properties of every plan. A set trains on all segments of its classes except those of its
/// excluded speakers. The set of a fold excludes exactly its test speakers. The set of an inner fold excludes
/// these and its own speakers.
void expect_honest(const LabelledFrames& frames, const EvaluationPlan& plan) {
  for (const TrainingSet& set : plan.sets) {
    ASSERT_EQ(set.segments_of_class.size(), frames.num_classes());
    EXPECT_TRUE(std::is_sorted(set.excluded.begin(), set.excluded.end()));
    std::size_t rows = 0;
    double mean = 0;
    for (std::size_t c = 0; c < frames.num_classes(); ++c) {
      std::vector<int> expected;
      for (std::size_t s = 0; s < frames.segment_class.size(); ++s)
        if (frames.segment_class[s] == static_cast<int>(c) &&
            std::count(set.excluded.begin(), set.excluded.end(), frames.segment_speaker[s]) == 0)
          expected.push_back(static_cast<int>(s));
      EXPECT_EQ(set.segments_of_class[c], expected);
      EXPECT_FALSE(expected.empty());
      const auto values = rows_of(frames.rows, expected);
      rows += values.size() / 2;
      for (std::size_t i = 0; i < values.size(); i += 2) mean += values[i];
    }
    EXPECT_NEAR(set.units.mean[0], mean / static_cast<double>(rows), 1e-12);
  }
  for (const Fold& fold : plan.folds) {
    const TrainingSet& set = plan.sets[static_cast<std::size_t>(fold.set)];
    EXPECT_TRUE(set.is_tested);
    std::vector<int> test = fold.test_speakers;
    std::sort(test.begin(), test.end());
    EXPECT_EQ(set.excluded, test);
    std::set<int> left_out;
    for (const InnerFold& inner : fold.inner) {
      EXPECT_FALSE(inner.speakers.empty());
      std::vector<int> both = test;
      for (const int s : inner.speakers) {
        EXPECT_EQ(std::count(test.begin(), test.end(), s), 0) << "a test speaker teaches the temper";
        EXPECT_TRUE(left_out.insert(s).second);
        both.push_back(s);
      }
      std::sort(both.begin(), both.end());
      EXPECT_EQ(plan.sets[static_cast<std::size_t>(inner.set)].excluded, both);
    }
  }
  std::set<std::vector<int>> different;
  for (const TrainingSet& set : plan.sets) EXPECT_TRUE(different.insert(set.excluded).second);
}

TEST(EvaluationPlanTest, LeavesOneSpeakerOutAndSharesPairs) {
  for (const int n : {3, 5, 11}) {
    const LabelledFrames frames = frames_of(every(n, {"x", "y", "z"}));
    const EvaluationPlan plan = plan_evaluation(frames, config_of());
    expect_honest(frames, plan);
    ASSERT_EQ(plan.folds.size(), static_cast<std::size_t>(n));
    // The set that excludes a pair of speakers serves two folds.
    EXPECT_EQ(plan.sets.size(), static_cast<std::size_t>(n + n * (n - 1) / 2));
    EXPECT_EQ(
        std::count_if(plan.sets.begin(), plan.sets.end(), [](const auto& set) { return set.is_tested; }), n);
    for (int s = 0; s < n; ++s) {
      const Fold& fold = plan.folds[static_cast<std::size_t>(s)];
      EXPECT_EQ(fold.test_speakers, std::vector<int>{s});
      EXPECT_EQ(fold.inner.size(), static_cast<std::size_t>(n - 1));
      for (const InnerFold& inner : fold.inner) {
        const Fold& other = plan.folds[static_cast<std::size_t>(inner.speakers[0])];
        EXPECT_TRUE(std::any_of(other.inner.begin(), other.inner.end(), [&](const InnerFold& back) {
          return back.set == inner.set && back.speakers == fold.test_speakers;
        }));
      }
    }
  }
}

TEST(EvaluationPlanTest, LeavesManySpeakersOutInGroups) {
  const LabelledFrames frames = frames_of(every(25, {"x", "y"}, 1));
  const EvaluationPlan plan = plan_evaluation(frames, config_of());
  expect_honest(frames, plan);
  EXPECT_EQ(plan.folds.size(), 25u);
  for (const Fold& fold : plan.folds) {
    EXPECT_EQ(fold.inner.size(), static_cast<std::size_t>(kMostInnerFolds));
    std::size_t left_out = 0;
    for (const InnerFold& inner : fold.inner) left_out += inner.speakers.size();
    EXPECT_EQ(left_out, 24u);
  }
}

TEST(EvaluationPlanTest, HasNoInnerFoldsWhereTheTemperIsGiven) {
  const LabelledFrames frames = frames_of(every(2, {"x", "y"}));
  const EvaluationPlan plan = plan_evaluation(frames, config_of("classification: {temper: 0.1}\n"));
  expect_honest(frames, plan);
  EXPECT_EQ(plan.sets.size(), 2u);
  for (const Fold& fold : plan.folds) EXPECT_TRUE(fold.inner.empty());
}

TEST(EvaluationPlanTest, CutsSpeakersIntoFolds) {
  const LabelledFrames frames = frames_of(every(7, {"x", "y"}));
  for (const int k : {2, 3, 7}) {
    const EvaluationPlan plan =
        plan_evaluation(frames, config_of("folds: {k_fold_by_speaker: " + std::to_string(k) + "}\n"));
    expect_honest(frames, plan);
    ASSERT_EQ(plan.folds.size(), static_cast<std::size_t>(k));
    std::set<int> tested;
    for (const Fold& fold : plan.folds) {
      EXPECT_GE(fold.test_speakers.size(), static_cast<std::size_t>(7 / k));
      EXPECT_LE(fold.test_speakers.size(), static_cast<std::size_t>((7 + k - 1) / k));
      for (const int s : fold.test_speakers) EXPECT_TRUE(tested.insert(s).second);
    }
    EXPECT_EQ(tested.size(), 7u);
  }
  expect_words(refusal([&] { plan_evaluation(frames, config_of("folds: {k_fold_by_speaker: 8}\n")); }),
               {"folds.k_fold_by_speaker", "8", "2 to 7"});
}

TEST(EvaluationPlanTest, TestsTheSpeakersThatAreNamed) {
  const LabelledFrames frames = frames_of(every(5, {"x", "y"}));
  const EvaluationPlan plan = plan_evaluation(frames, config_of("folds: {test_speakers: [D, B]}\n"));
  expect_honest(frames, plan);
  ASSERT_EQ(plan.folds.size(), 1u);
  EXPECT_EQ(plan.folds[0].inner.size(), 3u);
  EXPECT_EQ(plan.sets.size(), 4u);
  expect_words(refusal([&] { plan_evaluation(frames, config_of("folds: {test_speakers: [b]}\n")); }),
               {"folds.test_speakers", "no speaker b", "did you mean B", "A, B, C, D, E"});
  expect_words(
      refusal([&] { plan_evaluation(frames, config_of("folds: {test_speakers: [A, B, C, D, E]}\n")); }),
      {"folds.test_speakers", "leave some"});
}

TEST(EvaluationPlanTest, TrainsOnAllSpeakers) {
  const LabelledFrames frames = frames_of(every(4, {"x", "y"}));
  const EvaluationPlan plan = plan_training(frames, config_of());
  expect_honest(frames, plan);
  ASSERT_EQ(plan.folds.size(), 1u);
  EXPECT_TRUE(plan.folds[0].test_speakers.empty());
  EXPECT_TRUE(plan.sets[static_cast<std::size_t>(plan.folds[0].set)].excluded.empty());
  EXPECT_EQ(plan.folds[0].inner.size(), 4u);
  EXPECT_EQ(plan.sets.size(), 5u);
  expect_words(refusal([&] {
                 plan_training(frames_of(every(1, {"x", "y"})), config_of());
               }),
               {"classification.temper", "write a number"});
}

TEST(EvaluationPlanTest, RefusesTooFewSpeakers) {
  expect_words(refusal([] {
                 plan_evaluation(frames_of(every(1, {"x", "y"})), config_of());
               }),
               {"folds", "one speaker (A)", "two or more"});
  expect_words(refusal([] {
                 plan_evaluation(frames_of(every(2, {"x", "y"})), config_of());
               }),
               {"classification.temper", "write a number"});
}

TEST(EvaluationPlanTest, NamesTheClassThatAFoldLoses) {
  auto rows = every(3, {"x", "y"});
  rows.push_back({"B", "rare"});
  expect_words(refusal([&] { plan_evaluation(frames_of(rows), config_of()); }),
               {"without B", "class rare", "corpus.classes"});
  // If B lacks a class, B is tested on its other classes.
  rows = every(3, {"x", "y"});
  std::erase_if(rows, [](const Row& row) { return row.speaker == "B" && row.emotion == "y"; });
  const LabelledFrames frames = frames_of(rows);
  const EvaluationPlan plan = plan_evaluation(frames, config_of());
  expect_honest(frames, plan);
  EXPECT_EQ(plan.folds.size(), 3u);
  EXPECT_EQ(plan.folds[0].inner.size(), 1u);  // without A and C no speaker has y
}

TEST(EvaluationPlanTest, IsHonestOnRandomCorpora) {
  std::mt19937_64 random(20260101);
  int planned = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Row> rows;
    const int n = 2 + static_cast<int>(random() % 15), classes = 2 + static_cast<int>(random() % 4);
    for (int u = 0; u < 8 * n; ++u)
      rows.push_back({"s" + std::to_string(random() % static_cast<std::uint64_t>(n)),
                      "c" + std::to_string(random() % static_cast<std::uint64_t>(classes)), random() % 4});
    const char* folds[] = {"", "folds: {k_fold_by_speaker: 3}\n", "folds: {test_speakers: [s1, s0]}\n",
                           "folds: {k_fold_by_speaker: 2}\nclassification: {temper: 1}\n"};
    try {
      const LabelledFrames frames = frames_of(rows);
      const EvaluationPlan plan = plan_evaluation(frames, config_of(folds[trial % 4]));
      expect_honest(frames, plan);
      std::vector<int> tested(frames.speakers.size(), 0);
      for (const Fold& fold : plan.folds)
        for (const std::size_t u : utterances_of(frames, fold.test_speakers))
          ++tested[static_cast<std::size_t>(frames.speaker_of[u])];
      if (trial % 4 != 2) {
        EXPECT_EQ(std::count(tested.begin(), tested.end(), 0), 0);
      }
      ++planned;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(planned, 120);
}

TEST(ClassPriors, CountTrainingUtterancesOnly) {
  auto rows = every(3, {"x", "y"});
  for (int i = 0; i < 6; ++i) rows.push_back({"C", "y"});
  const LabelledFrames frames = frames_of(rows);
  ClassificationConfig config;
  const auto p = [&](const std::vector<int>& excluded) {
    return std::exp(class_log_prior(frames, excluded, config)[0]);
  };
  EXPECT_NEAR(p({}), 0.5, 1e-15);
  config.class_prior = ClassPrior::observed;
  EXPECT_NEAR(p({}), 6.0 / 18, 1e-15);
  EXPECT_NEAR(p({2}), 0.5, 1e-15);
  EXPECT_NEAR(p({0, 1}), 0.2, 1e-15);
  config.class_prior = ClassPrior::given;
  config.class_probabilities = {{"x", 0.125}, {"y", 0.875}};
  EXPECT_NEAR(p({1}), 0.125, 1e-15);
  check_class_prior(frames, config);
  config.class_probabilities = {{"x", 0.5}, {"y", 0.25}, {"z", 0.25}};
  expect_words(refusal([&] { check_class_prior(frames, config); }),
               {"classification.class_prior", "no class z", "x, y"});
  config.class_probabilities = {{"x", 1}};
  expect_words(refusal([&] { check_class_prior(frames, config); }),
               {"classification.class_prior", "class y has no probability"});
}

}  // namespace
}  // namespace emomc::app
