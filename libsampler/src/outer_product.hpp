// Sums of outer products, the most expensive part of learning a full covariance.
#pragma once

namespace emomc {

/// Adds y y' to the lower triangle of `matrix` [n x n], column-major. The bits do not depend on the
/// processor.
void add_outer_product(double* matrix, int n, const double* y);

}  // namespace emomc
