#include "rotated_rows.hpp"

#include <Eigen/SVD>
#include <cmath>
#include <numeric>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The rows divided by the square root of the number of columns.
Eigen::MatrixXd scaled(const FunctionalTable& table) {
  const auto n = static_cast<Eigen::Index>(table.rows.size()),
             p = static_cast<Eigen::Index>(table.columns.size());
  return Eigen::Map<const Rows>(table.values.data(), n, p) / std::sqrt(static_cast<double>(p));
}

[[noreturn]] void refuse_equal_rows() {
  throw InputError(
      "functionals: no column differs between the utterances of any speaker, by whom they are standardised; "
      "a "
      "speaker needs two or more utterances");
}

}  // namespace

RotatedRows unrotated_rows(const FunctionalTable& table) {
  const Eigen::MatrixXd x = scaled(table);
  if (x.isZero(0)) refuse_equal_rows();
  RotatedRows rows;
  rows.x.resize(x.rows(), x.cols() + 1);
  rows.x << x, Eigen::VectorXd::Ones(x.rows());
  rows.axes = Eigen::MatrixXd::Identity(x.cols(), x.cols()) / std::sqrt(static_cast<double>(x.cols()));
  return rows;
}

RotatedRows rotated_rows(const FunctionalTable& table) {
  constexpr double kLeast = 1e-9;  // limit for singular values relative to the largest one
  const Eigen::MatrixXd x = scaled(table);
  const Eigen::Index n = x.rows();
  const double root = std::sqrt(static_cast<double>(x.cols()));
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(x, Eigen::ComputeThinU);
  const Eigen::VectorXd& values = svd.singularValues();
  Eigen::Index rank = 0;
  while (rank < values.size() && values(rank) > kLeast * values(0)) ++rank;
  if (rank == 0) refuse_equal_rows();
  RotatedRows rotated;
  rotated.x.resize(n, rank + 1);
  rotated.x.leftCols(rank) = svd.matrixU().leftCols(rank) * values.head(rank).asDiagonal();
  rotated.x.col(rank).setOnes();
  rotated.axes =
      x.transpose() * svd.matrixU().leftCols(rank) * (values.head(rank) * root).cwiseInverse().asDiagonal();
  return rotated;
}

OtherRows rotate_others(const std::vector<double>& values, const Eigen::MatrixXd& axes) {
  const Eigen::Index p = axes.rows(), m = static_cast<Eigen::Index>(values.size()) / p, rank = axes.cols();
  const Eigen::Map<const Rows> rows(values.data(), m, p);
  OtherRows others;
  others.x.resize(m, rank + 1);
  others.x.leftCols(rank) = rows * axes;
  others.x.col(rank).setOnes();
  const Eigen::VectorXd all = rows.rowwise().squaredNorm() / static_cast<double>(p);
  others.outside = (all - others.x.leftCols(rank).rowwise().squaredNorm()).cwiseMax(0).cwiseSqrt();
  others.streams.resize(static_cast<std::size_t>(m));
  std::iota(others.streams.begin(), others.streams.end(), 0U);
  return others;
}

}  // namespace emomc
