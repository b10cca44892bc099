#include "gradient_plan.hpp"

#include <algorithm>
#include <numeric>

#include "emomc/device/gradient_rows.hpp"

namespace emomc {

using device::GradientSizes;

int bytes_of_real(const DeviceLikelihood& likelihood) { return likelihood.real == "float" ? 4 : 8; }

std::size_t gradient_shared_bytes(const DeviceLikelihood& likelihood, const GradientSizes& sizes,
                                  const GradientForm& form, int parts) {
  return static_cast<std::size_t>(device::GradientMemory(sizes, likelihood.sizes.num_coefficients,
                                                         bytes_of_real(likelihood), form.chains, parts,
                                                         likelihood.sizes.num_columns, form.copies)
                                      .size);
}

std::size_t gradient_finish_bytes(const GradientSizes& sizes, int num_columns) {
  return static_cast<std::size_t>(device::FinishMemory(sizes, num_columns).size) * sizeof(double);
}

int gradient_most_chains(const DeviceLikelihood& likelihood, const GradientSizes& sizes, int num_chains,
                         bool uniform) {
  constexpr std::size_t kMostShared = 110 << 10;
  if (!uniform) return 1;
  int chains = std::max(1, device::gradient_numbers_at_once(bytes_of_real(likelihood)) / sizes.num_of_tile);
  while (chains > 1 &&
         (chains / 2 >= num_chains || gradient_shared_bytes(likelihood, sizes, {chains}) > kMostShared))
    chains /= 2;
  return chains;
}

GradientForm gradient_form(const DeviceLikelihood& likelihood, const GradientSizes& sizes, int num_chains,
                           bool uniform, int blocks_of_chain, const GradientMachine& machine, int parts) {
  const int num_multiprocessors = machine.num_multiprocessors;
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
  // Where each block has a multiprocessor of its own and each warp a single step, nothing else would hide the
  // time that rows take to arrive.
  GradientForm copies = form;
  copies.copies = true;
  copies.blocks = 1;
  if (uniform && parts == 1 && num_blocks(form.chains) <= num_multiprocessors &&
      gradient_shared_bytes(likelihood, sizes, copies, parts) <= machine.most_shared)
    return copies;
  return form;
}

KernelSource prepare_source(const DeviceLikelihood& likelihood, int num_parameters) {
  constexpr int kMostShared = 2048;  // numbers of scratch memory, and of parameters
  const auto if_shared = [](int count) { return count <= kMostShared ? count : 0; };
  KernelSource source{likelihood.code.headers,
                      "emomc::device::sized_prepare_kernel<" + likelihood.code.type + ", " + likelihood.real +
                          ", " + std::to_string(if_shared(likelihood.sizes.num_scratch)) + ", " +
                          std::to_string(if_shared(num_parameters)) + ">",
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
          (stage == GradientStage::rows && (form.blocks > 0 || form.copies)
               ? ", " + std::to_string(form.blocks) + (form.copies ? ", true" : "")
               : "") +
          ">" + (stage == GradientStage::finish ? ", " + std::to_string(finish_blocks) + ">" : ">"),
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
  return code.sizes.num_numbers > 0 && gradient_shared_bytes(likelihood, code.sizes, {}) <= most_shared &&
         gradient_finish_bytes(code.sizes, likelihood.sizes.num_columns) <= most_shared;
}

}  // namespace emomc
