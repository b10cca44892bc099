// Which kernels of gradient_kernel.cuh a problem takes, and their shared memory.
#pragma once

#include <cstddef>
#include <string>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/gradient_layout.hpp"

namespace emomc {

/// How kernels compute the gradient of a likelihood; sizes.num_slots 0: not at all.
struct GradientCode {
  std::string header;  ///< that defines GradientOf<DeviceCode::type>, as it is included
  device::GradientSizes sizes;
};

/// The kernel that prepares coefficients (prepare_kernel.cuh) for these sizes.
KernelSource prepare_source(const DeviceLikelihood& likelihood);

int bytes_of_real(const DeviceLikelihood& likelihood);
/// Chains of a block, as many as leave room for another block; `uniform`: all chains read all rows as one
/// segment.
int gradient_chains_of_block(const DeviceLikelihood& likelihood, const device::GradientSizes& sizes,
                             int num_chains, bool uniform);
/// Dynamic shared memory of a block with so many chains and parts of a group, and of one that finishes an
/// evaluation.
std::size_t gradient_shared_bytes(const DeviceLikelihood& likelihood, const device::GradientSizes& sizes,
                                  int chains, int parts = device::kMostGradientParts);
std::size_t gradient_finish_bytes(const device::GradientSizes& sizes);

/// What a kernel does: it goes through rows; it finishes an evaluation; it goes on with the sums of another
/// rank.
enum class GradientStage { rows, finish, shares };
/// `finish_blocks`: of GradientStage::finish, blocks that share a chain, one where the GPU has no clusters.
KernelSource gradient_source(const DeviceLikelihood& likelihood, const GradientCode& code, int num_chains,
                             bool uniform, GradientStage stage, int finish_blocks = 1);
/// Tiles of a whole number of groups, in a segment of `num_tiles`.
int gradient_tiles_of_group(const DeviceLikelihood& likelihood, const device::GradientSizes& sizes,
                            int num_tiles);
/// Whether there is a gradient and a block of the GPU has room for a chain; `most_shared`: bytes of dynamic
/// shared memory that a block may have.
bool gradient_fits(const DeviceLikelihood& likelihood, const GradientCode& code, std::size_t most_shared);

}  // namespace emomc
