#include <algorithm>

#include "batch_evaluation.hpp"
#include "emomc/core/cuda_launch.cuh"

namespace emomc {
namespace {

using device::BatchRows;
using device::BatchWork;

constexpr std::size_t kMostShared = 44 << 10;  // beside the static part, four times
// Shared memory of a multiprocessor, and what a block takes of it besides.
constexpr std::size_t kSharedOfAll = 227 << 10, kSharedBesides = 1024;

int bytes_of(const DeviceLikelihood& likelihood) { return likelihood.real == "float" ? 4 : 8; }

// Of batch_kernel, at most.
std::size_t static_shared_bytes(bool component) {
  constexpr int kOfSums = (2 * device::kBatchThreads / 32 + device::kBatchRun) * 8 + 4;
  return static_cast<std::size_t>(device::kBatchChains) *
         static_cast<std::size_t>(kOfSums + (component ? 48 : 0));
}

// Of a chain, at most.
constexpr long kMostSums = static_cast<long>(device::kBatchGroups) * device::kBatchGroup;

long ceil_of_ratio(long a, long b) { return (a + b - 1) / b; }

const char* name_of(BatchRows rows) {
  return rows == BatchRows::loaded ? "loaded" : rows == BatchRows::ahead ? "ahead" : "streamed";
}

}  // namespace

KernelSource batch_source(const DeviceLikelihood& likelihood, bool uniform, BatchWork work, int rows,
                          BatchRows rows_come, device::BatchChains chains) {
  const auto number = [](int n) { return std::to_string(n); };
  KernelSource source{
      likelihood.code.headers,
      "emomc::device::batch_kernel<emomc::device::BatchConfig<" + likelihood.code.type + ", " +
          likelihood.real + ", " + number(likelihood.sizes.num_columns) + ", " + number(rows) +
          (uniform ? ", true" : ", false") +
          ", emomc::device::BatchWork::" + (work == BatchWork::component ? "component" : "full") +
          ", emomc::device::BatchRows::" + name_of(rows_come) + ", emomc::device::BatchChains::" +
          (chains == device::BatchChains::together ? "together" : "one_by_one") + ">>",
      {},
      likelihood.code.sources};
  source.headers.push_back("emomc/device/batch_kernel.cuh");
  return source;
}

std::unique_ptr<BatchEvaluation> BatchEvaluation::make(const DeviceLikelihood& likelihood, int num_chains,
                                                       const device::ChainWorkView& work, bool component,
                                                       int num_multiprocessors, int most_tiles_of_sum) {
  if (num_chains == 0 || work.max_tiles == 0 || !runtime_compiler_problem().empty()) return nullptr;
  std::unique_ptr<BatchEvaluation> result(
      new BatchEvaluation(likelihood, work, component, num_chains, num_multiprocessors));
  if (result->rows_ == 0) return nullptr;
  const int parts_of_tile = device::kTileRows / (result->rows_ * device::kBatchThreads);
  while (1 << result->log2_parts_of_tile_ < parts_of_tile) ++result->log2_parts_of_tile_;
  while (result->most_log2_run_ > 0 &&
         1L << result->most_log2_run_ > static_cast<long>(most_tiles_of_sum) * parts_of_tile)
    --result->most_log2_run_;
  const long parts = result->num_parts_;
  constexpr int kMostChains = 65535;  // a grid has so many groups of them
  if (num_chains > kMostChains || result->coefficient_bytes_ > kMostShared ||
      work.max_segments > device::kBatchGroups ||
      ceil_of_ratio(parts, 1L << result->most_log2_run_) > kMostSums)
    return nullptr;
  if (result->rows_come_ != BatchRows::ahead && parts > kMostSums) return nullptr;
  result->kernel_ = std::make_unique<RuntimeKernel>(batch_source(
      likelihood, work.uniform, component ? BatchWork::component : BatchWork::full, result->rows_,
      result->rows_come_,
      result->chains_at_once_ > 1 ? device::BatchChains::together : device::BatchChains::one_by_one));
  return result;
}

std::size_t BatchEvaluation::part_bytes() const {
  return static_cast<std::size_t>(bytes_of_row_ * rows_ * device::kBatchThreads);
}

std::size_t BatchEvaluation::streamed_bytes() const {
  return static_cast<std::size_t>(device::kStreamedColumns * bytes_of_real_ * rows_ * device::kBatchThreads);
}

void BatchEvaluation::choose_rows(const DeviceLikelihood& likelihood, bool together) {
  rows_ = likelihood.rows_per_thread;
  if (!together) return;
  chains_at_once_ = device::kBatchAtOnce;
  // A column is read for all chains at once, so that registers are worth more for rows.
  constexpr int kRegisters = 52, kBytesOfRegister = 4;
  const int most = likelihood.real == "float" ? 4 : 2;
  for (int rows = most; rows >= 2; rows /= 2) {
    if (rows * bytes_of_row_ > kRegisters * kBytesOfRegister) continue;
    rows_ = rows;
    return;
  }
  rows_ = most;
  rows_come_ = BatchRows::streamed;
  chains_at_once_ = device::kBatchChains;
}

BatchEvaluation::BatchEvaluation(const DeviceLikelihood& likelihood, const device::ChainWorkView& work,
                                 bool component, int num_chains, int num_multiprocessors)
    : bytes_of_real_(bytes_of(likelihood)),
      bytes_of_row_(likelihood.sizes.num_columns * bytes_of(likelihood)),
      coefficient_bytes_(static_cast<std::size_t>(likelihood.sizes.num_coefficients * bytes_of(likelihood))) {
  choose_rows(likelihood, likelihood.sums_products && work.uniform && !component && num_chains > 1);
  if (rows_ == 0) return;
  num_parts_ = work.max_tiles * (device::kTileRows / (rows_ * device::kBatchThreads));
  const bool streamed = rows_come_ == BatchRows::streamed;
  const auto at_once = static_cast<std::size_t>(chains_at_once_);
  const std::size_t fixed = static_shared_bytes(component);
  // Dynamic shared memory of a block where a multiprocessor holds so many.
  const auto shared_of = [&](int blocks) {
    const std::size_t of_block = kSharedOfAll / static_cast<std::size_t>(blocks) - kSharedBesides;
    return of_block > fixed ? of_block - fixed : 0;
  };
  int blocks = !streamed                   ? device::kBatchBlocks
               : bytes_of(likelihood) == 4 ? device::kStreamedBatchBlocks<4>
                                           : device::kStreamedBatchBlocks<8>;
  if (streamed) {
    const std::size_t least = at_once * coefficient_bytes_ + streamed_bytes() + 16;
    while (blocks > 1 && shared_of(blocks) < least) --blocks;
    if (shared_of(blocks) < least) {
      rows_ = 0;
      return;
    }
  }
  blocks_at_once_ = static_cast<long>(blocks) * num_multiprocessors;
  shared_ahead_ = shared_of(blocks);
  const auto most_of = [&](std::size_t bytes) {
    const std::size_t chains = bytes / (coefficient_bytes_ * at_once) * at_once;
    return std::clamp(static_cast<int>(chains), 1, device::kBatchChains);
  };
  most_chains_ = most_of(kMostShared);
  if (streamed) {
    most_chains_ = most_of(std::min(kMostShared, shared_ahead_ - streamed_bytes() - 16));
    return;
  }
  // Rows come ahead where blocks have several parts to go through, and the kernel has registers for it: where
  // more than one of these holds it spills, or takes a tenth longer.
  constexpr int kFewRegisters = 8;  // of rows: few columns
  const bool has_few = rows_ * bytes_of_row_ / 4 <= kFewRegisters;
  const int short_of_registers = (likelihood.real == "double") + !likelihood.leaves_registers + !component;
  const bool gains = has_few || short_of_registers <= 1;
  if (gains && work.uniform && shared_ahead_ >= part_bytes() + at_once * coefficient_bytes_ + 16) {
    const int most = most_of(shared_ahead_ - part_bytes() - 16);
    if (num_parts_ * ceil_of_ratio(num_chains, most) > blocks_at_once_) {
      rows_come_ = BatchRows::ahead;
      most_chains_ = most;
    }
  }
}

// As few waves of blocks as can be, each as short. Costs are in evaluations of a part for a chain, halved.
BatchEvaluation::Grid BatchEvaluation::grid(int num_chains) const {
  constexpr long kStartAndEnd = 4, kPart = 1;                         // of a block; of each further part
  constexpr long kSumsAtOnce = 4 * device::kBatchGroup, kFinish = 1;  // of a chain, by a warp
  Grid best;
  long least = -1;
  const bool ahead = rows_come_ == BatchRows::ahead;
  for (int each = 1; each <= most_chains_; ++each) {
    const long groups = ceil_of_ratio(num_chains, each);
    const long evaluated = ceil_of_ratio(each, chains_at_once_) * chains_at_once_;
    // One group: a block starts and ends once. Where rows come ahead that is so for all.
    long blocks = num_parts_;
    if (ahead || groups == 1) blocks = std::clamp(blocks_at_once_ / groups, 1L, blocks);
    const long waves = ceil_of_ratio(blocks * groups, blocks_at_once_);
    for (int log2_run = 0; log2_run <= (ahead ? most_log2_run_ : 0); ++log2_run) {
      const long sums = ceil_of_ratio(num_parts_, 1L << log2_run);
      const long parts = ceil_of_ratio(sums, blocks) << log2_run;
      if (sums > kMostSums) continue;
      const long cost =
          waves * (parts * 2 * evaluated + (parts - 1) * kPart + kStartAndEnd) +
          ceil_of_ratio(each, device::kBatchThreads / 32) * (kFinish + ceil_of_ratio(sums, kSumsAtOnce));
      if (least < 0 || cost <= least) {
        least = cost;
        best = {each, static_cast<unsigned>(groups), static_cast<unsigned>(std::min(blocks, sums)), log2_run};
      }
    }
  }
  return best;
}

int BatchEvaluation::launch(device::BatchView view, Stream stream) const {
  const Grid grid = this->grid(view.num_active);
  view.chains_per_block = grid.chains_per_block;
  const auto chains = static_cast<std::size_t>((grid.chains_per_block + chains_at_once_ - 1) /
                                               chains_at_once_ * chains_at_once_);
  std::size_t shared = chains * coefficient_bytes_;
  if (rows_come_ != BatchRows::loaded) {
    shared = (shared + 15) / 16 * 16;
    view.ahead_at = static_cast<int>(shared);
  }
  if (rows_come_ == BatchRows::streamed) {
    shared += streamed_bytes();
  } else if (rows_come_ == BatchRows::ahead) {
    view.log2_run = grid.log2_run;
    view.num_places = shared + 2 * part_bytes() <= shared_ahead_ ? 2 : 1;
    shared += static_cast<std::size_t>(view.num_places) * part_bytes();
  }
  void* arguments[] = {&view};
  launch_function("launch of batch_kernel", Overlap::yes, kernel_->function(),
                  {dim3(grid.blocks, grid.groups), dim3(device::kBatchThreads),
                   std::max(shared, static_cast<std::size_t>(device::kBatchFinishBytes))},
                  stream, arguments);
  return log2_parts_of_tile_ - (rows_come_ == BatchRows::ahead ? grid.log2_run : 0);
}

}  // namespace emomc
