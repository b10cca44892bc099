// Rows drawn from a model at known parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// `num_rows` x dim values drawn from `model` at `theta` (model_layout(model, dim)). A function of (seed,
/// stream, arguments); different streams are independent. With `persistence` p a row keeps its
/// predecessor's component with probability p, else draws it anew: the components of neighbouring rows are
/// then dependent, as in speech, and each row's distribution stays the model's. Throws InputError as
/// model_layout does.
std::vector<double> simulate_rows(const ModelSpec& model, int dim, std::span<const double> theta,
                                  std::size_t num_rows, std::uint64_t seed, std::uint32_t stream = 0,
                                  double persistence = 0);

}  // namespace emomc
