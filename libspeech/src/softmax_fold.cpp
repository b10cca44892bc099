#include "softmax_fold.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emomc/speech/softmax_classifier.hpp"
#include "softmax_prediction.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;

// Appends the log probability of one class of one row under each draw, and the standard deviation of the
// probability.
void append_log_probabilities(const std::vector<WeightedLogits>& posteriors, Eigen::Index row, Eigen::Index k,
                              SoftmaxFold& fold) {
  double mean = 0, mean_square = 0;
  for (std::size_t i = 0; i < posteriors.size(); ++i) {
    double sum = 0, squares = 0;
    for (const MatrixXd& draw : posteriors[i].draws) {
      const double p = std::exp(draw(row, k));
      fold.draw_log_probability[i].push_back(draw(row, k));
      sum += p;
      squares += p * p;
    }
    const double of_draw = posteriors[i].weight / static_cast<double>(posteriors[i].draws.size());
    mean += of_draw * sum;
    mean_square += of_draw * squares;
  }
  fold.probability_sd.push_back(std::sqrt(std::max(0.0, mean_square - mean * mean)));
}

}  // namespace

std::vector<Eigen::Index> append_predictions(const SoftmaxRows& corpus, const std::vector<std::size_t>& rows,
                                             const MatrixXd& mode, std::vector<WeightedLogits> posteriors,
                                             SoftmaxFold& fold) {
  const MatrixXd of_mode = tempered_log_probability(mode, fold.penalised.temper);
  const std::vector<int> num_frames = corpus.num_frames_of(rows);
  const auto tempered = [&](const MatrixXd& logs) {
    return tempered_log_probability(shared_by_frames(logs, fold.posterior.frames, num_frames),
                                    fold.posterior.temper);
  };
  std::vector<MatrixXd> averages;
  std::vector<double> weights;
  for (WeightedLogits& one : posteriors) {
    averages.push_back(averaged_log_probability(one.draws));
    weights.push_back(one.weight);
    for (MatrixXd& draw : one.draws) draw = tempered(draw);
  }
  const MatrixXd averaged = tempered(mixed_log_probability(averages, weights));
  fold.draw_log_probability.resize(posteriors.size());
  std::vector<Eigen::Index> places(rows.size());
  std::iota(places.begin(), places.end(), 0);
  const auto in_corpus = [&](Eigen::Index place) {
    return corpus.in_corpus(rows[static_cast<std::size_t>(place)]);
  };
  std::sort(places.begin(), places.end(),
            [&](Eigen::Index a, Eigen::Index b) { return in_corpus(a) < in_corpus(b); });
  for (const Eigen::Index place : places) {
    fold.rows.push_back(in_corpus(place));
    for (Eigen::Index k = 0; k < mode.cols(); ++k) {
      fold.penalised.log_probability.push_back(of_mode(place, k));
      fold.posterior.log_probability.push_back(averaged(place, k));
      append_log_probabilities(posteriors, place, k, fold);
    }
  }
  return places;
}

void put_predictions(const SoftmaxFold& fold, Numbers& to) {
  to.put(fold.rows);
  to.put(fold.penalised.log_probability);
  to.put(fold.posterior.log_probability);
  for (const SoftmaxPredictions& less : fold.less_known) to.put(less.log_probability);
  to.put(fold.probability_sd);
  to.put(fold.acceptance);
}

void take_predictions(Numbers& from, SoftmaxFold& fold) {
  from.take(fold.rows);
  from.take(fold.penalised.log_probability);
  from.take(fold.posterior.log_probability);
  for (SoftmaxPredictions& less : fold.less_known) from.take(less.log_probability);
  from.take(fold.probability_sd);
  fold.acceptance = from.take();
}

std::vector<int> inner_speakers(const std::vector<int>& test, int num_speakers) {
  std::vector<int> inner;
  const int first = test.empty() ? 0 : test.front();
  for (int distance = test.empty() ? 0 : 1;
       distance < num_speakers && static_cast<int>(inner.size()) < kMostInnerSpeakers; ++distance)
    for (const int side : {1, -1}) {
      const int speaker = ((first + side * distance) % num_speakers + num_speakers) % num_speakers;
      const bool taken = std::find(test.begin(), test.end(), speaker) != test.end() ||
                         std::find(inner.begin(), inner.end(), speaker) != inner.end();
      if (!taken && static_cast<int>(inner.size()) < kMostInnerSpeakers) inner.push_back(speaker);
    }
  return inner;
}

SoftmaxClassifier classifier_without_draws(const SoftmaxRows& corpus, const SoftmaxFold& fold,
                                           const SoftmaxSettings& settings) {
  std::vector<std::size_t> all(corpus.size());
  std::iota(all.begin(), all.end(), 0);
  SoftmaxClassifier classifier;
  classifier.columns = corpus.table().columns;
  classifier.num_classes = corpus.num_classes();
  classifier.seed = settings.seed;
  classifier.prior = settings.prior;
  const bool is_ridge = settings.prior == SoftmaxPrior::ridge;
  classifier.relevant_share = is_ridge ? 0 : settings.relevant_share;
  classifier.slab_scale = is_ridge ? 0 : settings.slab_scale;
  classifier.temperature = settings.temperature;
  classifier.tempers[0] = fold.posterior;
  for (std::size_t i = 1; i < kNumKnowledge; ++i) classifier.tempers[i] = fold.less_known[i - 1];
  classifier.corpus = corpus_statistics(corpus.table(), all);
  const MatrixXd& axes = corpus.axes();
  classifier.rank = static_cast<std::size_t>(axes.cols());
  for (Eigen::Index j = 0; j < axes.rows(); ++j)
    for (Eigen::Index i = 0; i < axes.cols(); ++i) classifier.axes.push_back(axes(j, i));
  return classifier;
}

void append_draws(const SoftmaxDraws& draws, std::size_t number, double prior_sd,
                  SoftmaxClassifier& classifier) {
  if (number == 0) return;
  for (std::size_t d = 0; d < number; ++d) {
    const MatrixXd& weights = draws.weights[d * draws.weights.size() / number];
    for (Eigen::Index i = 0; i < weights.rows(); ++i)
      for (Eigen::Index k = 0; k < weights.cols(); ++k) classifier.weights.push_back(weights(i, k));
  }
  classifier.num_draws += number;
  if (classifier.prior == SoftmaxPrior::ridge) classifier.prior_sds.push_back({prior_sd, number});
}

}  // namespace emomc
