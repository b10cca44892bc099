// Computes the probability that a row belongs to each component of a mixture.
#pragma once

#include <span>

#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// For each row x of `rows` (num_rows x dim, row-major) the probabilities w_k f_k(x) / sum_j w_j f_j(x) of
/// the K components at `theta` (model_layout(model, dim), covariances as Cholesky factors), in float64:
/// out[num_rows x K], row-major, host memory. Columns should be centred (standardize.hpp), because squares
/// are expanded. A row's probabilities are NaN where no component has a density above 0. Throws InputError as
/// model_layout does. Serial; several threads may call it.
void component_probabilities(const ModelSpec& model, int dim, std::span<const double> theta,
                             std::span<const double> rows, double* out);

}  // namespace emomc
