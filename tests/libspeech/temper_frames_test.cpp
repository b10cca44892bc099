// Tests how sure the probabilities of short recordings are, which is learned from clips.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "emomc/speech/clips.hpp"
#include "emomc/speech/functionals.hpp"
#include "emomc/speech/softmax_classifier.hpp"
#include "softmax_prediction.hpp"
#include "synthetic_corpus.hpp"

namespace emomc {
namespace {

using testing::quick_settings;
using testing::synthetic_corpus;

constexpr std::size_t kColumns = 30;
constexpr int kWhole = 200;

// Adds a clip of 18 frames and one of 98 frames for each recording. The clip of 18 frames of every
// `misleading`-th recording comes from a recording of another class; with 0, none does.
SoftmaxCorpus with_clips(SoftmaxCorpus corpus, std::size_t misleading) {
  const std::size_t n = corpus.table.rows.size();
  corpus.table.frames.assign(n, kWhole);
  corpus.clips.columns = corpus.table.columns;
  for (std::size_t row = 0; row < n; ++row)
    for (const int frames : {18, 98}) {
      std::size_t from = row;
      while (frames == 18 && misleading > 0 && row % misleading == 0 &&
             (corpus.class_of[from] == corpus.class_of[row] ||
              corpus.speaker_of[from] != corpus.speaker_of[row]))
        from = (from + 1) % n;
      corpus.clips.rows.push_back(corpus.table.rows[row]);
      const auto begin = corpus.table.values.begin() + static_cast<std::ptrdiff_t>(from * kColumns);
      corpus.clips.values.insert(corpus.clips.values.end(), begin, begin + kColumns);
      corpus.clips.frames.push_back(frames);
    }
  return corpus;
}

std::vector<SoftmaxFold> evaluated(const SoftmaxCorpus& corpus, const SoftmaxSettings& settings,
                                   int threads = 1) {
  return evaluate_softmax(corpus, {{0}, {3}}, settings, threads, [](const auto&...) {});
}

TEST(TemperFrames, ShareIsOneHalfAtAsManyFrames) {
  EXPECT_DOUBLE_EQ(share_of_temper(30, 30), 0.5);
  EXPECT_DOUBLE_EQ(share_of_temper(30, 270), 0.9);
  EXPECT_EQ(share_of_temper(30, 0), 1);
  EXPECT_EQ(share_of_temper(0, 5), 1);
}

// The logits are those of one recording, and right in `right` of 10 rows. The best temper is log(right / (10
// - right)) for two classes whose logits differ by 1. If the best temper is the same for clips and whole
// recordings, n0 is 0. Otherwise n0 follows from the two tempers.
TEST(TemperFrames, FollowFromTheTempersOfWholeRecordingsAndClips) {
  const auto rows = [](int right, int frames) {
    LabelledRows part;
    part.log_probability = Eigen::MatrixXd::Zero(10, 2);
    part.log_probability.col(0).setOnes();
    for (int i = 0; i < 10; ++i) part.truth.push_back(i < right ? 0 : 1);
    part.num_frames.assign(10, frames);
    return std::vector<LabelledRows>{part};
  };
  const double of_whole = std::log(9.0 / 1), of_clips = std::log(7.0 / 3);
  // n0 solves t * 200 / (200 + n0) = of_whole and t * 50 / (50 + n0) = of_clips.
  const double ratio = of_clips / of_whole, expected = (1 - ratio) / (ratio / 50 - 1.0 / 200);
  const double frames = choose_frames(rows(9, 200), rows(7, 50));
  EXPECT_NEAR(frames, expected, 0.02 * expected);
  EXPECT_NEAR(choose_temper(rows(9, 200), {}, frames).temper, of_whole * (200 + frames) / 200, 0.01);
  EXPECT_EQ(choose_frames(rows(9, 200), rows(9, 50)), 0);
  EXPECT_EQ(choose_frames(rows(9, 200), {}), 0);
  EXPECT_GT(choose_frames(rows(9, 200), rows(5, 50)), 290);  // clips carry no information
}

TEST(TemperFrames, AreLearnedFromClipsThatMislead) {
  // The classes overlap, so that the tempers are within their bounds.
  const SoftmaxCorpus plain = synthetic_corpus(5, 6, 2);
  const SoftmaxSettings settings = quick_settings();
  const auto misleading = evaluated(with_clips(plain, 3), settings),
             alike = evaluated(with_clips(plain, 0), settings), none = evaluated(plain, settings);
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_GT(misleading[f].posterior.frames, 10);
    for (const SoftmaxPredictions& less : misleading[f].less_known) EXPECT_GT(less.frames, 10);
    EXPECT_LT(alike[f].posterior.frames, 5);
    EXPECT_EQ(none[f].posterior.frames, 0);
    // All whole recordings have one length, so that their probabilities hardly change.
    for (std::size_t i = 0; i < none[f].posterior.log_probability.size(); ++i)
      EXPECT_NEAR(std::exp(misleading[f].posterior.log_probability[i]),
                  std::exp(none[f].posterior.log_probability[i]), 1e-3);
    EXPECT_NEAR(misleading[f].posterior.inner_log_loss, none[f].posterior.inner_log_loss, 1e-4);
  }
}

TEST(TemperFrames, CanBeGivenAndNeedNoClipsThen) {
  SoftmaxCorpus corpus = synthetic_corpus();
  corpus.table.frames.assign(corpus.table.rows.size(), kWhole);
  SoftmaxSettings settings = quick_settings();
  settings.temper_frames = 50;
  EXPECT_EQ(evaluated(corpus, settings)[0].posterior.frames, 50);
  settings.temper = 0.5;
  const auto half = evaluated(corpus, settings);
  settings.temper = 0.4;
  settings.temper_frames = 0;
  const auto less = evaluated(corpus, settings);  // expected factor 0.5 * 200 / 250
  for (std::size_t i = 0; i < half[0].posterior.log_probability.size(); ++i)
    EXPECT_NEAR(half[0].posterior.log_probability[i], less[0].posterior.log_probability[i], 1e-12);
  EXPECT_EQ(half[0].penalised.log_probability.size(), less[0].penalised.log_probability.size());
}

TEST(TemperFrames, DoNotDependOnThreadsOrTheOrderOfClips) {
  const SoftmaxCorpus corpus = with_clips(synthetic_corpus(4, 3), 3);
  SoftmaxCorpus turned = corpus;
  const std::size_t n = corpus.clips.rows.size();
  for (std::size_t clip = 0; clip < n; ++clip) {
    turned.clips.rows[clip] = corpus.clips.rows[n - 1 - clip];
    turned.clips.frames[clip] = corpus.clips.frames[n - 1 - clip];
    std::copy_n(corpus.clips.values.begin() + static_cast<std::ptrdiff_t>((n - 1 - clip) * kColumns),
                kColumns, turned.clips.values.begin() + static_cast<std::ptrdiff_t>(clip * kColumns));
  }
  const auto one = evaluated(corpus, quick_settings()), other = evaluated(turned, quick_settings(), 3);
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_EQ(one[f].posterior.frames, other[f].posterior.frames);
    EXPECT_EQ(one[f].posterior.log_probability, other[f].posterior.log_probability);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(one[f].less_known[k].frames, other[f].less_known[k].frames);
  }
}

// The classes of a fold's test speakers have no influence, and neither have the classes of their clips.
TEST(TemperFrames, DoNotDependOnTheClassesOfTestSpeakers) {
  const SoftmaxCorpus corpus = with_clips(synthetic_corpus(4, 3), 3);
  SoftmaxCorpus changed = corpus;
  for (std::size_t row = 0; row < changed.class_of.size(); ++row)
    if (changed.speaker_of[row] == 0) changed.class_of[row] = (changed.class_of[row] + 1) % 3;
  const auto one = evaluated(corpus, quick_settings())[0], other = evaluated(changed, quick_settings())[0];
  EXPECT_EQ(one.posterior.frames, other.posterior.frames);
  EXPECT_EQ(one.posterior.log_probability, other.posterior.log_probability);
}

TEST(TemperFrames, TemperARecordingByItsLength) {
  const SoftmaxCorpus corpus = with_clips(synthetic_corpus(5, 6, 2), 3);
  const SoftmaxClassifier classifier =
      train_softmax(corpus, quick_settings(), 1, [](const auto&...) {}).classifier;
  const double frames = classifier.tempers[0].frames;
  ASSERT_GT(frames, 10);
  const std::vector<double> row(kColumns, 0.7);
  const auto log_odds = [&](std::size_t num_frames) {
    const auto p = class_probabilities(classifier, row, SpeakerKnowledge::own, num_frames).mean;
    return std::log(p[0] / p[1]);
  };
  EXPECT_NEAR(log_odds(20) / log_odds(0), 20 / (20 + frames), 1e-9);
  EXPECT_NEAR(log_odds(500) / log_odds(0), 500 / (500 + frames), 1e-9);
}

TEST(Clips, AreTheMiddleOfARecording) {
  const Recording voice = testing::synthetic_voice(16000);
  const FrameDescriptors frames = DescriptorExtractor(16000).describe(voice.samples);
  const FrameDescriptors clip = middle_of(frames, 18), all = middle_of(frames, 1000);
  const std::size_t first = (frames.num_frames - 18) / 2;
  ASSERT_EQ(clip.num_frames, 18u);
  ASSERT_EQ(clip.values.size(), 18 * descriptors().size());
  EXPECT_EQ(all.num_frames, frames.num_frames);
  for (std::size_t t = 0; t < 18; ++t) {
    EXPECT_EQ(clip.voiced[t], frames.voiced[first + t]);
    EXPECT_EQ(clip.of(2)[t], frames.of(2)[first + t]);  // defined everywhere
  }
  const auto row = functionals(clip, FunctionalSet::full);
  const auto names = functional_names(FunctionalSet::full);
  const auto at = std::find(names.begin(), names.end(), "time.duration") - names.begin();
  EXPECT_NEAR(row[static_cast<std::size_t>(at)], 0.18, 1e-12);
}

// Levels of a clip are those of an equally short recording, except for the least powers. Whether a frame is
// voiced follows also from the frames around the clip, and the first frame's flux from the frame before the
// clip.
TEST(Clips, HaveLevelsRelativeToTheirOwn) {
  const Recording voice = testing::synthetic_voice(16000);
  const DescriptorExtractor extractor(16000);
  const FrameDescriptors clip = middle_of(extractor.describe(voice.samples), 18);
  const FrameDescriptors whole = extractor.describe(voice.samples);
  const std::size_t first = (whole.num_frames - 18) / 2;
  const FrameDescriptors alone =
      extractor.describe(std::span(voice.samples).subspan(160 * first, 400 + 17 * 160));
  ASSERT_EQ(alone.num_frames, 18u);
  // The least powers, 1e-10 and 1e-9 in bands, are added in the scale of the whole recording. The error of a
  // level is at most their share of the power. Levels of bands are relative to the mean level, and therefore
  // have this level's error, too.
  const double nepers = std::numbers::ln10 / 10;  // nepers in a decibel
  double mean_level = 0, level_error = 0, change = 0;
  for (const double x : whole.of(0)) mean_level += x / static_cast<double>(whole.num_frames);
  for (std::size_t t = 0; t < 18; ++t)
    level_error = std::max(level_error, 1e-10 / (std::exp(whole.of(0)[first + t] * nepers) - 1e-10));
  for (std::size_t d = 0; d < descriptors().size(); ++d) {
    const std::string& name = descriptors()[d].name;
    const bool is_band = name.starts_with("band_");
    if (name != "level_db" && name != "loudness" && !is_band) continue;
    for (std::size_t t = 0; t < 18; ++t) {
      const double before = whole.of(d)[first + t];
      const double band_error = 1e-9 / (std::exp(before + mean_level * nepers) - 1e-9);
      const double tolerance = is_band              ? band_error + level_error
                               : name == "loudness" ? 1e-12
                                                    : level_error / nepers;
      EXPECT_NEAR(clip.of(d)[t], alone.of(d)[t], tolerance) << name << " of frame " << t;
      change = std::max(change, std::abs(clip.of(d)[t] - before));
    }
  }
  EXPECT_GT(change, 0.05);  // levels of the clip and of the recording differ
}

TEST(Descriptors, RelateLevelsToTheRecordingsOwn) {
  const Recording voice = testing::synthetic_voice(16000);
  const FrameDescriptors frames = DescriptorExtractor(16000).describe(voice.samples);
  double power = 0, loudness = 0;
  for (std::size_t t = 0; t < frames.num_frames; ++t) {
    power += std::pow(10, frames.of(0)[t] / 10) / static_cast<double>(frames.num_frames);  // level_db
    loudness += frames.of(1)[t] / static_cast<double>(frames.num_frames);
  }
  EXPECT_NEAR(power, 0.0025, 1e-8);
  EXPECT_NEAR(loudness, 1, 1e-12);
  for (const auto& name : functional_names(FunctionalSet::full)) EXPECT_NE(name, "loudness.mean");
}

// The functionals of the same voice at another gain are equal up to rounding.
TEST(Functionals, DoNotDependOnTheGain) {
  Recording voice = testing::synthetic_voice(16000);
  const DescriptorExtractor extractor(16000);
  const auto loud = functionals(extractor.describe(voice.samples), FunctionalSet::full);
  for (double& x : voice.samples) x *= 0.1;
  const auto quiet = functionals(extractor.describe(voice.samples), FunctionalSet::full);
  const auto names = functional_names(FunctionalSet::full);
  for (std::size_t i = 0; i < loud.size(); ++i) {
    ASSERT_EQ(std::isnan(loud[i]), std::isnan(quiet[i])) << names[i];
    if (std::isnan(loud[i])) continue;
    EXPECT_NEAR(quiet[i], loud[i], 1e-7 * std::max(1.0, std::abs(loud[i]))) << names[i];
  }
}

}  // namespace
}  // namespace emomc
