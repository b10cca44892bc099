// Compiles and launches the kernel of batch_kernel.cuh.
#pragma once

#include <memory>

#include "chain_work.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/device/batch_layout.hpp"

namespace emomc {

/// The kernel for a likelihood; `uniform`: all chains read all rows as one segment; `rows`: neighbouring rows
/// of a thread; `together`: kTogether of BatchConfig.
KernelSource batch_source(const DeviceLikelihood& likelihood, bool uniform, device::BatchWork work, int rows,
                          device::BatchRows rows_come, int together);

/// Properties of the GPU.
struct BatchMachine {
  int num_multiprocessors = 1;
  std::size_t cache_bytes = 0;  ///< size of the L2 cache
};

class BatchEvaluation {
 public:
  /// Compiles the kernel, or takes it from the cache. Returns null where NVRTC is missing or the kernel
  /// cannot evaluate the problem; tile_kernel.cuh does the work then. `most_tiles_of_sum`: the largest number
  /// of tiles that a sum may cover, a power of two.
  static std::unique_ptr<BatchEvaluation> make(const DeviceLikelihood& likelihood, int num_chains,
                                               const device::ChainWorkView& work, bool component,
                                               const BatchMachine& machine,
                                               int most_tiles_of_sum = kAnyTiles);
  /// Enqueues the evaluation of the view's chains, whose coefficients must have been prepared earlier in the
  /// stream. Returns log2 of the number of sums that are written for each tile; negative: a sum covers
  /// several tiles.
  int launch(device::BatchView view, Stream stream) const;
  static constexpr int kAnyTiles = 1 << 20;

 private:
  struct Grid {
    int chains_per_block = 1;
    unsigned groups = 1, blocks = 1;  ///< groups of chains; blocks that share the parts
    int log2_run = 0;                 ///< a block takes 1 << log2_run parts in turn
  };
  BatchEvaluation(const DeviceLikelihood& likelihood, const device::ChainWorkView& work, bool component,
                  int num_chains, const BatchMachine& machine);
  /// Chooses the number of rows of a thread and how rows reach it; 0 rows: registers have no room for a row.
  void choose_rows(const DeviceLikelihood& likelihood, int together);
  /// Cycles in which a block evaluates a part for a chain while other blocks share the multiprocessor.
  double cycles_of_part(const DeviceLikelihood& likelihood, bool component) const;
  int most_chains(std::size_t shared) const;
  void plan_streamed_rows(const BatchMachine& machine);
  bool rows_gain_ahead(const DeviceLikelihood& likelihood, bool component) const;
  void plan_rows_ahead(bool component, int num_chains);
  std::size_t part_bytes() const;
  std::size_t streamed_bytes() const;  ///< bytes of shared memory for streamed rows
  long num_rounds(long sums, int chains) const;
  Grid grid(int num_chains) const;

  std::unique_ptr<RuntimeKernel> kernel_;
  bool uniform_;
  int rows_ = 0;  ///< rows of a thread
  device::BatchRows rows_come_ = device::BatchRows::loaded;
  int bytes_of_real_, bytes_of_row_;
  int num_parts_ = 0;  ///< largest number of parts of a list
  int log2_parts_of_tile_ = 0, most_log2_run_ = device::kBatchLog2Run;
  int together_ = 0;  ///< kTogether of BatchConfig
  int chains_at_once_ = 1, most_chains_ = 1;
  int staying_of_32_ = 0;  ///< BatchView::staying_of_32
  double cycles_of_part_ = 0;
  std::size_t coefficient_bytes_;
  long blocks_at_once_ = 1;
};

}  // namespace emomc
