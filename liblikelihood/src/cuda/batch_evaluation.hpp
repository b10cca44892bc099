// Runs the kernel of batch_kernel.cuh.
#pragma once

#include <memory>

#include "chain_work.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/batch_layout.hpp"

namespace emomc {

/// Neighbouring rows that a thread of the batch kernel has in registers; 0: they do not fit.
int batch_rows_per_thread(const DeviceLikelihood& likelihood);
/// The kernel for a likelihood that has some; `uniform`: all chains read all rows as one segment;
/// `component`: one component's distances anew, the others' from the cache.
KernelSource batch_source(const DeviceLikelihood& likelihood, bool uniform, bool component);

class BatchEvaluation {
 public:
  /// Compiles the kernel, or finds it. Null where NVRTC is missing or the problem is not of its kind; then
  /// kernels that are compiled ahead of time do the work.
  static std::unique_ptr<BatchEvaluation> make(const DeviceLikelihood& likelihood, int num_chains,
                                               const ChainWorkView& work, bool component,
                                               int num_multiprocessors);
  /// Enqueues the evaluation of the view's chains, whose coefficients are prepared ahead in the stream.
  void launch(device::BatchView view, Stream stream) const;

 private:
  BatchEvaluation(const DeviceLikelihood& likelihood, const ChainWorkView& work, bool component,
                  int num_multiprocessors);
  int chains_per_block(int num_chains) const;

  RuntimeKernel kernel_;
  int num_parts_;  ///< of a list, at most
  int most_chains_;
  std::size_t coefficient_bytes_;
  int blocks_at_once_;
};

}  // namespace emomc
