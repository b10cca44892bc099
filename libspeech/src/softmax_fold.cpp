#include "softmax_fold.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "softmax_prediction.hpp"

namespace emomc {
namespace {

using Eigen::MatrixXd;

// The log probability of one class of one row under each draw, and the standard deviation of the probability.
void append_draws(const std::vector<MatrixXd>& draws, Eigen::Index row, Eigen::Index k, SoftmaxFold& fold) {
  double sum = 0, squares = 0;
  for (const MatrixXd& draw : draws) {
    const double p = std::exp(draw(row, k));
    fold.draw_log_probability.push_back(draw(row, k));
    sum += p;
    squares += p * p;
  }
  const auto n = static_cast<double>(draws.size());
  fold.probability_sd.push_back(std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n))));
}

}  // namespace

std::vector<Eigen::Index> append_predictions(const SoftmaxRows& corpus, const std::vector<std::size_t>& rows,
                                             const MatrixXd& mode, std::vector<MatrixXd> draws,
                                             SoftmaxFold& fold) {
  const MatrixXd of_mode = tempered_log_probability(mode, fold.penalised.temper);
  const std::vector<int> num_frames = corpus.num_frames_of(rows);
  const auto tempered = [&](const MatrixXd& logs) {
    return tempered_log_probability(shared_by_frames(logs, fold.posterior.frames, num_frames),
                                    fold.posterior.temper);
  };
  const MatrixXd averaged = tempered(averaged_log_probability(draws));
  for (MatrixXd& one : draws) one = tempered(one);
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
      append_draws(draws, place, k, fold);
    }
  }
  return places;
}

}  // namespace emomc
