#include "emomc/speech/classification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace emomc {
namespace {

double log_sum_exp(std::span<const double> x) {
  const double top = *std::max_element(x.begin(), x.end());
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double v : x) sum += std::exp(v - top);
  return top + std::log(sum);
}

double score(Rule rule, double temper, std::span<const double> draws) {
  const auto n = static_cast<double>(draws.size());
  if (rule == Rule::mean_log) {
    double sum = 0;
    for (const double v : draws) sum += v;
    return temper * sum / n;
  }
  const double top = *std::max_element(draws.begin(), draws.end());
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double v : draws) sum += std::exp(temper * (v - top));
  return temper * top + std::log(sum / n);
}

// The factor of an utterance's log likelihood.
double scale_of(const Classifier& classifier, const ClassLikelihoods& likelihoods, std::size_t utterance) {
  return classifier.evidence == Evidence::sum
             ? classifier.temper
             : classifier.temper / (likelihoods.num_frames[utterance] + classifier.damping_frames);
}

void normalize_log(std::span<double> values) {
  const double total = log_sum_exp(values);
  if (!std::isfinite(total)) throw std::invalid_argument("classification: no class has a finite likelihood");
  for (double& v : values) v -= total;
}

double mean_log_loss(const Classifier& classifier, std::span<const LabelledLikelihoods> sets) {
  std::vector<double> p(classifier.log_prior.size());
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [likelihoods, truth] : sets)
    for (std::size_t u = 0; u < likelihoods->num_utterances; ++u, ++count) {
      class_log_probabilities(classifier, *likelihoods, u, p);
      sum -= p[static_cast<std::size_t>(truth[u])];
    }
  if (count == 0) throw std::invalid_argument("learn_temper: no utterances");
  return sum / static_cast<double>(count);
}

}  // namespace

void class_log_probabilities(const Classifier& classifier, const ClassLikelihoods& likelihoods,
                             std::size_t utterance, std::span<double> out) {
  const double scale = scale_of(classifier, likelihoods, utterance);
  for (int c = 0; c < likelihoods.num_classes; ++c) {
    const auto at = static_cast<std::size_t>(c);
    out[at] = classifier.log_prior[at] + score(classifier.rule, scale, likelihoods.of(utterance, c));
  }
  normalize_log(out);
}

void class_probability_spread(const Classifier& classifier, const ClassLikelihoods& likelihoods,
                              std::size_t utterance, std::span<double> out) {
  const auto classes = static_cast<std::size_t>(likelihoods.num_classes);
  const double scale = scale_of(classifier, likelihoods, utterance);
  std::vector<double> sum(classes), squares(classes), p(classes);
  for (std::size_t s = 0; s < likelihoods.num_draws; ++s) {
    for (std::size_t c = 0; c < classes; ++c)
      p[c] = classifier.log_prior[c] + scale * likelihoods.of(utterance, static_cast<int>(c))[s];
    normalize_log(p);
    for (std::size_t c = 0; c < classes; ++c) {
      const double value = std::exp(p[c]);
      sum[c] += value;
      squares[c] += value * value;
    }
  }
  const auto n = static_cast<double>(likelihoods.num_draws);
  for (std::size_t c = 0; c < classes; ++c)
    out[c] = n > 1 ? std::sqrt(std::max(0.0, (squares[c] - sum[c] * sum[c] / n) / (n - 1))) : 0.0;
}

namespace {

// The temper with exp(low) <= temper <= exp(high) that minimises the log loss, which has one minimum there.
LearnedTemper search_temper(Classifier classifier, std::span<const LabelledLikelihoods> sets, double low,
                            double high, int rounds) {
  const auto loss = [&](double log_temper) {
    classifier.temper = std::exp(log_temper);
    return mean_log_loss(classifier, sets);
  };
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double a = high - ratio * (high - low), b = low + ratio * (high - low);
  double loss_a = loss(a), loss_b = loss(b);
  for (int i = 0; i < rounds; ++i) {
    if (loss_a <= loss_b) {
      high = b;
      b = a;
      loss_b = loss_a;
      loss_a = loss(a = high - ratio * (high - low));
    } else {
      low = a;
      a = b;
      loss_a = loss_b;
      loss_b = loss(b = low + ratio * (high - low));
    }
  }
  const double log_loss = loss((low + high) / 2);
  return {classifier.temper, log_loss};
}

}  // namespace

LearnedTemper learn_temper(Classifier classifier, std::span<const LabelledLikelihoods> sets, double most) {
  const double lowest = std::log(1e-6), highest = std::log(most);
  constexpr int kGrid = 41, kRounds = 30;
  const auto loss = [&](double log_temper) {
    classifier.temper = std::exp(log_temper);
    return mean_log_loss(classifier, sets);
  };
  const double spacing = (highest - lowest) / (kGrid - 1);
  double best = lowest, smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kGrid; ++i) {
    const double at = lowest + i * spacing, value = loss(at);
    if (value < smallest) {
      smallest = value;
      best = at;
    }
  }
  return search_temper(classifier, sets, std::max(lowest, best - spacing), std::min(highest, best + spacing),
                       kRounds);
}

namespace {

std::size_t number_of(std::span<const LabelledLikelihoods> sets) {
  std::size_t number = 0;
  for (const LabelledLikelihoods& one : sets) number += one.truth.size();
  return number;
}

}  // namespace

LearnedDamping learn_damping(Classifier classifier, std::span<const LabelledLikelihoods> whole,
                             std::span<const std::vector<LabelledLikelihoods>> cuts, double mean_frames) {
  constexpr int kRounds = 12;
  // Half width of the search in log temper, around the temper per frame of the best n0 so far.
  constexpr double kReach = 1.4;
  constexpr double kRounding = 1e-6;  // smaller decreases of the loss are rounding errors
  classifier.evidence = Evidence::mean;
  // Log of the temper per frame for an utterance of mean length, which hardly depends on n0.
  double log_weight = 0;
  double least = std::numeric_limits<double>::infinity();
  LearnedDamping best;
  const auto attempt = [&](double damping) {
    classifier.damping_frames = damping;
    const double most = mean_frames + damping;
    LearnedTemper learned;
    if (damping == 0) {
      learned = learn_temper(classifier, whole, most);
    } else {
      const double at = std::min(log_weight + std::log(most), std::log(most));
      learned = search_temper(classifier, whole, at - kReach, std::min(at + kReach, std::log(most)), kRounds);
    }
    classifier.temper = learned.temper;
    double sum = static_cast<double>(number_of(whole)) * learned.log_loss;
    std::size_t number = number_of(whole);
    for (const auto& cut : cuts)
      if (const std::size_t cut_number = number_of(cut); cut_number > 0) {
        sum += static_cast<double>(cut_number) * mean_log_loss(classifier, cut);
        number += cut_number;
      }
    const double mean = sum / static_cast<double>(number);
    if (!(mean < least - kRounding)) return;
    least = mean;
    log_weight = std::log(learned.temper / most);
    static_cast<LearnedTemper&>(best) = learned;
    best.damping_frames = damping;
  };
  attempt(0);
  for (int damping = 1; damping <= static_cast<int>(kMostDamping); damping *= 2) attempt(damping);
  if (const double at = best.damping_frames; at > 0)
    for (const double factor : {std::sqrt(0.5), std::sqrt(2.0)}) attempt(std::min(factor * at, kMostDamping));
  return best;
}

}  // namespace emomc
