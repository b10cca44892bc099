// Compiles and launches the kernels of gradient_kernel.cuh.
#pragma once

#include <memory>
#include <vector>

#include "../gradient_plan.hpp"
#include "../row_share.hpp"
#include "chain_work.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/rank_gather.hpp"
#include "emomc/core/runtime_kernel.hpp"

namespace emomc {

class GradientEvaluation {
 public:
  /// Compiles the kernels, or takes them from the cache, and allocates memory for `num_chains` chains. Throws
  /// MachineError where memory does not suffice. `most_shared`: bytes of dynamic shared memory that a block
  /// may have; `shift`: GradientKernelView::shift in host memory; empty: none.
  GradientEvaluation(Device& device, const DeviceLikelihood& likelihood, const GradientCode& code,
                     int num_chains, const ChainWork& work, const std::vector<double>& shift,
                     std::size_t most_shared);

  /// Prepares for rows that are divided over ranks; must precede the first launch. Compiles kernels and
  /// allocates memory; a collective call. `nodes` are those of the chains. Throws InputError where a list has
  /// more than one segment.
  void share(const RowShare& share, const RowNodes& nodes, const std::shared_ptr<DeviceRanks>& devices);

  /// Enqueues the coefficients of active chains, which launch() needs; `scratch` is num_chains x num_scratch
  /// device doubles. Does the same as RowKernels::prepare(), by a kernel that is compiled for these sizes.
  void prepare(const double* theta, int ld, ActiveSet active, void* coefficients, double* common,
               double* scratch, Stream stream) const;
  /// Enqueues the evaluation of the view's chains, whose coefficients must have been prepared earlier in the
  /// stream. This function sets the view's arrays of sums.
  void launch(device::GradientKernelView view, Stream stream) const;
  /// The two parts of launch(). Between them, sums of steps or groups are gathered if rows are divided.
  void launch_rows(device::GradientKernelView view, Stream stream) const;
  void finish(device::GradientKernelView view, Stream stream) const;
  /// Sums of log densities that launch_rows() writes for each chain: log2 of the number of sums of a tile,
  /// and the distance from one chain's sums to the next chain's.
  struct StepSums {
    double* sums;
    int log2_per_tile;
    std::size_t stride;
  };
  StepSums step_sums() const;

 private:
  void complete(device::GradientKernelView& view) const;
  void make_rows();
  void make_finish(int blocks);
  int finish_blocks(int num_groups) const;
  /// An attribute of the GPU (cudaDeviceAttr).
  int attribute(int which) const;

  DeviceArray<double> step_sums_, segment_sums_, group_sums_, shift_float64_;
  DeviceArray<float> shift_float32_;
  GradientForm form_;
  int max_groups_ = 0;  ///< groups of a chain
  unsigned turns_ = 1;
  std::size_t shared_bytes_ = 0, finish_bytes_ = 0;
  std::unique_ptr<RuntimeKernel> prepare_, kernel_, finish_;
  // Most of the members below are used only if rows are divided over ranks.
  Device& device_;
  DeviceLikelihood likelihood_;
  GradientCode code_;
  int num_chains_, steps_, parts_, step_sums_of_chain_, log2_per_tile_ = 0, rank_ = 0;
  bool uniform_;
  DeviceArray<int> tiles_of_all_, first_group_;
  DeviceArray<double> shares_;
  int ld_shares_ = 0, finish_blocks_ = 1;
  std::unique_ptr<RuntimeKernel> shares_kernel_;
  std::vector<std::unique_ptr<RankGather>> turns_of_ranks_;  ///< each sends one rank's shares to all ranks
};

}  // namespace emomc
