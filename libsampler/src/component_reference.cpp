#include "component_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace emomc::matching {
namespace {

constexpr double kLeastWeight = 1e-12;    // ensures that the moments of empty components exist
constexpr std::size_t kMostDraws = 1000;  // number of draws from which the largest sds are estimated

}  // namespace

Eigen::VectorXd column_factors(const MixtureReader& reader, int num_columns) {
  Eigen::VectorXd largest = Eigen::VectorXd::Zero(num_columns);
  Mixture m;
  for (std::size_t i = 0; i < std::min(kMostDraws, reader.num_draws()); ++i) {
    reader.read(i * reader.num_draws() / std::min(kMostDraws, reader.num_draws()), m);
    if (m.sds.allFinite()) largest = largest.cwiseMax(m.sds.rowwise().maxCoeff());
  }
  return largest.unaryExpr([](double sd) { return sd > 0 ? std::ldexp(1.0, -std::ilogb(sd)) : 1.0; });
}

Sample::Sample(const MixtureReader& reader, int num_components, const Eigen::VectorXd& factors,
               std::size_t count, bool is_kept)
    : reader_(reader), num_components_(num_components), factors_(factors), count_(count) {
  if (!is_kept) return;
  std::vector<Draw> kept(count);
  for (std::size_t i = 0; i < count; ++i) read(i, kept[i]);
  kept_ = std::move(kept);
}

void Sample::read(std::size_t i, Draw& draw) const {
  const std::size_t at = i * reader_.num_draws() / count_;
  Mixture& m = draw.mixture;
  reader_.read(at, m);
  m.means.array().colwise() *= factors_.array();
  m.sds.array().colwise() *= factors_.array();
  draw.is_finite = m.weights.allFinite() && m.means.allFinite() && m.sds.allFinite();
  if (!reader_.has_covariances()) return;
  draw.covariances.resize(static_cast<std::size_t>(num_components_));
  for (int k = 0; k < num_components_; ++k) {
    auto& covariance = draw.covariances[static_cast<std::size_t>(k)];
    reader_.read_covariance(at, k, covariance);
    covariance = factors_.asDiagonal() * covariance * factors_.asDiagonal();
    draw.is_finite = draw.is_finite && covariance.allFinite();
  }
}

void Sums::clear(Eigen::Index K, Eigen::Index d, bool has_covariances) {
  weights_.setZero(K);
  first_.setZero(d, K);
  second_.setZero(d, K);
  spread_.setZero(d, K);
  full_.assign(static_cast<std::size_t>(has_covariances ? K : 0), Eigen::MatrixXd::Zero(d, d));
}

void Sums::add(const Draw& draw, const int* permutation, const Eigen::MatrixXd& shift) {
  const Mixture& m = draw.mixture;
  for (Eigen::Index k = 0; k < weights_.size(); ++k) {
    const int j = permutation[k];
    const double w = std::max(m.weights[j], kLeastWeight);
    const auto x = m.means.col(j) - shift.col(k);
    weights_[k] += w;
    first_.col(k) += w * x;
    if (full_.empty()) {
      second_.col(k).array() += w * x.array().square();
      spread_.col(k).array() += w * m.sds.col(j).array().square();
    } else {
      auto& sum = full_[static_cast<std::size_t>(k)];
      sum += w * draw.covariances[static_cast<std::size_t>(j)];
      sum.noalias() += (w * x) * x.transpose();
    }
  }
}

void Sums::add(const Sums& other) {
  weights_ += other.weights_;
  first_ += other.first_;
  second_ += other.second_;
  spread_ += other.spread_;
  for (std::size_t k = 0; k < full_.size(); ++k) full_[k] += other.full_[k];
}

Reference Sums::reference(const Eigen::MatrixXd& shift) const {
  const Eigen::Index K = weights_.size(), d = shift.rows();
  Reference reference;
  reference.offsets.resize(K);
  reference.means = shift;
  reference.precisions.resize(d, K);
  reference.precision.resize(full_.size());
  const double total = weights_.sum();
  double objective = 0;
  for (Eigen::Index k = 0; k < K; ++k) {
    const double w = weights_[k];
    const Eigen::VectorXd x = first_.col(k) / w;
    reference.means.col(k) += x;
    double log_determinant = 0;
    if (full_.empty()) {
      const Eigen::ArrayXd variance =
          spread_.col(k).array() / w + (second_.col(k).array() / w - x.array().square()).max(0.0);
      reference.precisions.col(k) = variance.inverse();
      log_determinant = variance.log().sum();
    } else {
      const auto i = static_cast<std::size_t>(k);
      const Eigen::LLT<Eigen::MatrixXd> factor(full_[i] / w - x * x.transpose());
      reference.precision[i] = factor.solve(Eigen::MatrixXd::Identity(d, d));
      log_determinant = factor.info() == Eigen::Success
                            ? 2 * factor.matrixLLT().diagonal().array().log().sum()
                            : std::numeric_limits<double>::quiet_NaN();
    }
    reference.offsets[k] = 0.5 * log_determinant - std::log(w / total);
    objective += w / total * reference.offsets[k];
  }
  if (std::isfinite(objective)) reference.objective = objective;
  return reference;
}

void find_costs(const Draw& draw, const Reference& reference, Costs& costs) {
  const Mixture& m = draw.mixture;
  const Eigen::Index K = m.weights.size();
  costs.resize(K, K);
  Eigen::VectorXd x;
  for (Eigen::Index j = 0; j < K; ++j)
    for (Eigen::Index k = 0; k < K; ++k) {
      double squares = 0;
      if (draw.covariances.empty()) {
        squares =
            ((m.sds.col(j).array().square() + (m.means.col(j) - reference.means.col(k)).array().square()) *
             reference.precisions.col(k).array())
                .sum();
      } else {
        const auto& precision = reference.precision[static_cast<std::size_t>(k)];
        x = m.means.col(j) - reference.means.col(k);
        squares = precision.cwiseProduct(draw.covariances[static_cast<std::size_t>(j)]).sum() +
                  x.dot(precision.selfadjointView<Eigen::Lower>() * x);
      }
      costs(j, k) = std::max(m.weights[j], kLeastWeight) * (reference.offsets[k] + 0.5 * squares);
    }
}

void match(const Costs& costs, int* permutation) {
  const auto K = static_cast<int>(costs.rows());
  // If the cheapest numbers of all components differ, they are the optimal assignment.
  std::fill_n(permutation, K, -1);
  bool is_done = true;
  for (int j = 0; j < K && is_done; ++j) {
    Eigen::Index k = 0;
    costs.row(j).minCoeff(&k);
    is_done = permutation[k] < 0;
    permutation[k] = j;
  }
  if (is_done) return;
  const auto number = least_cost_assignment({costs.data(), static_cast<std::size_t>(costs.size())}, K);
  for (int j = 0; j < K; ++j) permutation[number[static_cast<std::size_t>(j)]] = j;
}

}  // namespace emomc::matching
