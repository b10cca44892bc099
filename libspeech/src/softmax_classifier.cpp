#include "emomc/speech/softmax_classifier.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "softmax_prediction.hpp"

namespace emomc {

ClassProbabilities class_probabilities(const SoftmaxClassifier& classifier, std::span<const double> row,
                                       SpeakerKnowledge knowledge, std::size_t num_frames) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Eigen::MatrixXd;
  const auto p = static_cast<Eigen::Index>(classifier.columns.size()),
             rank = static_cast<Eigen::Index>(classifier.rank),
             contrasts = Eigen::Index{classifier.num_classes} - 1;
  const Eigen::Index of_draw = (rank + 1) * contrasts;
  std::size_t drawn = 0;
  for (const DrawsOfSd& one : classifier.prior_sds) drawn += one.num_draws;
  if (classifier.prior == SoftmaxPrior::ridge && drawn != classifier.num_draws)
    throw std::invalid_argument("class_probabilities: the prior sds are not those of the draws");
  if (row.size() != classifier.columns.size() || contrasts < 1 ||
      classifier.axes.size() != static_cast<std::size_t>(p * rank) || classifier.num_draws == 0 ||
      classifier.weights.size() != classifier.num_draws * static_cast<std::size_t>(of_draw))
    throw std::invalid_argument("class_probabilities: sizes disagree");
  const OtherRows rotated =
      rotate_others({row.begin(), row.end()}, Eigen::Map<const Rows>(classifier.axes.data(), p, rank));
  const SoftmaxTemper& learned = classifier.tempers[static_cast<std::size_t>(knowledge)];
  const int counted = static_cast<int>(std::min<std::size_t>(num_frames, 1'000'000'000));
  const double temper = learned.temper * share_of_temper(learned.frames, counted);
  std::vector<MatrixXd> logits;
  const auto add_draws = [&](std::size_t number, double prior_sd) {
    for (const std::size_t end = logits.size() + number; logits.size() < end;) {
      const std::size_t d = logits.size();
      logits.push_back(logits_of_others(
          rotated,
          Eigen::Map<const Rows>(classifier.weights.data() + d * static_cast<std::size_t>(of_draw), rank + 1,
                                 contrasts),
          prior_sd * std::sqrt(classifier.temperature), classifier.seed, d));
    }
  };
  if (classifier.prior == SoftmaxPrior::horseshoe) add_draws(classifier.num_draws, 0);
  for (const DrawsOfSd& one : classifier.prior_sds) add_draws(one.num_draws, one.prior_sd);
  const MatrixXd mean = tempered_log_probability(averaged_log_probability(logits), temper);
  ClassProbabilities result;
  for (Eigen::Index k = 0; k < contrasts + 1; ++k) result.mean.push_back(std::exp(mean(0, k)));
  std::vector<double> sum(result.mean.size()), squares(result.mean.size());
  for (const MatrixXd& one : logits) {
    const MatrixXd logs = tempered_log_probability(one, temper);
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const double of_draw_k = std::exp(logs(0, static_cast<Eigen::Index>(k)));
      sum[k] += of_draw_k;
      squares[k] += of_draw_k * of_draw_k;
    }
  }
  const auto n = static_cast<double>(classifier.num_draws);
  for (std::size_t k = 0; k < sum.size(); ++k)
    result.sd.push_back(std::sqrt(std::max(0.0, squares[k] / n - sum[k] / n * (sum[k] / n))));
  return result;
}

}  // namespace emomc
