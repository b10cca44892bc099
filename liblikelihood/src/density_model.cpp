#include "emomc/likelihood/density_model.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "emomc/core/errors.hpp"

namespace emomc {

DeviceSource read_device_source(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw InputError(file + ": the header of a likelihood cannot be read");
  return {std::filesystem::path(file).filename().string(), text.str()};
}

DeviceModel device_model_of(const std::string& type, const std::string& header, const DeviceSources& sources,
                            const device::LikelihoodSizes& sizes, bool sums_products,
                            const device::GradientSizes& gradient) {
  constexpr int kRegisters = 28;  // number of 32-bit registers for the columns of a thread's rows
  constexpr int kTogether = 4;    // chains whose sums of products a thread computes at once
  const int registers = 2 * sizes.num_columns;
  return {{"emomc::device::Sized<emomc::device::DensityRows<" + type + ">>",
           {"emomc/device/density_rows.cuh", header},
           {&likelihood_device_sources(), &sources}},
          sizes,
          true,
          4 * registers <= kRegisters   ? 4
          : 2 * registers <= kRegisters ? 2
          : registers <= kRegisters     ? 1
                                        : 0,
          sums_products,
          sums_products ? kTogether : 1,
          gradient};
}

ParameterLayout layout_of(std::span<const device::ParameterDescription> declared) {
  ParameterLayout layout;
  for (const device::ParameterDescription& p : declared) {
    ParameterBlock block;
    block.name = p.name;
    block.support = p.support;
    if (p.size > 0) block.shape = {p.size};
    layout.blocks.push_back(std::move(block));
  }
  return layout;
}

}  // namespace emomc
