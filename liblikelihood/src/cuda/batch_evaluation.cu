#include <algorithm>

#include "batch_evaluation.hpp"
#include "emomc/core/cuda_launch.cuh"

namespace emomc {
namespace {

constexpr int kBlocksPerMultiprocessor = 4;
constexpr std::size_t kMostShared = 44 << 10;  // beside the static part, four times
// The same where rows come ahead, with the static part: 227 kB in all, of which a block takes 1 kB besides.
constexpr std::size_t kMostSharedAhead = ((227 << 10) / kBlocksPerMultiprocessor) - 1024;

int bytes_of(const DeviceLikelihood& likelihood) { return likelihood.real == "float" ? 4 : 8; }

std::size_t part_bytes(const DeviceLikelihood& likelihood) {
  return static_cast<std::size_t>(likelihood.sizes.num_columns * likelihood.rows_per_thread *
                                  device::kBatchThreads * bytes_of(likelihood));
}

// Of batch_kernel, at most.
std::size_t static_shared_bytes(bool component) {
  constexpr int kOfSums = (device::kBatchThreads / 32 + device::kBatchRun) * 8 + 4;
  return static_cast<std::size_t>(device::kBatchChains) *
         static_cast<std::size_t>(kOfSums + (component ? 48 : 0));
}

// Of a chain, at most.
constexpr long kMostSums = static_cast<long>(device::kBatchGroups) * device::kBatchGroup;

long ceil_of_ratio(long a, long b) { return (a + b - 1) / b; }

}  // namespace

KernelSource batch_source(const DeviceLikelihood& likelihood, bool uniform, bool component, bool ahead) {
  const auto number = [](int n) { return std::to_string(n); };
  KernelSource source{likelihood.code.headers,
                      "emomc::device::batch_kernel<emomc::device::BatchConfig<" + likelihood.code.type +
                          ", " + likelihood.real + ", " + number(likelihood.sizes.num_columns) + ", " +
                          number(likelihood.rows_per_thread) + (uniform ? ", true" : ", false") +
                          ", emomc::device::BatchWork::" + (component ? "component" : "full") +
                          ", emomc::device::BatchRows::" + (ahead ? "ahead>>" : "loaded>>"),
                      {},
                      likelihood.code.sources};
  source.headers.push_back("emomc/device/batch_kernel.cuh");
  return source;
}

std::unique_ptr<BatchEvaluation> BatchEvaluation::make(const DeviceLikelihood& likelihood, int num_chains,
                                                       const device::ChainWorkView& work, bool component,
                                                       int num_multiprocessors) {
  const int rows = likelihood.rows_per_thread;
  if (rows == 0 || num_chains == 0 || work.max_tiles == 0 || !runtime_compiler_problem().empty())
    return nullptr;
  const long parts = static_cast<long>(work.max_tiles) * device::kTileRows / (rows * device::kBatchThreads);
  const auto bytes = static_cast<std::size_t>(likelihood.sizes.num_coefficients * bytes_of(likelihood));
  constexpr int kMostChains = 65535;  // a grid has so many groups of them
  if (num_chains > kMostChains || bytes > kMostShared || work.max_segments > device::kBatchGroups ||
      (parts + device::kBatchRun - 1) / device::kBatchRun > kMostSums)
    return nullptr;
  std::unique_ptr<BatchEvaluation> result(
      new BatchEvaluation(likelihood, work, component, num_chains, num_multiprocessors));
  if (!result->ahead_ && parts > kMostSums) return nullptr;
  result->kernel_ =
      std::make_unique<RuntimeKernel>(batch_source(likelihood, work.uniform, component, result->ahead_));
  return result;
}

BatchEvaluation::BatchEvaluation(const DeviceLikelihood& likelihood, const device::ChainWorkView& work,
                                 bool component, int num_chains, int num_multiprocessors)
    : num_parts_(work.max_tiles * (device::kTileRows / (likelihood.rows_per_thread * device::kBatchThreads))),
      coefficient_bytes_(static_cast<std::size_t>(likelihood.sizes.num_coefficients * bytes_of(likelihood))),
      part_bytes_(part_bytes(likelihood)),
      blocks_at_once_(kBlocksPerMultiprocessor * num_multiprocessors) {
  const std::size_t fixed = static_shared_bytes(component);
  shared_ahead_ = kMostSharedAhead > fixed ? kMostSharedAhead - fixed : 0;
  most_chains_ = std::clamp(static_cast<int>(kMostShared / coefficient_bytes_), 1, device::kBatchChains);
  // Rows come ahead where blocks have several parts to go through, and the kernel has registers for it: where
  // more than one of these holds it spills, or takes a tenth longer.
  constexpr int kFewRegisters = 8;  // of rows: few columns
  const bool has_few =
      likelihood.rows_per_thread * likelihood.sizes.num_columns * bytes_of(likelihood) / 4 <= kFewRegisters;
  const int short_of_registers = (likelihood.real == "double") + !likelihood.leaves_registers + !component;
  const bool gains = has_few || short_of_registers <= 1;
  if (gains && work.uniform && shared_ahead_ >= part_bytes_ + coefficient_bytes_ + 16) {
    const int most = std::min(static_cast<int>((shared_ahead_ - part_bytes_ - 16) / coefficient_bytes_),
                              device::kBatchChains);
    ahead_ = num_parts_ * ceil_of_ratio(num_chains, most) > blocks_at_once_;
    if (ahead_) most_chains_ = most;
  }
}

// As few waves of blocks as can be, each as short. Costs are in evaluations of a part for a chain, halved.
BatchEvaluation::Grid BatchEvaluation::grid(int num_chains) const {
  constexpr long kStartAndEnd = 4, kPart = 1;  // of a block; of each further part
  constexpr long kSumsAtOnce = 4 * device::kBatchGroup;
  Grid best;
  long least = -1;
  for (int each = 1; each <= most_chains_; ++each) {
    const long groups = ceil_of_ratio(num_chains, each);
    // One group: a block starts and ends once. Where rows come ahead that is so for all.
    long blocks = num_parts_;
    if (ahead_ || groups == 1) blocks = std::clamp(blocks_at_once_ / groups, 1L, blocks);
    const long waves = ceil_of_ratio(blocks * groups, blocks_at_once_);
    for (int log2_run = 0; log2_run <= (ahead_ ? device::kBatchLog2Run : 0); ++log2_run) {
      const long sums = ceil_of_ratio(num_parts_, 1L << log2_run);
      const long parts = ceil_of_ratio(sums, blocks) << log2_run;
      if (sums > kMostSums) continue;
      const long cost = waves * (parts * 2 * each + (parts - 1) * kPart + kStartAndEnd) +
                        ceil_of_ratio(sums, kSumsAtOnce) * (groups == 1 ? each : 1);
      if (least < 0 || cost <= least) {
        least = cost;
        best = {each, static_cast<unsigned>(groups), static_cast<unsigned>(std::min(blocks, sums)), log2_run};
      }
    }
  }
  return best;
}

void BatchEvaluation::launch(device::BatchView view, Stream stream) const {
  const Grid grid = this->grid(view.num_active);
  view.chains_per_block = grid.chains_per_block;
  auto shared = static_cast<std::size_t>(grid.chains_per_block) * coefficient_bytes_;
  if (ahead_) {
    view.log2_run = grid.log2_run;
    shared = (shared + 15) / 16 * 16;
    view.ahead_at = static_cast<int>(shared);
    view.num_places = shared + 2 * part_bytes_ <= shared_ahead_ ? 2 : 1;
    shared += static_cast<std::size_t>(view.num_places) * part_bytes_;
  }
  void* arguments[] = {&view};
  launch_function("launch of batch_kernel", Overlap::yes, kernel_->function(),
                  {dim3(grid.blocks, grid.groups), dim3(device::kBatchThreads),
                   std::max(shared, static_cast<std::size_t>(device::kBatchFinishBytes))},
                  stream, arguments);
}

}  // namespace emomc
