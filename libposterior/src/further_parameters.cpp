#include "further_parameters.hpp"

#include <algorithm>

#include "emomc/likelihood/model_info.hpp"

namespace emomc {

std::vector<double> centre_of_further(const ModelSpec& model, int columns, const Target& target,
                                      std::uint64_t seed) {
  constexpr std::uint64_t kDraws = 201;
  constexpr std::uint32_t kNoChain = (1u << 31) + 512;
  const ModelInfo* fitted = model_of_starts(model_info(model));
  if (fitted == nullptr) return {};  // MixturePool refuses the model
  const auto first = static_cast<std::size_t>(
      model_layout({fitted->name, model.components, fitted->covariance}, columns).dim());
  const auto end = static_cast<std::size_t>(model_layout(model, columns).dim());
  if (first == end) return {};
  std::vector<std::vector<double>> values(end - first);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::vector<double> theta = target.draw_from_prior(seed, kNoChain, i);
    for (std::size_t p = first; p < end; ++p) values[p - first].push_back(theta[p]);
  }
  std::vector<double> centre;
  for (auto& draws : values) {
    std::nth_element(draws.begin(), draws.begin() + kDraws / 2, draws.end());
    centre.push_back(draws[kDraws / 2]);
  }
  return centre;
}

}  // namespace emomc
