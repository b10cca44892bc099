// Tests that the priors, starts and EM fits of a training set depend only on its own frames.
#include "class_posteriors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emomc/device/random.hpp"
#include "evaluation_config.hpp"
#include "utterance_scores.hpp"

namespace emomc::app {
namespace {

/// Returns a corpus of 4 speakers and 2 classes with 3 utterances of 20 frames each. Each speaker's columns
/// have mean 0 and sd 1. The frames of speaker `mirrored` are multiplied by -1, which changes neither mean
/// nor sd.
LabelledFrames corpus(int mirrored) {
  FeatureSet features;
  features.columns = {"a", "b"};
  for (int s = 0; s < 4; ++s)
    for (int c = 0; c < 2; ++c)
      for (int u = 0; u < 3; ++u) {
        features.utterances.push_back({std::to_string(s) + "_" + std::to_string(c) + "_" + std::to_string(u),
                                       "s" + std::to_string(s), "c" + std::to_string(c), features.num_rows(),
                                       20});
        for (std::uint32_t i = 0; i < 20; ++i) {
          const device::RandomSource random{static_cast<std::uint64_t>(100 * s + 10 * c + u), i, 1};
          const double side = i % 3 == 0 ? 2 + 0.3 * s : -1;
          features.values.push_back(side + 0.5 * c + 0.4 * random.normal(device::Purpose::start, 0));
          features.values.push_back(side * side - c + 0.4 * random.normal(device::Purpose::start, 1));
        }
      }
  normalize(features, Normalization::speaker);
  for (const UtteranceFrames& u : features.utterances)
    if (u.speaker == "s" + std::to_string(mirrored))
      for (std::size_t i = 0; i < u.num_rows * 2; ++i) features.values[u.first_row * 2 + i] *= -1;
  return label_frames(features, {});
}

double distance(const std::vector<double>& a, const std::vector<double>& b, std::size_t begin,
                std::size_t size) {
  double most = 0;
  for (std::size_t i = begin; i < begin + size; ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// The results for sets without a speaker do not change with this speaker's frames; the results for all other
// sets do.
TEST(ClassPosteriorsTest, DoNotSeeExcludedSpeakers) {
  const Report quiet = [](std::size_t, std::size_t) {};
  for (const char* more : {"", "training: {background: none}\n"}) {
    const EvaluationConfig config = parse_evaluation_config(
        std::string("corpus: {path: x}\nlikelihood: {components: 2}\nbackend: reference\n"
                    "sampler: {chains: 2, warmup: 5, draws: 5}\n") +
            more,
        "x.yaml");
    const LabelledFrames frames = corpus(-1);
    const EvaluationPlan plan = plan_evaluation(frames, config);
    const ClassPosteriors posteriors = prepare_posteriors(frames, plan, config, true, quiet);
    const auto fitted = fit_by_em(frames, plan, config, posteriors, quiet);
    const std::size_t groups = plan.sets.size() * 2, dim = 10;
    ASSERT_EQ(posteriors.num_groups(), groups);
    ASSERT_EQ(posteriors.starts.size(), groups * 2 * dim);
    ASSERT_EQ(fitted.size(), groups * dim);
    ASSERT_EQ(posteriors.run.plans.size(), groups * 2);
    for (std::size_t g = 0; g < groups; ++g)
      for (std::size_t c = 0; c < 2; ++c) {
        const ChainPlan& chain = posteriors.run.plans[posteriors.chain_of(g, c)];
        EXPECT_EQ(chain.segments, plan.sets[g / 2].segments_of_class[g % 2]);
        EXPECT_EQ(chain.beta, config.training.power);
        EXPECT_EQ(chain.group, static_cast<int>(g));
      }
    for (const int speaker : {0, 2}) {
      const LabelledFrames other = corpus(speaker);
      const ClassPosteriors changed =
          prepare_posteriors(other, plan_evaluation(other, config), config, true, quiet);
      const auto changed_fit = fit_by_em(other, plan, config, changed, quiet);
      for (std::size_t g = 0; g < groups; ++g) {
        const auto& excluded = plan.sets[g / 2].excluded;
        const bool unseen = std::count(excluded.begin(), excluded.end(), speaker) > 0;
        const double starts = distance(posteriors.starts, changed.starts, g * 2 * dim, 2 * dim);
        const double fits = distance(fitted, changed_fit, g * dim, dim);
        if (unseen) {
          EXPECT_LT(starts, 1e-6) << g << " and speaker " << speaker;
          EXPECT_LT(fits, 1e-6) << g << " and speaker " << speaker;
        } else {
          EXPECT_GT(starts, 1e-3) << g << " and speaker " << speaker;
          EXPECT_GT(fits, 1e-3) << g << " and speaker " << speaker;
        }
      }
    }
  }
}

// All speakers have equally many utterances in the same order of classes. Therefore only the values show
// whose frames were scored.
TEST(UtteranceScorerTest, ScoresTheUtterancesThatItIsAskedFor) {
  const EvaluationConfig config = parse_evaluation_config(
      "corpus: {path: x}\nlikelihood: {components: 2, precision: double}\nbackend: reference\n"
      "sampler: {chains: 3, warmup: 5, draws: 5}\n",
      "x.yaml");
  const LabelledFrames frames = corpus(-1);
  const EvaluationPlan plan = plan_evaluation(frames, config);
  const ClassPosteriors posteriors =
      prepare_posteriors(frames, plan, config, true, [](std::size_t, std::size_t) {});
  std::vector<GroupDraws> draws;
  for (std::size_t c = 0; c < 2; ++c) {
    const auto begin = posteriors.starts.begin() + static_cast<std::ptrdiff_t>(c * 3 * 10);
    draws.push_back({3, 3, {begin, begin + 30}});
  }
  UtteranceScorer scorer(frames, posteriors, config.run);
  const auto device = make_device(Backend::reference);
  for (const std::vector<int>& speakers : std::vector<std::vector<int>>{{0}, {1}, {3, 2}, {1}}) {
    const auto utterances = utterances_of(frames, speakers);
    ASSERT_EQ(utterances.size(), 6 * speakers.size());
    const ClassLikelihoods scored = scorer.score(utterances, draws);
    ASSERT_EQ(scored.num_utterances, utterances.size());
    ASSERT_EQ(scored.num_draws, 3u);
    for (std::size_t u = 0; u < utterances.size(); ++u) {
      const UtteranceFrames& utterance = frames.features.utterances[utterances[u]];
      EXPECT_EQ(scored.num_frames[u], 20);
      const auto begin = frames.rows.values.begin() + static_cast<std::ptrdiff_t>(utterance.first_row * 2);
      const auto engine = make_engine(Backend::reference, posteriors.run.model, Precision::float64,
                                      DataSet::single_segment(2, {begin, begin + 40}), *device);
      for (int c = 0; c < 2; ++c)
        for (std::size_t s = 0; s < 3; ++s) {
          double expected = 0;
          engine->sums_by_segment(draws[static_cast<std::size_t>(c)].theta.data() + s * 10, 1, &expected);
          EXPECT_NEAR(scored.of(u, c)[s], expected, 1e-9 * std::abs(expected)) << utterance.id;
        }
    }
  }
}

}  // namespace
}  // namespace emomc::app
