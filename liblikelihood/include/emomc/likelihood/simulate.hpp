// Draws rows at random from a model with known parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/likelihood/engines.hpp"

namespace emomc {

/// Draws `num_rows` x dim values, row-major, from `model` at `theta` (model_layout(model, dim)). The result
/// is a function of the arguments; different streams are independent. With `persistence` p a row keeps the
/// component of its predecessor with probability p and draws a new one otherwise, so components of
/// neighbouring rows are dependent, as in speech, while the distribution of each row remains the model's.
/// Throws InputError as model_layout does, and where the components of the model are not Gaussian.
std::vector<double> simulate_rows(const ModelSpec& model, int dim, std::span<const double> theta,
                                  std::size_t num_rows, std::uint64_t seed, std::uint32_t stream = 0,
                                  double persistence = 0);

}  // namespace emomc
