// Computes the gradient of a RowProgram: the adjoints of each row's coefficients and sums of products, and
// the derivatives with respect to theta from sums of these adjoints over rows.
#pragma once

#include <string>

#include "derivatives.hpp"
#include "row_program.hpp"

namespace emomc::expression {

struct GradientProgram {
  /// Nodes of RowProgram::rows: derivatives of a row's log density, without `common`.
  Adjoints of_row;
  /// Nodes of RowProgram::whole: derivatives of the log likelihood with respect to theta [dim], where
  /// parameter dim + i is the sum over rows of the derivative with respect to coefficient i, and parameter
  /// dim + num_coefficients the number of rows.
  Adjoints of_theta;
  std::string why_not;  ///< Adjoints::why_not; empty: there is a gradient
};

/// Adds the nodes of derivatives to the program's graphs. `dim` is the number of parameters.
GradientProgram differentiate(RowProgram& program, int dim);

}  // namespace emomc::expression
