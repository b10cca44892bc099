// Runs the kernel of batch_kernel.cuh.
#pragma once

#include <memory>

#include "chain_work.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/batch_layout.hpp"

namespace emomc {

/// The kernel for a likelihood whose threads have rows; `uniform`: all chains read all rows as one segment;
/// `rows`: neighbouring ones of a thread; `together`: BatchConfig's.
KernelSource batch_source(const DeviceLikelihood& likelihood, bool uniform, device::BatchWork work, int rows,
                          device::BatchRows rows_come, int together);

/// Of the GPU.
struct BatchMachine {
  int num_multiprocessors = 1;
  std::size_t cache_bytes = 0;  ///< of its L2 cache
};

class BatchEvaluation {
 public:
  /// Compiles the kernel, or finds it. Null where NVRTC is missing or the problem is not of its kind; then
  /// kernels that are compiled ahead of time do the work. `most_tiles_of_sum`: of which a sum may be, a power
  /// of two.
  static std::unique_ptr<BatchEvaluation> make(const DeviceLikelihood& likelihood, int num_chains,
                                               const device::ChainWorkView& work, bool component,
                                               const BatchMachine& machine,
                                               int most_tiles_of_sum = kAnyTiles);
  /// Enqueues the evaluation of the view's chains, whose coefficients are prepared ahead in the stream.
  /// Returns log2 of the number of sums that it leaves of a tile; negative: a sum is of several tiles.
  int launch(device::BatchView view, Stream stream) const;
  static constexpr int kAnyTiles = 1 << 20;

 private:
  struct Grid {
    int chains_per_block = 1;
    unsigned groups = 1, blocks = 1;  ///< of chains; that share the parts
    int log2_run = 0;                 ///< parts that a block takes in turn: 1 << log2_run
  };
  BatchEvaluation(const DeviceLikelihood& likelihood, const device::ChainWorkView& work, bool component,
                  int num_chains, const BatchMachine& machine);
  /// Rows of a thread, and how they come; 0 rows: there is no room for them.
  void choose_rows(const DeviceLikelihood& likelihood, int together);
  /// Cycles of a block in which it evaluates a part for a chain, while others share its multiprocessor.
  double cycles_of_part(const DeviceLikelihood& likelihood, bool component) const;
  int most_chains(std::size_t shared) const;
  void plan_streamed_rows(const BatchMachine& machine);
  bool rows_gain_ahead(const DeviceLikelihood& likelihood, bool component) const;
  void plan_rows_ahead(bool component, int num_chains);
  std::size_t part_bytes() const;
  std::size_t streamed_bytes() const;  ///< of shared memory that streamed rows go through
  long num_rounds(long sums, int chains) const;
  Grid grid(int num_chains) const;

  std::unique_ptr<RuntimeKernel> kernel_;
  bool uniform_;
  int rows_ = 0;  ///< of a thread
  device::BatchRows rows_come_ = device::BatchRows::loaded;
  int bytes_of_real_, bytes_of_row_;
  int num_parts_ = 0;  ///< of a list, at most
  int log2_parts_of_tile_ = 0, most_log2_run_ = device::kBatchLog2Run;
  int together_ = 0;  ///< BatchConfig's
  int chains_at_once_ = 1, most_chains_ = 1;
  int staying_of_32_ = 0;  ///< BatchView's
  double cycles_of_part_ = 0;
  std::size_t coefficient_bytes_;
  long blocks_at_once_ = 1;
};

}  // namespace emomc
