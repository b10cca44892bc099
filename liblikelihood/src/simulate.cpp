#include "emomc/likelihood/simulate.hpp"

#include "emomc/device/random.hpp"
#include "with_model.hpp"

namespace emomc {

std::vector<double> simulate_rows(const ModelSpec& spec, int dim, std::span<const double> theta,
                                  std::size_t num_rows, std::uint64_t seed, std::uint32_t stream,
                                  double persistence) {
  return with_model(spec, dim, [&](const auto& model) {
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
      // Uniforms are the blocks 0 and 1; normals from number 4 on use later blocks.
      const bool keep = row > 0 && random.uniform(device::Purpose::simulation, 0) < persistence;
      if (!keep) component = draw_component(random.uniform(device::Purpose::simulation, 1));
      for (int j = 0; j < dim; ++j)
        values.push_back(model.mean(theta.data(), component, j) +
                         model.scale(theta.data(), component, j) *
                             random.normal(device::Purpose::simulation, static_cast<device::u32>(4 + j)));
    }
    return values;
  });
}

}  // namespace emomc
