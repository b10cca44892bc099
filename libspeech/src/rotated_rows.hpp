// Rotates the rows of a table to as few columns as rows have dimensions.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "emomc/speech/functional_table.hpp"

namespace emomc {

/// Rows after a rotation to r < n columns, r the rank.
struct RotatedRows {
  Eigen::MatrixXd x;     ///< n x (r + 1), the last column 1
  Eigen::MatrixXd axes;  ///< p x r: a row of the table times this is its first r columns of x
};

/// The rows of a standardised table, divided by the square root of the number of columns and rotated by the
/// right singular vectors. A Gaussian prior that is the same for all columns of the table is the same prior
/// for the r columns; a direction that no row has is left out, since it changes no prediction of these rows.
/// Throws InputError if all values are 0.
RotatedRows rotated_rows(const FunctionalTable& table);

/// The same without a rotation: the columns of the table divided by the square root of their number, for
/// priors that columns have of their own.
RotatedRows unrotated_rows(const FunctionalTable& table);

/// Rows that the rotation was not made of. What is in none of its directions has a length of its own: the
/// weights of these directions are as the prior has them.
struct OtherRows {
  Eigen::MatrixXd x;                   ///< m x (r + 1), the last column 1
  Eigen::VectorXd outside;             ///< [m] length of what is in none of the r directions
  std::vector<std::uint32_t> streams;  ///< [m] rows of the same stream have the same random numbers
};

/// `values`: m x p, row-major, standardised; streams are 0, 1, ...
OtherRows rotate_others(const std::vector<double>& values, const Eigen::MatrixXd& axes);

}  // namespace emomc
