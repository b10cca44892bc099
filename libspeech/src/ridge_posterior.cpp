#include "ridge_posterior.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <stdexcept>

namespace emomc {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

RidgePosterior::RidgePosterior(const MatrixXd& x, const MatrixXd& y)
    : num_rows_(static_cast<double>(x.rows())), mean_x_(x.colwise().mean()), mean_y_(y.colwise().mean()) {
  constexpr double kLeast = 1e-12;  // eigenvalues are rounding below this share of the largest one
  if (x.rows() < 4 || y.rows() != x.rows()) throw std::invalid_argument("ridge_posterior: too few rows");
  const MatrixXd about_x = x.rowwise() - mean_x_, about_y = y.rowwise() - mean_y_;
  MatrixXd squares = MatrixXd::Zero(x.cols(), x.cols());
  squares.selfadjointView<Eigen::Lower>().rankUpdate(about_x.transpose());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(squares);
  axes_ = solver.eigenvectors();
  eigenvalues_ = solver.eigenvalues().cwiseMax(0);
  const double least = kLeast * eigenvalues_.maxCoeff();
  const MatrixXd turned = about_x * axes_;
  products_ = turned.transpose() * about_y;
  MatrixXd plain = products_;  // least-squares weights
  for (Index j = 0; j < eigenvalues_.size(); ++j) {
    if (eigenvalues_(j) > least) {
      plain.row(j) /= eigenvalues_(j);
      continue;
    }
    eigenvalues_(j) = 0;  // no row has a component in this direction
    products_.row(j).setZero();
    plain.row(j).setZero();
  }
  residual_ = (about_y - turned * plain).colwise().squaredNorm().transpose();
}

RidgePosterior::Turned RidgePosterior::turned(const MatrixXd& x, const VectorXd& outside) const {
  return {(x.rowwise() - mean_x_) * axes_,
          outside.size() == 0 ? VectorXd::Zero(x.rows()).eval() : outside.cwiseAbs2().eval()};
}

VectorXd RidgePosterior::weights(Index number, double prior_sd) const {
  return products_.col(number).array() / (eigenvalues_.array() + 1 / (prior_sd * prior_sd));
}

// Uses that the sum of squares |y - X w|^2 + |w|^2 / s^2 at the posterior mean is a sum of terms above 0.
double RidgePosterior::noise_sd(Index number, double prior_sd) const {
  const double precision = 1 / (prior_sd * prior_sd);
  double sum = residual_(number);
  for (Index j = 0; j < eigenvalues_.size(); ++j)
    if (const double lambda = eigenvalues_(j); lambda > 0)
      sum += products_(j, number) * products_(j, number) / lambda * precision / (lambda + precision);
  return std::sqrt(sum / freedom());
}

std::vector<PredictiveT> RidgePosterior::predict(const Turned& rows, Index number, double prior_sd) const {
  const VectorXd means = (rows.x * weights(number, prior_sd)).array() + mean_y_(number);
  const double noise = noise_sd(number, prior_sd);
  std::vector<PredictiveT> result;
  for (Index i = 0; i < rows.x.rows(); ++i) {
    const double factor = variance_factor(rows.x.row(i), rows.outside(i), eigenvalues_, num_rows_, prior_sd);
    result.push_back({means(i), noise * std::sqrt(factor), freedom()});
  }
  return result;
}

double variance_factor(const VectorXd& row, double outside, const VectorXd& eigenvalues, double num_rows,
                       double prior_sd) {
  const double variance = prior_sd * prior_sd;
  return 1 + 1 / num_rows + (row.array().square() / (eigenvalues.array() + 1 / variance)).sum() +
         variance * outside;
}

}  // namespace emomc
