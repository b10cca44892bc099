#include "rotated_rows.hpp"

#include <Eigen/SVD>
#include <cmath>

#include "emomc/core/errors.hpp"

namespace emomc {

Eigen::MatrixXd rotated_rows(const FunctionalTable& table) {
  constexpr double kLeast = 1e-9;  // singular values relative to the largest one
  const auto n = static_cast<Eigen::Index>(table.rows.size()),
             p = static_cast<Eigen::Index>(table.columns.size());
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::MatrixXd x =
      Eigen::Map<const Rows>(table.values.data(), n, p) / std::sqrt(static_cast<double>(p));
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(x, Eigen::ComputeThinU);
  const Eigen::VectorXd& values = svd.singularValues();
  Eigen::Index rank = 0;
  while (rank < values.size() && values(rank) > kLeast * values(0)) ++rank;
  if (rank == 0) throw InputError("functionals: no column differs between the utterances of a speaker");
  Eigen::MatrixXd rotated(n, rank + 1);
  rotated.leftCols(rank) = svd.matrixU().leftCols(rank) * values.head(rank).asDiagonal();
  rotated.col(rank).setOnes();
  return rotated;
}

}  // namespace emomc
