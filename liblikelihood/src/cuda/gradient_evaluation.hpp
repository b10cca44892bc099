// Runs the kernels of gradient_kernel.cuh.
#pragma once

#include <memory>
#include <vector>

#include "../gradient_plan.hpp"
#include "chain_work.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"

namespace emomc {

class GradientEvaluation {
 public:
  /// Compiles the kernels, or finds them, and takes memory for `num_chains` chains. Throws MachineError where
  /// it does not suffice. `most_shared`: bytes of dynamic shared memory that a block may have; `shift`: as
  /// GradientKernelView has it, in host memory; empty: none.
  GradientEvaluation(Device& device, const DeviceLikelihood& likelihood, const GradientCode& code,
                     int num_chains, const ChainWork& work, const std::vector<double>& shift,
                     std::size_t most_shared);

  /// Enqueues the evaluation of the view's chains, whose coefficients are prepared ahead in the stream. The
  /// view's arrays of sums are filled in here.
  void launch(device::GradientKernelView view, Stream stream) const;

 private:
  DeviceArray<double> step_sums_, segment_sums_, group_sums_, shift_float64_;
  DeviceArray<float> shift_float32_;
  int chains_, max_groups_ = 0;  ///< of a block; of a chain
  unsigned turns_ = 1;
  std::size_t shared_bytes_ = 0, finish_bytes_ = 0;
  std::unique_ptr<RuntimeKernel> kernel_, finish_;
};

}  // namespace emomc
