// Chooses the kernels of gradient_kernel.cuh for a problem, and computes the shared memory of these kernels.
#pragma once

#include <cstddef>
#include <string>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/gradient_layout.hpp"

namespace emomc {

/// The code with which kernels compute the gradient of a likelihood; sizes.num_slots 0: there is no gradient.
struct GradientCode {
  std::string header;  ///< name of the header that defines GradientOf<DeviceCode::type>
  device::GradientSizes sizes;
};

/// The kernel that prepares coefficients (prepare_kernel.cuh) for these sizes; `num_parameters`: at least the
/// number of parameters.
KernelSource prepare_source(const DeviceLikelihood& likelihood, int num_parameters);

int bytes_of_real(const DeviceLikelihood& likelihood);
/// The form of gradient_kernel, on which results do not depend.
struct GradientForm {
  int chains = 1;       ///< chains of a block
  int blocks = 0;       ///< blocks for which registers must have room on a multiprocessor; 0: as usual
  bool copies = false;  ///< whether warps copy rows to shared memory while the kernel ahead is running
};
/// What the GPU has: multiprocessors, and bytes of dynamic shared memory that a block may have.
struct GradientMachine {
  int num_multiprocessors;
  std::size_t most_shared;
};
/// The largest number of chains of a block that leaves room for another block; `uniform`: all chains read all
/// rows as one segment.
int gradient_most_chains(const DeviceLikelihood& likelihood, const device::GradientSizes& sizes,
                         int num_chains, bool uniform);
/// The form for `num_chains` chains. `blocks_of_chain`: blocks that share the rows of a chain; `parts`: parts
/// of a group.
GradientForm gradient_form(const DeviceLikelihood& likelihood, const device::GradientSizes& sizes,
                           int num_chains, bool uniform, int blocks_of_chain, const GradientMachine& machine,
                           int parts);
/// Bytes of dynamic shared memory of a block with `parts` parts of a group, and of a block that finishes an
/// evaluation.
std::size_t gradient_shared_bytes(const DeviceLikelihood& likelihood, const device::GradientSizes& sizes,
                                  const GradientForm& form, int parts = device::kMostGradientParts);
std::size_t gradient_finish_bytes(const device::GradientSizes& sizes, int num_columns);

/// The work of a kernel: evaluate rows, finish an evaluation, or add to the sums of other ranks.
enum class GradientStage { rows, finish, shares };
/// The kernel of a stage. `finish_blocks`: for GradientStage::finish, blocks that share a chain; 1 where the
/// GPU has no clusters.
KernelSource gradient_source(const DeviceLikelihood& likelihood, const GradientCode& code,
                             const GradientForm& form, bool uniform, GradientStage stage,
                             int finish_blocks = 1);
/// The smallest number of tiles that hold a whole number of groups, in a segment of `num_tiles` tiles.
int gradient_tiles_of_group(const DeviceLikelihood& likelihood, const device::GradientSizes& sizes,
                            int num_tiles);
/// Whether there is a gradient and a block of the GPU has room for a chain; `most_shared`: bytes of dynamic
/// shared memory that a block may have.
bool gradient_fits(const DeviceLikelihood& likelihood, const GradientCode& code, std::size_t most_shared);

}  // namespace emomc
