// Predicts numbers with a trained regression.
#include <cmath>
#include <stdexcept>

#include "emomc/speech/regression_evaluation.hpp"
#include "ridge_posterior.hpp"

namespace emomc {

std::vector<PredictiveT> predict_numbers(const Regressor& regressor, const std::vector<double>& row,
                                         SpeakerKnowledge knowledge) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto p = static_cast<Eigen::Index>(regressor.columns.size()),
             rank = static_cast<Eigen::Index>(regressor.rank);
  bool fits = row.size() == regressor.columns.size() && regressor.centre.size() == regressor.rank &&
              regressor.eigenvalues.size() == regressor.rank && regressor.num_rows > 1 &&
              regressor.axes.size() == row.size() * regressor.rank;
  for (const Regressor::Dimension& d : regressor.dimensions)
    fits = fits && d.weights.size() == regressor.rank;
  if (!fits) throw std::invalid_argument("predict_numbers: sizes disagree");
  const auto vector = [&](const std::vector<double>& values) {
    return Eigen::Map<const Eigen::VectorXd>(values.data(), rank);
  };
  const OtherRows rotated = rotate_others(row, Eigen::Map<const Rows>(regressor.axes.data(), p, rank));
  const Eigen::VectorXd turned = rotated.x.row(0).head(rank).transpose() - vector(regressor.centre);
  const double outside = rotated.outside(0) * rotated.outside(0);
  const auto n = static_cast<double>(regressor.num_rows);
  std::vector<PredictiveT> result;
  for (const Regressor::Dimension& d : regressor.dimensions) {
    const double factor = variance_factor(turned, outside, vector(regressor.eigenvalues), n, d.prior_sd);
    result.push_back({d.mean + turned.dot(vector(d.weights)),
                      d.factors[static_cast<std::size_t>(knowledge)].factor * d.noise_sd * std::sqrt(factor),
                      n - 1});
  }
  return result;
}

}  // namespace emomc
