#include <algorithm>

#include "batch_evaluation.hpp"
#include "emomc/core/cuda_launch.cuh"

namespace emomc {
namespace {

using device::BatchRows;
using device::BatchWork;

constexpr std::size_t kMostShared = 44 << 10;  // dynamic part of each of four blocks
// Shared memory of a multiprocessor, and the part of it that is reserved for each block.
constexpr std::size_t kSharedOfAll = 227 << 10, kSharedBesides = 1024;

int bytes_of(const DeviceLikelihood& likelihood) { return likelihood.real == "float" ? 4 : 8; }

// Static shared memory of a block of batch_kernel.
std::size_t static_shared_bytes(int chains, int together, bool ahead, bool component) {
  const int of_sums =
      ((together > 0 ? 2 : 1) * device::kBatchThreads / 32 + (ahead ? device::kBatchRun : 0)) * 8 + 4;
  return static_cast<std::size_t>(chains) * static_cast<std::size_t>(of_sums + (component ? 48 : 0)) + 128;
}

// The largest number of sums of a chain.
constexpr long kMostSums = static_cast<long>(device::kBatchGroups) * device::kBatchGroup;

// Dynamic shared memory of a block if a multiprocessor holds `blocks` blocks; `fixed`: the static part.
std::size_t shared_of_block(int blocks, std::size_t fixed) {
  const std::size_t of_block = kSharedOfAll / static_cast<std::size_t>(blocks) - kSharedBesides;
  return of_block > fixed ? of_block - fixed : 0;
}
constexpr std::size_t kAlignment = 16;  // alignment of the rows behind the coefficients

long ceil_of_ratio(long a, long b) { return (a + b - 1) / b; }

const char* name_of(BatchRows rows) {
  return rows == BatchRows::loaded ? "loaded" : rows == BatchRows::ahead ? "ahead" : "streamed";
}

}  // namespace

KernelSource batch_source(const DeviceLikelihood& likelihood, bool uniform, BatchWork work, int rows,
                          BatchRows rows_come, int together) {
  const auto number = [](int n) { return std::to_string(n); };
  KernelSource source{
      likelihood.code.headers,
      "emomc::device::batch_kernel<emomc::device::BatchConfig<" + likelihood.code.type + ", " +
          likelihood.real + ", " + number(likelihood.sizes.num_columns) + ", " + number(rows) +
          (uniform ? ", true" : ", false") +
          ", emomc::device::BatchWork::" + (work == BatchWork::component ? "component" : "full") +
          ", emomc::device::BatchRows::" + name_of(rows_come) + ", " + number(together) + ">>",
      {},
      likelihood.code.sources};
  source.headers.push_back("emomc/device/batch_kernel.cuh");
  return source;
}

std::unique_ptr<BatchEvaluation> BatchEvaluation::make(const DeviceLikelihood& likelihood, int num_chains,
                                                       const device::ChainWorkView& work, bool component,
                                                       const BatchMachine& machine, int most_tiles_of_sum) {
  if (num_chains == 0 || work.max_tiles == 0 || !runtime_compiler_problem().empty()) return nullptr;
  std::unique_ptr<BatchEvaluation> result(
      new BatchEvaluation(likelihood, work, component, num_chains, machine));
  if (result->rows_ == 0) return nullptr;
  const int parts_of_tile = device::kTileRows / (result->rows_ * device::kBatchThreads);
  while (1 << result->log2_parts_of_tile_ < parts_of_tile) ++result->log2_parts_of_tile_;
  while (result->most_log2_run_ > 0 &&
         1L << result->most_log2_run_ > static_cast<long>(most_tiles_of_sum) * parts_of_tile)
    --result->most_log2_run_;
  const long parts = result->num_parts_;
  constexpr int kMostChains = 65535;  // the largest number of groups of chains in a grid
  if (num_chains > kMostChains || result->coefficient_bytes_ > kMostShared ||
      work.max_segments > device::kBatchGroups ||
      ceil_of_ratio(parts, 1L << result->most_log2_run_) > kMostSums)
    return nullptr;
  if (result->rows_come_ != BatchRows::ahead && parts > kMostSums) return nullptr;
  result->kernel_ = std::make_unique<RuntimeKernel>(
      batch_source(likelihood, work.uniform, component ? BatchWork::component : BatchWork::full,
                   result->rows_, result->rows_come_, result->together_));
  return result;
}

std::size_t BatchEvaluation::part_bytes() const {
  return static_cast<std::size_t>(bytes_of_row_ * rows_ * device::kBatchThreads);
}

std::size_t BatchEvaluation::streamed_bytes() const {
  return static_cast<std::size_t>(device::kStreamedColumns * bytes_of_real_ * rows_ * device::kBatchThreads);
}

void BatchEvaluation::choose_rows(const DeviceLikelihood& likelihood, int together) {
  rows_ = likelihood.rows_per_thread;
  together_ = together;
  if (together <= 1 || !likelihood.sums_products) return;
  // A column is read for all chains at once, so that registers for rows gain more.
  constexpr int kRegisters = 52, kBytesOfRegister = 4;
  const int most = likelihood.real == "float" ? 4 : 2;
  for (int rows = most; rows >= 2; rows /= 2) {
    if (rows * bytes_of_row_ > kRegisters * kBytesOfRegister) continue;
    rows_ = rows;
    return;
  }
  rows_ = most;
  rows_come_ = BatchRows::streamed;
  together_ = device::kStreamedAtOnce;
}

// The constants here and in grid() are fitted to times of an H100: an instruction is issued in three quarters
// of all cycles, and four warps share a scheduler. Float64 instructions take two cycles.
double BatchEvaluation::cycles_of_part(const DeviceLikelihood& likelihood, bool component) const {
  constexpr double kIssued = 0.75, kWarps = 4;
  const bool is_double = bytes_of_real_ == 8;
  double products = likelihood.sizes.num_coefficients * (is_double ? 2.0 : 1.0);
  if (component) products /= 2;  // threads wait for the kept sums of the other components
  const double functions = is_double ? 75 : 20;
  return rows_ * kWarps * (products + functions) / kIssued;
}

BatchEvaluation::BatchEvaluation(const DeviceLikelihood& likelihood, const device::ChainWorkView& work,
                                 bool component, int num_chains, const BatchMachine& machine)
    : uniform_(work.uniform),
      bytes_of_real_(bytes_of(likelihood)),
      bytes_of_row_(likelihood.sizes.num_columns * bytes_of(likelihood)),
      coefficient_bytes_(static_cast<std::size_t>(likelihood.sizes.num_coefficients * bytes_of(likelihood))) {
  const bool several = work.uniform && !component && num_chains > 1 && likelihood.chains_together > 1;
  choose_rows(likelihood, several ? likelihood.chains_together : 0);
  if (rows_ == 0) return;
  num_parts_ = work.max_tiles * (device::kTileRows / (rows_ * device::kBatchThreads));
  cycles_of_part_ = cycles_of_part(likelihood, component);
  chains_at_once_ = std::max(1, together_);
  if (rows_come_ == BatchRows::streamed) {
    plan_streamed_rows(machine);
    return;
  }
  blocks_at_once_ = static_cast<long>(device::kBatchBlocks) * machine.num_multiprocessors;
  most_chains_ = most_chains(kMostShared);
  if (rows_gain_ahead(likelihood, component)) plan_rows_ahead(component, num_chains);
  // When all rows are read in turn, the cache keeps no larger share of them.
  constexpr double kStaying = 0.6;
  const double bytes = static_cast<double>(work.max_tiles) * device::kTileRows * bytes_of_row_;
  staying_of_32_ =
      static_cast<int>(std::min(32.0, 32 * kStaying * static_cast<double>(machine.cache_bytes) / bytes));
}

// The largest number of chains of a block whose coefficients fit `shared` bytes.
int BatchEvaluation::most_chains(std::size_t shared) const {
  const bool of_several = together_ > 1 && rows_come_ != BatchRows::streamed;
  const int most = of_several ? device::kBatchChainsTogether : device::kBatchChains;
  const auto at_once = static_cast<std::size_t>(chains_at_once_);
  const std::size_t chains = shared / (coefficient_bytes_ * at_once) * at_once;
  return static_cast<int>(std::clamp(chains, std::size_t{1}, static_cast<std::size_t>(most)));
}

void BatchEvaluation::plan_streamed_rows(const BatchMachine& machine) {
  int blocks = bytes_of_real_ == 4 ? device::kStreamedBatchBlocks<4> : device::kStreamedBatchBlocks<8>;
  const std::size_t fixed = static_shared_bytes(device::kBatchChains, together_, false, false);
  const std::size_t least = device::kStreamedAtOnce * coefficient_bytes_ + streamed_bytes() + kAlignment;
  while (blocks > 1 && shared_of_block(blocks, fixed) < least) --blocks;
  const std::size_t shared = shared_of_block(blocks, fixed);
  if (shared < least) {
    rows_ = 0;
    return;
  }
  blocks_at_once_ = static_cast<long>(blocks) * machine.num_multiprocessors;
  most_chains_ = most_chains(std::min(kMostShared, shared - streamed_bytes() - kAlignment));
}

// Whether the kernel has enough registers to copy rows ahead. If more than one of the three conditions in
// short_of_registers holds, the kernel spills registers or takes a tenth longer.
bool BatchEvaluation::rows_gain_ahead(const DeviceLikelihood& likelihood, bool component) const {
  constexpr int kFewRegisters = 8;  // registers of the rows of few columns
  const int short_of_registers = (bytes_of_real_ == 8) + !likelihood.leaves_registers + !component;
  return rows_ * bytes_of_row_ / 4 <= kFewRegisters || likelihood.sums_products || short_of_registers <= 1;
}

void BatchEvaluation::plan_rows_ahead(bool component, int num_chains) {
  // At least 1, which selects the loop in which a part takes one barrier.
  const int together = component ? 0 : std::max(1, together_);
  const int of_block = together > 1 ? device::kBatchChainsTogether : device::kBatchChains;
  const std::size_t shared =
      shared_of_block(device::kBatchBlocks, static_shared_bytes(of_block, together, true, component));
  const std::size_t others = part_bytes() + kAlignment;
  if (!uniform_ || shared < others + static_cast<std::size_t>(chains_at_once_) * coefficient_bytes_) return;
  const int most = most_chains(shared - others);
  if (num_parts_ * ceil_of_ratio(num_chains, std::min(most, device::kBatchChains)) <= blocks_at_once_) return;
  rows_come_ = BatchRows::ahead;
  together_ = together;
  most_chains_ = most;
}

// Rounds in which the last block adds up the sums of its chains: each warp those of a chain, or all warps
// those of one chain after the other.
long BatchEvaluation::num_rounds(long sums, int chains) const {
  constexpr long kWarps = device::kBatchThreads / 32;
  const long groups = ceil_of_ratio(sums, device::kBatchGroup);
  const long at_once = uniform_ ? device::kBatchGroupsAtOnce : 1;
  if ((sums > device::kBatchSumsOfWarp && (!uniform_ || chains < kWarps)) ||
      groups > device::kBatchWarpGroups)
    return chains * ceil_of_ratio(groups, kWarps * at_once);
  return ceil_of_ratio(chains, kWarps) * ceil_of_ratio(groups, at_once);
}

// The grid with the least cost: few and short waves of blocks. Costs are in cycles.
BatchEvaluation::Grid BatchEvaluation::grid(int num_chains) const {
  constexpr double kPart = 700, kRound = 5000;  // each part after the first; each round of num_rounds()
  constexpr double kCyclesOfByte = 1.0 / 20;    // cost of a byte of a part
  const double start_and_end = 2 * cycles_of_part_;
  Grid best;
  double least = -1;
  const bool ahead = rows_come_ == BatchRows::ahead, streamed = rows_come_ == BatchRows::streamed;
  const double part = kPart + kCyclesOfByte * static_cast<double>(part_bytes());
  for (int each = 1; each <= most_chains_; ++each) {
    const long groups = ceil_of_ratio(num_chains, each);
    const long evaluated = ceil_of_ratio(each, chains_at_once_) * chains_at_once_;
    // With one group, or where rows are copied ahead or streamed, a block evaluates several parts, so that it
    // starts and ends only once.
    long blocks = num_parts_;
    if (ahead || streamed || groups == 1) blocks = std::clamp(blocks_at_once_ / groups, 1L, blocks);
    const long waves = ceil_of_ratio(blocks * groups, blocks_at_once_);
    for (int log2_run = 0; log2_run <= (ahead ? most_log2_run_ : 0); ++log2_run) {
      const long sums = ceil_of_ratio(num_parts_, 1L << log2_run);
      const auto parts = static_cast<double>(ceil_of_ratio(sums, blocks) << log2_run);
      if (sums > kMostSums) continue;
      const double cost =
          static_cast<double>(waves) * (parts * static_cast<double>(evaluated) * cycles_of_part_ +
                                        (parts - 1) * part + start_and_end) +
          kRound * static_cast<double>(num_rounds(sums, each));
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
    view.staying_of_32 = staying_of_32_;
    shared += part_bytes();
  }
  void* arguments[] = {&view};
  launch_function("launch of batch_kernel", Overlap::yes, kernel_->function(),
                  {dim3(grid.blocks, grid.groups), dim3(device::kBatchThreads),
                   std::max(shared, static_cast<std::size_t>(device::kBatchFinishBytes))},
                  stream, arguments);
  return log2_parts_of_tile_ - (rows_come_ == BatchRows::ahead ? grid.log2_run : 0);
}

}  // namespace emomc
