#include "gradient_plan.hpp"

#include <algorithm>
#include <numeric>

#include "emomc/device/gradient_rows.hpp"

namespace emomc {

using device::GradientSizes;

int bytes_of_real(const DeviceLikelihood& likelihood) { return likelihood.real == "float" ? 4 : 8; }

std::size_t gradient_shared_bytes(const DeviceLikelihood& likelihood, const GradientSizes& sizes, int chains,
                                  int parts) {
  return static_cast<std::size_t>(device::GradientMemory(sizes, likelihood.sizes.num_coefficients,
                                                         bytes_of_real(likelihood), chains, parts)
                                      .size);
}

std::size_t gradient_finish_bytes(const GradientSizes& sizes) {
  return static_cast<std::size_t>(sizes.num_slots + sizes.num_sums + sizes.num_work +
                                  device::kGradientFinishThreads + sizes.num_parameters) *
         sizeof(double);
}

int gradient_most_chains(const DeviceLikelihood& likelihood, const GradientSizes& sizes, int num_chains,
                         bool uniform) {
  constexpr std::size_t kMostShared = 110 << 10;
  if (!uniform) return 1;
  int chains = std::max(1, device::gradient_numbers_at_once(bytes_of_real(likelihood)) / sizes.num_of_tile);
  while (chains > 1 &&
         (chains / 2 >= num_chains || gradient_shared_bytes(likelihood, sizes, chains) > kMostShared))
    chains /= 2;
  return chains;
}

GradientForm gradient_form(const DeviceLikelihood& likelihood, const GradientSizes& sizes, int num_chains,
                           bool uniform, int blocks_of_chain, int num_multiprocessors) {
  const int bytes = bytes_of_real(likelihood);
  GradientForm form{gradient_most_chains(likelihood, sizes, num_chains, uniform)};
  const auto num_blocks = [&](int chains) { return (num_chains + chains - 1) / chains * blocks_of_chain; };
  // Chains of a block share products with columns. Without these a block has fewer sums to hold in registers.
  if (sizes.num_tiles == 0) form.chains = std::min(form.chains, 2);
  if (device::gradient_by_lanes(sizes, bytes)) form.chains = 1;
  // More blocks take less time than more chains in a block while there are idle multiprocessors, and, where
  // an instruction cannot multiply the numbers of all chains of a block, also while all blocks run at the
  // same time.
  constexpr int kNumbersOfInstruction = 8;
  const auto has_room_for = [&](int blocks) {
    return blocks <= num_multiprocessors + num_multiprocessors / 4 ||
           (form.chains * sizes.num_of_tile > kNumbersOfInstruction && blocks <= 2 * num_multiprocessors);
  };
  while (form.chains > 1 && has_room_for(num_blocks(form.chains / 2))) form.chains /= 2;
  // The kernel of a mixture needs few registers for one chain, so that three blocks have room.
  constexpr int kMostRegisters = 64;
  if (uniform && bytes == 4 && !likelihood.sums_products && sizes.num_tiles > 0 && form.chains <= 2 &&
      device::gradient_registers(sizes, bytes, 1) <= kMostRegisters &&
      num_blocks(1) > 2 * num_multiprocessors && num_blocks(1) <= 3 * num_multiprocessors)
    form = {1, 3};
  // In float64 the linear predictors of a thread's chains take two registers each.
  constexpr int kMostWithPredictors = 76;
  if (bytes == 8 && likelihood.sums_products && form.chains > 1 &&
      device::gradient_registers(sizes, bytes, form.chains) + 2 * form.chains > kMostWithPredictors)
    form.blocks = 1;
  return form;
}

KernelSource prepare_source(const DeviceLikelihood& likelihood) {
  constexpr int kMostShared = 2048;  // numbers of scratch memory
  const int scratch = likelihood.sizes.num_scratch <= kMostShared ? likelihood.sizes.num_scratch : 0;
  KernelSource source{likelihood.code.headers,
                      "emomc::device::sized_prepare_kernel<" + likelihood.code.type + ", " + likelihood.real +
                          ", " + std::to_string(scratch) + ">",
                      {},
                      likelihood.code.sources};
  source.headers.push_back("emomc/device/prepare_kernel.cuh");
  return source;
}

KernelSource gradient_source(const DeviceLikelihood& likelihood, const GradientCode& code,
                             const GradientForm& form, bool uniform, GradientStage stage, int finish_blocks) {
  const int chains = form.chains;
  // Where columns do not fit the registers, each column is read once for more chains.
  const bool streams = likelihood.sizes.num_columns * bytes_of_real(likelihood) > 48;
  const int together =
      likelihood.sums_products ? std::gcd(chains, (streams ? 2 : 1) * device::kGradientChainsTogether) : 1;
  KernelSource source{
      likelihood.code.headers,
      std::string("emomc::device::") +
          (stage == GradientStage::rows     ? "gradient_kernel"
           : stage == GradientStage::finish ? "gradient_finish_kernel"
                                            : "gradient_shares_kernel") +
          "<emomc::device::GradientConfig<" + likelihood.code.type + ", " + likelihood.real + ", " +
          std::to_string(chains) + ", " + std::to_string(together) + (uniform ? ", true" : ", false") +
          (form.blocks > 0 && stage == GradientStage::rows ? ", " + std::to_string(form.blocks) + ">" : ">") +
          (stage == GradientStage::finish ? ", " + std::to_string(finish_blocks) + ">" : ">"),
      {},
      likelihood.code.sources};
  source.headers.push_back(code.header);
  source.headers.push_back(stage == GradientStage::rows ? "emomc/device/gradient_kernel.cuh"
                                                        : "emomc/device/gradient_finish_kernel.cuh");
  return source;
}

int gradient_tiles_of_group(const DeviceLikelihood& likelihood, const GradientSizes& sizes, int num_tiles) {
  const int rows_of_part = 32 * device::kGradientWarps *
                           device::gradient_rows_of_thread(bytes_of_real(likelihood), sizes.num_numbers);
  const int parts = device::kTileRows / rows_of_part;
  return std::max(1, device::gradient_parts_of_group(num_tiles * parts) / parts);
}

bool gradient_fits(const DeviceLikelihood& likelihood, const GradientCode& code, std::size_t most_shared) {
  return code.sizes.num_numbers > 0 && gradient_shared_bytes(likelihood, code.sizes, 1) <= most_shared &&
         gradient_finish_bytes(code.sizes) <= most_shared;
}

}  // namespace emomc
