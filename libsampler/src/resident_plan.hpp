// Whether and how chains run in the kernel of resident_chain.cuh: which rows each block takes and how much
// shared memory that needs. A rule on sizes alone; the draws do not depend on what it chooses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/resident_layout.hpp"

namespace emomc {

/// What the rule knows of the GPU.
struct ResidentMachine {
  int num_multiprocessors = 0;
  std::size_t shared_per_multiprocessor = 0, shared_per_block = 0;  ///< bytes
  int largest_cluster = 16;                                         ///< blocks, a power of two
};

struct ResidentPlan {
  device::ResidentSizes sizes{};
  int num_blocks = 1;                                           ///< of a chain; a cluster unless it is wide
  int evaluators = 8;                                           ///< warps
  int nodes_per_block = 0, log2_piece = 0, resident_nodes = 0;  ///< as in device::ResidentWork
  int chains_per_block = 1;                                     ///< of teams
  std::size_t shared_bytes = 0;                                 ///< dynamic, per block
  bool is_wide() const { return sizes.form == device::ResidentForm::wide; }
  /// Of a block's rows some are in device memory.
  bool has_rows_outside() const {
    return device::reads_device_memory(sizes.form) && resident_nodes < nodes_per_block;
  }
  bool is_of_teams() const { return sizes.form == device::ResidentForm::teams; }
};

/// Bytes that the rule leaves of a block's shared memory for the kernel's static part and for what the system
/// takes of each block (kSharedOfSystem).
std::size_t other_shared_bytes(const device::ResidentSizes& sizes);
inline constexpr std::size_t kSharedOfSystem = 1024;

/// Nodes of the trees over rows of all lists of segments that chains read; segments are whole pieces of
/// nodes, of which the last may have no rows.
struct ResidentNodes {
  std::vector<device::RowNode> nodes;
  std::vector<int> list_of_chain, first_node{0}, first_segment{0}, segment_first;
  std::vector<double> num_rows;
  int max_nodes = 0, max_segments = 0;
};
ResidentNodes plan_nodes(const DeviceLikelihood& likelihood, const std::vector<ChainPlan>& chains,
                         int rows_per_lane, int log2_piece = 0);

/// What is known of the steps beside the chains.
struct ResidentSteps {
  int num_blocks;             ///< of a step
  bool moves_by_fit = false;  ///< proposals among them keep something with the current point
  bool caches = false;        ///< component caches are wanted
  bool all_evaluated = true;  ///< every block changes the likelihood
};
/// Nothing where kernels for each part of a step are faster, or a chain has no rows. `may_be_wide`: on all
/// multiprocessors, beyond clusters.
std::optional<ResidentPlan> plan_resident(const DeviceLikelihood& likelihood,
                                          const std::vector<ChainPlan>& chains, const device::StepView& view,
                                          const ResidentSteps& steps, const ResidentMachine& machine,
                                          bool may_be_wide = true);
/// Bytes of registers that such a kernel may write to memory in a step; with more it is not used. With 76 a
/// step of 64 chains took 0.65 of the launched one's time on an H200; with more than 128 a step of 600 chains
/// of split_merge (40 components, 1,200 rows) took 0.70 of it on an H100.
inline constexpr int kMostSpilled = 192;

/// The kernel of a plan; `proposal`: C++ name of its type.
KernelSource resident_source(const ResidentPlan& plan, const DeviceLikelihood& likelihood,
                             const std::string& proposal, const device::ParameterTable& table);

}  // namespace emomc
