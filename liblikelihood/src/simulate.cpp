#include "emomc/likelihood/simulate.hpp"

#include <type_traits>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "with_model.hpp"

namespace emomc {
namespace {

// Draws rows of a mixture of Gaussians.
template <class Model>
std::vector<double> rows_of(const Model& model, int dim, std::span<const double> theta, std::size_t num_rows,
                            std::uint64_t seed, std::uint32_t stream, double persistence) {
  const auto draw_component = [&](double u) {
    const int last = model.shape().num_components - 1;
    int k = 0;
    while (k < last && u >= model.weight(theta.data(), k)) u -= model.weight(theta.data(), k++);
    return k;
  };
  std::vector<double> values;
  values.reserve(num_rows * static_cast<std::size_t>(dim));
  int component = 0;
  for (std::size_t row = 0; row < num_rows; ++row) {
    const device::RandomSource random{seed, row, stream};
    // Uniforms use the blocks 0 and 1 of the counter; normals from number 4 on use later blocks.
    const bool keep = row > 0 && random.uniform(device::Purpose::simulation, 0) < persistence;
    if (!keep) component = draw_component(random.uniform(device::Purpose::simulation, 1));
    const auto normal = [&](int j) {
      return random.normal(device::Purpose::simulation, static_cast<device::u32>(4 + j));
    };
    for (int i = 0; i < dim; ++i) {
      double x = model.mean(theta.data(), component, i);
      if constexpr (has_factor<Model>)
        for (int j = 0; j <= i; ++j) x += model.factor(theta.data(), component, i, j) * normal(j);
      else
        x += model.scale(theta.data(), component, i) * normal(i);
      values.push_back(x);
    }
  }
  return values;
}

}  // namespace

std::vector<double> simulate_rows(const ModelSpec& spec, int dim, std::span<const double> theta,
                                  std::size_t num_rows, std::uint64_t seed, std::uint32_t stream,
                                  double persistence) {
  return with_model(spec, dim, [&](const auto& model) -> std::vector<double> {
    using Model = std::remove_cvref_t<decltype(model)>;
    if constexpr (Model::has_gaussian_components)
      return rows_of(model, dim, theta, num_rows, seed, stream, persistence);
    else
      throw InputError("model " + spec.name + ": rows can be simulated of Gaussian components only");
  });
}

}  // namespace emomc
