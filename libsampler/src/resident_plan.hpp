// Decides whether and how chains run in the kernel of resident_chain.cuh: the rows that each thread block
// evaluates, and the shared memory that this needs. The decision depends on sizes alone, and draws do not
// depend on the decision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/resident_layout.hpp"
#include "resident_nodes.hpp"

namespace emomc {

/// The properties of the GPU on which the decision depends.
struct ResidentMachine {
  int num_multiprocessors = 0;
  std::size_t shared_per_multiprocessor = 0, shared_per_block = 0;  ///< bytes
  int largest_cluster = 16;                                         ///< thread blocks, a power of two
};

struct ResidentPlan {
  device::ResidentSizes sizes{};
  int num_blocks = 1;  ///< number of thread blocks per chain; they form a cluster except in the wide form
  int evaluators = 8;  ///< number of warps that evaluate
  int nodes_per_block = 0, log2_piece = 0, resident_nodes = 0;  ///< as in device::ResidentWork
  int chains_per_block = 1;                                     ///< for the form `teams`
  std::size_t shared_bytes = 0;                                 ///< dynamic shared memory of each block
  bool is_wide() const { return sizes.form == device::ResidentForm::wide; }
  /// Whether some rows of a block are in device memory.
  bool has_rows_outside() const {
    return device::reads_device_memory(sizes.form) && resident_nodes < nodes_per_block;
  }
  bool is_of_teams() const { return sizes.form == device::ResidentForm::teams; }
};

/// Bytes of a block's shared memory that the plan leaves for the kernel's static part and for the system's
/// reserve in each block (kSharedOfSystem).
std::size_t other_shared_bytes(const device::ResidentSizes& sizes);
inline constexpr std::size_t kSharedOfSystem = 1024;

/// The properties of a step on which the decision depends.
struct ResidentSteps {
  int num_blocks;             ///< number of blocks of a step
  bool moves_by_fit = false;  ///< whether some proposals store data with the current point
  bool caches = false;        ///< whether component caches are requested
  bool all_evaluated = true;  ///< whether every block changes the likelihood
};
/// Returns the fastest plan; empty if separate kernels for the parts of a step are faster, or if a chain has
/// no rows. `may_be_wide` allows a plan that uses all multiprocessors, beyond one cluster.
std::optional<ResidentPlan> plan_resident(const DeviceLikelihood& likelihood,
                                          const std::vector<ChainPlan>& chains, const device::StepView& view,
                                          const ResidentSteps& steps, const ResidentMachine& machine,
                                          bool may_be_wide = true);
/// Returns the plan of one form, even if others are faster. Empty if the chains do not fit the form.
std::optional<ResidentPlan> plan_form(device::ResidentForm form, const DeviceLikelihood& likelihood,
                                      const std::vector<ChainPlan>& chains, const device::StepView& view,
                                      const ResidentSteps& steps, const ResidentMachine& machine);
/// Largest number of bytes of spilled registers per thread with which such a kernel is used. With 76 bytes a
/// step of 64 chains took 0.65 of the time of separate kernels on an H200; with more than 128 bytes a step of
/// 600 chains of split_merge (40 components, 1,200 rows) took 0.70 of that time on an H100.
inline constexpr int kMostSpilled = 192;

/// The headers under emomc/device of libsampler; empty in a build without CUDA.
const DeviceSources& sampler_device_sources();

/// Returns the kernel of a plan; `proposal` is the C++ name of the proposal's type.
KernelSource resident_source(const ResidentPlan& plan, const DeviceLikelihood& likelihood,
                             const std::string& proposal, const device::ParameterTable& table);

}  // namespace emomc
