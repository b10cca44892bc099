#include <algorithm>

#include "batch_evaluation.hpp"
#include "emomc/core/cuda_launch.cuh"

namespace emomc {
namespace {

// 32-bit registers for a thread's rows: with them, accumulators and coefficients four blocks of 128 threads
// share a multiprocessor without spills.
constexpr int kRowRegisters = 56;
// The same where distances go by pairs of columns, and so many components that their loop is one.
constexpr int kRowRegistersOfPairs = 28, kFewComponents = 8;
constexpr int kBlocksPerMultiprocessor = 4;
// Columns up to which loops over pairs of them are unrolled whole (EMOMC_UNROLL_EXACT_PAIRS).
constexpr int kMostPairedColumns = 16;
constexpr std::size_t kMostShared = 44 << 10;  // beside the static part, four times

int bytes_of(const DeviceLikelihood& likelihood) { return likelihood.real == "float" ? 4 : 8; }

}  // namespace

int batch_rows_per_thread(const DeviceLikelihood& likelihood) {
  const bool pairs = likelihood.model.ends_with("FullMixture") || likelihood.model.ends_with("TiedMixture");
  if (pairs && likelihood.dim > kMostPairedColumns) return 0;
  const int most = pairs && likelihood.num_components > kFewComponents ? kRowRegistersOfPairs : kRowRegisters;
  for (int rows : {4, 2, 1})
    if (rows * likelihood.dim * bytes_of(likelihood) / 4 <= most) return rows;
  return 0;
}

KernelSource batch_source(const DeviceLikelihood& likelihood, bool uniform, bool component) {
  const auto number = [](int n) { return std::to_string(n); };
  return {"emomc/device/batch_kernel.cuh",
          "emomc::device::batch_kernel<emomc::device::BatchConfig<" + likelihood.model + ", " +
              likelihood.real + ", " + number(likelihood.num_components) + ", " + number(likelihood.dim) +
              ", " + number(batch_rows_per_thread(likelihood)) + (uniform ? ", true" : ", false") +
              ", emomc::device::BatchWork::" + (component ? "component>>" : "full>>")};
}

std::unique_ptr<BatchEvaluation> BatchEvaluation::make(const DeviceLikelihood& likelihood, int num_chains,
                                                       const ChainWorkView& work, bool component,
                                                       int num_multiprocessors) {
  const int rows = batch_rows_per_thread(likelihood);
  if (rows == 0 || num_chains == 0 || work.max_tiles == 0 || !runtime_compiler_problem().empty())
    return nullptr;
  const long parts = static_cast<long>(work.max_tiles) * device::kBatchTile / (rows * device::kBatchThreads);
  const auto bytes = static_cast<std::size_t>(likelihood.num_coefficients * bytes_of(likelihood));
  constexpr int kMostChains = 65535;  // a grid has so many groups of them
  if (num_chains > kMostChains || bytes > kMostShared || work.max_segments > device::kBatchGroups ||
      parts > device::kBatchGroups * 128L)
    return nullptr;
  return std::unique_ptr<BatchEvaluation>(
      new BatchEvaluation(likelihood, work, component, num_multiprocessors));
}

BatchEvaluation::BatchEvaluation(const DeviceLikelihood& likelihood, const ChainWorkView& work,
                                 bool component, int num_multiprocessors)
    : kernel_(batch_source(likelihood, work.uniform, component)),
      num_parts_(work.max_tiles *
                 (device::kBatchTile / (batch_rows_per_thread(likelihood) * device::kBatchThreads))),
      most_chains_(1),
      coefficient_bytes_(static_cast<std::size_t>(likelihood.num_coefficients * bytes_of(likelihood))),
      blocks_at_once_(kBlocksPerMultiprocessor * num_multiprocessors) {
  most_chains_ = std::clamp(static_cast<int>(kMostShared / coefficient_bytes_), 1, device::kBatchChains);
}

// As few waves of blocks as can be, each as short: a block's start and end cost about two chains.
int BatchEvaluation::chains_per_block(int num_chains) const {
  constexpr long kStartAndEnd = 2;
  int best = 1;
  long least = -1;
  for (int each = 1; each <= most_chains_; ++each) {
    const long blocks = static_cast<long>(num_parts_) * ((num_chains + each - 1) / each);
    const long cost = (blocks + blocks_at_once_ - 1) / blocks_at_once_ * (each + kStartAndEnd);
    if (least < 0 || cost <= least) {
      least = cost;
      best = each;
    }
  }
  return best;
}

void BatchEvaluation::launch(device::BatchView view, Stream stream) const {
  view.chains_per_block = chains_per_block(view.num_active);
  const auto groups =
      static_cast<unsigned>((view.num_active + view.chains_per_block - 1) / view.chains_per_block);
  // One group of chains: a block goes through several parts, and starts and ends once.
  const int blocks = groups == 1 ? std::min(num_parts_, blocks_at_once_) : num_parts_;
  void* arguments[] = {&view};
  launch_function("launch of batch_kernel", Overlap::yes, kernel_.function(),
                  {dim3(static_cast<unsigned>(blocks), groups), dim3(device::kBatchThreads),
                   std::max(static_cast<std::size_t>(view.chains_per_block) * coefficient_bytes_,
                            static_cast<std::size_t>(device::kBatchFinishBytes))},
                  stream, arguments);
}

}  // namespace emomc
