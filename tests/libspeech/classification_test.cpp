// Tests class probabilities that are computed by hand, and labels that are drawn at a known temper.
#include "emomc/speech/classification.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns two utterances, of 1 and 4 frames, with two classes and two draws.
ClassLikelihoods two_utterances() {
  ClassLikelihoods l;
  l.num_utterances = 2;
  l.num_classes = 2;
  l.num_draws = 2;
  l.num_frames = {1, 4};
  l.values = {std::log(0.2), std::log(0.4), std::log(0.1), std::log(0.1), -8, -4, -4, -12};
  return l;
}

Classifier classifier(Rule rule, Evidence evidence, double temper, std::vector<double> prior = {0.5, 0.5}) {
  for (double& p : prior) p = std::log(p);
  return {rule, evidence, temper, std::move(prior)};
}

std::vector<double> probabilities(const Classifier& c, const ClassLikelihoods& l, std::size_t utterance) {
  std::vector<double> p(c.log_prior.size());
  class_log_probabilities(c, l, utterance, p);
  for (double& x : p) x = std::exp(x);
  return p;
}

TEST(ClassProbabilities, ArePredictiveMeansOverDraws) {
  const auto l = two_utterances();
  // The mean likelihoods are 0.3 and 0.1.
  EXPECT_NEAR(probabilities(classifier(Rule::predictive, Evidence::sum, 1), l, 0)[0], 0.75, 1e-15);
  // Prior odds of 1 to 3 cancel their ratio.
  EXPECT_NEAR(probabilities(classifier(Rule::predictive, Evidence::sum, 1, {0.25, 0.75}), l, 0)[0], 0.5,
              1e-15);
  // Temper 2 squares the likelihoods: (0.04 + 0.16) / 2 = 0.1 and 0.01.
  EXPECT_NEAR(probabilities(classifier(Rule::predictive, Evidence::sum, 2), l, 0)[0], 10.0 / 11, 1e-15);
  // For the mean over frames the temper is divided by 4.
  const double a = (std::exp(-2) + std::exp(-1)) / 2, b = (std::exp(-1) + std::exp(-3)) / 2;
  EXPECT_NEAR(probabilities(classifier(Rule::predictive, Evidence::mean, 1), l, 1)[0], a / (a + b), 1e-15);
  const double c = (std::exp(-4) + std::exp(-2)) / 2, d = (std::exp(-2) + std::exp(-6)) / 2;
  EXPECT_NEAR(probabilities(classifier(Rule::predictive, Evidence::sum, 0.5), l, 1)[1], d / (c + d), 1e-15);
}

TEST(ClassProbabilities, AreOfMeanLogLikelihoods) {
  const auto l = two_utterances();
  // The geometric means are sqrt(0.08) and 0.1.
  EXPECT_NEAR(probabilities(classifier(Rule::mean_log, Evidence::sum, 1), l, 0)[0],
              std::sqrt(0.08) / (std::sqrt(0.08) + 0.1), 1e-15);
  // The means are -6 and -8, or -1.5 and -2 per frame; the temper doubles the latter.
  EXPECT_NEAR(probabilities(classifier(Rule::mean_log, Evidence::mean, 2), l, 1)[0], 1 / (1 + std::exp(-1)),
              1e-15);
  EXPECT_NEAR(probabilities(classifier(Rule::mean_log, Evidence::sum, 1, {0.1, 0.9}), l, 1)[0],
              0.1 / (0.1 + 0.9 * std::exp(-2)), 1e-15);
}

TEST(ClassProbabilities, TakeLogLikelihoodsThatNoExponentialHolds) {
  ClassLikelihoods l;
  l.num_utterances = 1;
  l.num_classes = 3;
  l.num_draws = 2;
  l.num_frames = {1};
  l.values = {-90000, -90001, -90000, -90001, -99000, -99000};
  for (const Rule rule : {Rule::predictive, Rule::mean_log}) {
    const auto p = probabilities(classifier(rule, Evidence::sum, 1, {0.25, 0.5, 0.25}), l, 0);
    EXPECT_NEAR(p[0], 1.0 / 3, 1e-11);
    EXPECT_NEAR(p[1], 2.0 / 3, 1e-11);
    EXPECT_EQ(p[2], 0);
  }
}

TEST(ClassProbabilities, OfAnImpossibleClassAreZero) {
  auto l = two_utterances();
  l.values[0] = -kInfinity;  // one draw of the first class
  EXPECT_NEAR(probabilities(classifier(Rule::predictive, Evidence::sum, 1), l, 0)[0], 0.2 / 0.3, 1e-15);
  EXPECT_EQ(probabilities(classifier(Rule::mean_log, Evidence::sum, 1), l, 0)[0], 0);
  l.values[1] = -kInfinity;
  EXPECT_EQ(probabilities(classifier(Rule::predictive, Evidence::sum, 0.5), l, 0),
            (std::vector<double>{0, 1}));
  l.values[2] = l.values[3] = -kInfinity;
  for (const Rule rule : {Rule::predictive, Rule::mean_log})
    EXPECT_THROW(probabilities(classifier(rule, Evidence::sum, 1), l, 0), std::invalid_argument);
}

TEST(ClassProbabilitySpread, IsTheStandardDeviationOverDraws) {
  const auto l = two_utterances();
  std::vector<double> sd(2);
  // The two draws give 2/3 and 4/5.
  class_probability_spread(classifier(Rule::predictive, Evidence::sum, 1), l, 0, sd);
  EXPECT_NEAR(sd[0], (0.8 - 2.0 / 3) / std::sqrt(2), 1e-14);
  EXPECT_NEAR(sd[1], sd[0], 1e-14);
  // For the second utterance the draws' odds per frame are exp(-1) and exp(2).
  class_probability_spread(classifier(Rule::predictive, Evidence::mean, 1), l, 1, sd);
  EXPECT_NEAR(sd[0], (1 / (1 + std::exp(-2)) - 1 / (1 + std::exp(1))) / std::sqrt(2), 1e-14);
  // The probability of each draw includes the prior.
  class_probability_spread(classifier(Rule::predictive, Evidence::sum, 1, {0.2, 0.8}), l, 0, sd);
  EXPECT_NEAR(sd[0], (0.5 - 1.0 / 3) / std::sqrt(2), 1e-14);
}

TEST(ClassProbabilitySpread, OfOneDrawIsZero) {
  auto l = two_utterances();
  l.num_draws = 1;
  l.num_utterances = 1;
  std::vector<double> sd(2, -1);
  class_probability_spread(classifier(Rule::predictive, Evidence::sum, 1), l, 0, sd);
  EXPECT_EQ(sd, (std::vector<double>{0, 0}));
}

/// Returns n utterances of 3 classes whose labels are drawn from the probabilities at temper `tau`. There are
/// 2 equal draws, and each utterance has `frames` frames.
ClassLikelihoods labelled_at(double tau, int n, double frames, Evidence evidence, std::uint64_t seed,
                             std::vector<int>& truth) {
  ClassLikelihoods l;
  l.num_utterances = static_cast<std::size_t>(n);
  l.num_classes = 3;
  l.num_draws = 2;
  truth.clear();
  for (int i = 0; i < n; ++i) {
    const device::RandomSource random{seed, static_cast<std::uint64_t>(i), 3};
    double weight[3], total = 0;
    for (std::uint32_t c = 0; c < 3; ++c) {
      const double log_weight = 1.5 * random.normal(device::Purpose::start, c);
      const double value = log_weight / tau * (evidence == Evidence::mean ? frames : 1);
      l.values.insert(l.values.end(), {value, value});
      total += weight[c] = std::exp(log_weight);
    }
    double rest = total * random.uniform(device::Purpose::acceptance, 0);
    int label = 0;
    while (label < 2 && (rest -= weight[label]) > 0) ++label;
    truth.push_back(label);
    l.num_frames.push_back(frames);
  }
  return l;
}

// With n = 4,000 labels the maximum likelihood estimate of log tau has a standard error of 0.029, from the
// Fisher information of one label, 0.30 with these weights. The bound is 5.5 standard errors (probability of
// a false alarm 4e-8).
TEST(LearnTemper, FindsTheTemperThatLabelsWereDrawnAt) {
  for (const Evidence evidence : {Evidence::sum, Evidence::mean})
    for (const double tau : {0.003, 0.1, 1.0, 30.0})
      for (const Rule rule : {Rule::predictive, Rule::mean_log}) {
        std::vector<int> truth;
        const auto l = labelled_at(tau, 4000, 20, evidence, 11, truth);
        Classifier c = classifier(rule, evidence, 123, {1.0 / 3, 1.0 / 3, 1.0 / 3});
        const LabelledLikelihoods set{&l, truth};
        const LearnedTemper learned = learn_temper(c, {&set, 1});
        EXPECT_NEAR(std::log(learned.temper / tau), 0, 0.16) << tau;
        c.temper = learned.temper;
        std::vector<double> p(3);
        double loss = 0;
        for (std::size_t u = 0; u < l.num_utterances; ++u) {
          class_log_probabilities(c, l, u, p);
          loss -= p[static_cast<std::size_t>(truth[u])] / 4000;
        }
        EXPECT_NEAR(learned.log_loss, loss, 1e-12);
      }
}

TEST(LearnTemper, PoolsItsSetsByUtterance) {
  std::vector<int> all_truth;
  const auto all = labelled_at(0.2, 3000, 5, Evidence::sum, 4, all_truth);
  std::vector<ClassLikelihoods> parts;
  std::vector<LabelledLikelihoods> sets;
  const std::size_t cuts[] = {0, 10, 1000, 1000, 3000};
  for (int i = 0; i < 4; ++i) {
    ClassLikelihoods part{cuts[i + 1] - cuts[i], 3, 2, {}, {}};
    part.values.assign(all.values.begin() + static_cast<std::ptrdiff_t>(6 * cuts[i]),
                       all.values.begin() + static_cast<std::ptrdiff_t>(6 * cuts[i + 1]));
    part.num_frames.assign(part.num_utterances, 5);
    parts.push_back(part);
  }
  for (int i = 0; i < 4; ++i)
    sets.push_back({&parts[static_cast<std::size_t>(i)],
                    {all_truth.begin() + static_cast<std::ptrdiff_t>(cuts[i]),
                     all_truth.begin() + static_cast<std::ptrdiff_t>(cuts[i + 1])}});
  const Classifier c = classifier(Rule::predictive, Evidence::sum, 1, {0.2, 0.3, 0.5});
  const LabelledLikelihoods whole{&all, all_truth};
  const auto one = learn_temper(c, {&whole, 1}), many = learn_temper(c, sets);
  EXPECT_NEAR(one.temper, many.temper, 1e-9 * one.temper);
  EXPECT_NEAR(one.log_loss, many.log_loss, 1e-12);
}

TEST(LearnTemper, GoesToTheEndsOfItsRange) {
  std::vector<int> truth;
  auto l = labelled_at(1, 200, 1, Evidence::sum, 7, truth);
  std::vector<int> best, worst;
  for (std::size_t u = 0; u < 200; ++u) {
    int high = 0, low = 0;
    for (int c = 1; c < 3; ++c) {
      if (l.of(u, c)[0] > l.of(u, high)[0]) high = c;
      if (l.of(u, c)[0] < l.of(u, low)[0]) low = c;
    }
    best.push_back(high);
    worst.push_back(low);
  }
  const Classifier c = classifier(Rule::predictive, Evidence::sum, 1, {1.0 / 3, 1.0 / 3, 1.0 / 3});
  const LabelledLikelihoods right{&l, best}, wrong{&l, worst};
  // If the likelihoods are always right, a higher temper is better; if they are always wrong, the uniform
  // distribution is best.
  const auto high = learn_temper(c, {&right, 1}), low = learn_temper(c, {&wrong, 1});
  EXPECT_GT(high.temper, 100);
  EXPECT_LE(high.temper, 1.0001e4);
  EXPECT_NEAR(learn_temper(c, {&right, 1}, 1.0).temper, 1.0, 1e-3);
  EXPECT_LT(high.log_loss, 1e-3);
  EXPECT_LT(low.temper, 1e-4);
  EXPECT_GE(low.temper, 0.9999e-6);
  EXPECT_NEAR(low.log_loss, std::log(3), 1e-3);
}

TEST(LearnTemper, IsNotLostWhereAWrongClassIsImpossible) {
  std::vector<int> truth;
  auto l = labelled_at(0.5, 2000, 1, Evidence::sum, 5, truth);
  for (std::size_t u = 0; u < 2000; u += 2) {
    const auto impossible = static_cast<std::size_t>((truth[u] + 1) % 3);
    l.values[(u * 3 + impossible) * 2] = l.values[(u * 3 + impossible) * 2 + 1] = -kInfinity;
  }
  const LabelledLikelihoods set{&l, truth};
  const auto learned =
      learn_temper(classifier(Rule::predictive, Evidence::sum, 1, {1.0 / 3, 1.0 / 3, 1.0 / 3}), {&set, 1});
  EXPECT_TRUE(std::isfinite(learned.log_loss));
  EXPECT_GT(learned.temper, 0.1);
  EXPECT_LT(learned.temper, 5);
}

TEST(LearnTemper, SaysThatATrueClassWasImpossible) {
  std::vector<int> truth;
  auto l = labelled_at(0.5, 20, 1, Evidence::sum, 5, truth);
  const auto at = static_cast<std::size_t>(truth[3]);
  l.values[(3 * 3 + at) * 2] = l.values[(3 * 3 + at) * 2 + 1] = -kInfinity;
  const LabelledLikelihoods set{&l, truth};
  const auto learned =
      learn_temper(classifier(Rule::predictive, Evidence::sum, 1, {1.0 / 3, 1.0 / 3, 1.0 / 3}), {&set, 1});
  EXPECT_EQ(learned.log_loss, kInfinity);
  EXPECT_TRUE(std::isfinite(learned.temper));
  EXPECT_GT(learned.temper, 0);
}

TEST(LearnTemper, NeedsUtterances) {
  const Classifier c = classifier(Rule::predictive, Evidence::sum, 1);
  EXPECT_THROW(learn_temper(c, {}), std::invalid_argument);
  const ClassLikelihoods none{0, 2, 1, {}, {}};
  const LabelledLikelihoods set{&none, {}};
  EXPECT_THROW(learn_temper(c, {&set, 1}), std::invalid_argument);
}

// Frames of an utterance of class c are the mean m[c], plus an offset with variance 1 / kDamping that all
// frames of the utterance share, plus noise of variance 1. The classes' densities ignore the offset. The
// exact probabilities are then those of the sum of the frames' log likelihoods times kDamping / (n +
// kDamping).
constexpr double kDamping = 30;

struct OffsetCorpus {
  std::vector<ClassLikelihoods> by_length;  ///< whole utterances, then utterances cut to kLengths
  std::vector<int> truth;
  LabelledLikelihoods whole() const { return {&by_length[0], truth}; }
  std::vector<std::vector<LabelledLikelihoods>> cuts() const {
    std::vector<std::vector<LabelledLikelihoods>> lists;
    for (std::size_t i = 1; i < by_length.size(); ++i) lists.push_back({{&by_length[i], truth}});
    return lists;
  }
};
const std::vector<std::size_t> kLengths{20, 50, 100, 200};

OffsetCorpus offset_corpus(std::uint64_t seed, int utterances, std::size_t shortest = 201) {
  const double m[3] = {-0.25, 0, 0.25};
  OffsetCorpus corpus;
  corpus.by_length.resize(1 + kLengths.size());
  for (int u = 0; u < utterances; ++u) {
    const device::RandomSource random{seed, static_cast<std::uint64_t>(u), 4};
    const int label = u % 3;
    corpus.truth.push_back(label);
    const std::size_t frames = shortest + static_cast<std::size_t>(u % 100);
    const double offset = random.normal(device::Purpose::start, 0) / std::sqrt(kDamping);
    double sum = 0;
    const auto add = [&](ClassLikelihoods& to, std::size_t n) {
      for (const double mean : m) to.values.push_back(mean * sum - static_cast<double>(n) * mean * mean / 2);
      to.num_frames.push_back(static_cast<double>(n));
    };
    for (std::size_t n = 1; n <= frames; ++n) {
      sum += m[label] + offset + random.normal(device::Purpose::start, static_cast<std::uint32_t>(n));
      for (std::size_t i = 0; i < kLengths.size(); ++i)
        if (n == kLengths[i]) add(corpus.by_length[i + 1], n);
    }
    add(corpus.by_length[0], frames);
  }
  for (ClassLikelihoods& one : corpus.by_length) {
    one.num_utterances = corpus.truth.size();
    one.num_classes = 3;
    one.num_draws = 1;
  }
  return corpus;
}

struct Calibration {
  double confidence = 0, accuracy = 0, error = 0;  ///< `error` is the standard error of the accuracy
};

Calibration calibration_of(const Classifier& c, const ClassLikelihoods& l, const std::vector<int>& truth) {
  Calibration result;
  const auto n = static_cast<double>(truth.size());
  for (std::size_t u = 0; u < truth.size(); ++u) {
    const auto p = probabilities(c, l, u);
    const auto best = std::max_element(p.begin(), p.end());
    result.confidence += *best / n;
    if (best - p.begin() == truth[u]) result.accuracy += 1 / n;
  }
  result.error = std::sqrt(result.accuracy * (1 - result.accuracy) / n);
  return result;
}

const std::vector<double> kEven{1.0 / 3, 1.0 / 3, 1.0 / 3};

// The values that are learned on one corpus are right for another: at every length the mean confidence is the
// accuracy, within 5 standard errors (probability of a false alarm 6e-7 for each length).
TEST(LearnDamping, ConfidenceFollowsAccuracyAsUtterancesGetShorter) {
  const OffsetCorpus train = offset_corpus(1, 6000), test = offset_corpus(2, 6000);
  const LabelledLikelihoods whole = train.whole();
  Classifier c = classifier(Rule::predictive, Evidence::mean, 1, kEven);
  const LearnedDamping learned = learn_damping(c, {&whole, 1}, train.cuts(), 250);
  EXPECT_GT(learned.damping_frames, kDamping / 1.6);
  EXPECT_LT(learned.damping_frames, kDamping * 1.6);
  c.temper = learned.temper;
  c.damping_frames = learned.damping_frames;
  for (const ClassLikelihoods& l : test.by_length) {
    const Calibration now = calibration_of(c, l, test.truth);
    EXPECT_NEAR(now.confidence, now.accuracy, 5 * now.error) << l.num_frames[0] << " frames";
  }
  // Without damping the same comparison fails for short utterances, both for the mean and for the sum over
  // frames.
  for (const Evidence evidence : {Evidence::mean, Evidence::sum}) {
    Classifier plain = classifier(Rule::predictive, evidence, 1, kEven);
    plain.temper = learn_temper(plain, {&whole, 1}).temper;
    const Calibration shortest = calibration_of(plain, test.by_length[1], test.truth);
    EXPECT_GT(std::abs(shortest.confidence - shortest.accuracy), 8 * shortest.error);
  }
}

// All utterances have the same length and none is cut. The mean and the sum cannot be distinguished, and the
// mean is kept.
TEST(LearnDamping, IsNoneWhereNothingTellsOfIt) {
  std::vector<int> truth;
  const auto l = labelled_at(0.1, 400, 20, Evidence::mean, 11, truth);
  const LabelledLikelihoods set{&l, truth};
  const std::vector<std::vector<LabelledLikelihoods>> no_cuts(4);
  const LearnedDamping learned =
      learn_damping(classifier(Rule::predictive, Evidence::sum, 1, kEven), {&set, 1}, no_cuts, 20);
  EXPECT_EQ(learned.damping_frames, 0);
  EXPECT_NEAR(learned.temper,
              learn_temper(classifier(Rule::predictive, Evidence::mean, 1, kEven), {&set, 1}, 20).temper,
              1e-9);
}

// A frame never counts for more than an independent frame, whatever the labels are.
TEST(LearnDamping, IsBoundedByIndependentFrames) {
  OffsetCorpus corpus = offset_corpus(3, 300);
  for (ClassLikelihoods& l : corpus.by_length)
    for (double& x : l.values) x /= 50;  // a larger temper would be better
  const LabelledLikelihoods whole = corpus.whole();
  const LearnedDamping learned =
      learn_damping(classifier(Rule::predictive, Evidence::mean, 1, kEven), {&whole, 1}, corpus.cuts(), 250);
  EXPECT_LE(learned.temper, (250 + learned.damping_frames) * (1 + 1e-9));
}

}  // namespace
}  // namespace emomc
