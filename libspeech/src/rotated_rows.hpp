// Rotates the rows of a table to as few columns as the rank of the rows.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "emomc/speech/functional_table.hpp"

namespace emomc {

/// Rows after a rotation to r < n columns, where r is the rank.
struct RotatedRows {
  Eigen::MatrixXd x;  ///< n x (r + 1); the last column is 1
  /// P x r: a row of the table times this matrix is the first r columns of that row of x.
  Eigen::MatrixXd axes;
};

/// Rotates the rows of a standardised table by their right singular vectors, after a division by the square
/// root of the number of columns. A Gaussian prior that is the same for all columns of the table is the same
/// prior for the r columns. Directions in which no row has a component are left out, since they do not change
/// the predictions of these rows. Throws InputError if all values are 0.
RotatedRows rotated_rows(const FunctionalTable& table);

/// The rows without a rotation, with the columns divided by the square root of their number. For priors in
/// which each column has its own scale.
RotatedRows unrotated_rows(const FunctionalTable& table);

/// Rows that did not determine the rotation. Their part outside the directions of the rotation is described
/// by its length, since the weights in these directions have the prior distribution.
struct OtherRows {
  Eigen::MatrixXd x;                   ///< m x (r + 1); the last column is 1
  Eigen::VectorXd outside;             ///< [m] length of the part outside the r directions
  std::vector<std::uint32_t> streams;  ///< [m] rows of the same stream have the same random numbers
};

/// Rotates `values`, m x p, row-major, standardised. The streams are 0, 1, ...
OtherRows rotate_others(const std::vector<double>& values, const Eigen::MatrixXd& axes);

}  // namespace emomc
