// Rotates the rows of a table to as few columns as rows have dimensions.
#pragma once

#include <Eigen/Core>

#include "emomc/speech/functional_table.hpp"

namespace emomc {

/// The rows of a standardised table, divided by the square root of the number of columns and rotated by the
/// right singular vectors: n x (r + 1), where r < n is the rank and the last column is 1. A Gaussian prior
/// that is the same for all columns of the table is the same prior for the r columns; a direction that no row
/// has is left out, since it changes no prediction of these rows. Throws InputError if all values are 0.
Eigen::MatrixXd rotated_rows(const FunctionalTable& table);

}  // namespace emomc
