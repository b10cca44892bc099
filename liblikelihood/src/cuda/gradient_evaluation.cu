#include <algorithm>

#include "emomc/core/cuda_launch.cuh"
#include "emomc/core/errors.hpp"
#include "emomc/device/team.hpp"
#include "gradient_evaluation.hpp"

namespace emomc {

GradientEvaluation::GradientEvaluation(Device& device, const DeviceLikelihood& likelihood,
                                       const GradientCode& code, int num_chains, const ChainWork& work,
                                       const std::vector<double>& shift, std::size_t most_shared)
    : device_(device),
      likelihood_(likelihood),
      code_(code),
      num_chains_(num_chains),
      uniform_(work.view().uniform) {
  if (!gradient_fits(likelihood, code, most_shared))
    throw MachineError("the gradient of this likelihood takes more shared memory than the GPU has");
  const bool uniform = work.view().uniform;
  const int rows_of_step =
      32 * device::gradient_rows_of_thread(bytes_of_real(likelihood), code.sizes.num_numbers);
  const int steps = device::kTileRows / rows_of_step, parts = steps / device::kGradientWarps;
  steps_ = steps;
  parts_ = parts;
  // A shorter list may have more groups than a longer one.
  int parts_of_group = 1;
  for (int tiles = 1; tiles <= work.max_tiles(); ++tiles) {
    max_groups_ = std::max(max_groups_, device::num_gradient_groups(tiles * parts));
    parts_of_group = std::max(parts_of_group, device::gradient_parts_of_group(tiles * parts));
  }
  const int num_step_sums = uniform ? max_groups_ : work.max_tiles() * steps;
  step_sums_of_chain_ = num_step_sums;
  const auto n = static_cast<std::size_t>(num_chains);
  const auto count = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  const std::size_t needed = n *
                             (count(work.max_tiles(), steps) + static_cast<std::size_t>(work.max_segments()) +
                              count(max_groups_, code.sizes.num_slots)) *
                             sizeof(double);
  if (needed > device.free_bytes())
    throw MachineError("out of GPU memory: gradients of " + std::to_string(num_chains) + " chains take " +
                       std::to_string(needed) + " bytes, " + std::to_string(device.free_bytes()) +
                       " are free; use fewer chains");
  step_sums_ = {device, n * count(num_step_sums, 1)};
  segment_sums_ = {device, n * static_cast<std::size_t>(work.max_segments())};
  group_sums_ = {device, n * count(max_groups_, code.sizes.num_slots)};
  if (bytes_of_real(likelihood) == 4) {
    shift_float32_ = {device, shift.size()};
    shift_float32_.upload(std::vector<float>(shift.begin(), shift.end()));
  } else {
    shift_float64_ = {device, shift.size()};
    shift_float64_.upload(shift);
  }
  const auto turns_of = [](int count, int each) { return static_cast<unsigned>((count + each - 1) / each); };
  turns_ = turns_of(code.sizes.num_of_tile, device::gradient_numbers_at_once(bytes_of_real(likelihood))) *
           std::max(1u, turns_of(code.sizes.num_tiles, device::kGradientTilesAtOnce));
  form_ = gradient_form(likelihood, code.sizes, num_chains, uniform, max_groups_ * static_cast<int>(turns_),
                        {attribute(cudaDevAttrMultiProcessorCount), most_shared}, parts_of_group);
  shared_bytes_ = gradient_shared_bytes(likelihood, code.sizes, form_, parts_of_group);
  finish_bytes_ = gradient_finish_bytes(code.sizes, likelihood.sizes.num_columns);
  prepare_ = std::make_unique<RuntimeKernel>(prepare_source(likelihood, code.sizes.num_parameters));
  make_rows();
  make_finish(finish_blocks(max_groups_));
}

void GradientEvaluation::share(const RowShare& share, const RowNodes& nodes,
                               const std::shared_ptr<DeviceRanks>& devices) {
  std::vector<int> tiles_of_all, first_group;
  int most_groups = 0, most_parts = 1, each = 1;
  for (const RowNodes::List& list : nodes.lists()) {
    if (list.segments.size() > 1)
      throw InputError("shard: rows: gradients of a chain that reads several segments are not divided");
    const auto tiles = static_cast<int>(list.num_tiles);
    each = device::gradient_parts_of_group(tiles * parts_);
    const RowShare::Tiles own =
        list.segments.empty() ? RowShare::Tiles{}
                              : share.tiles_of(share.rank(), static_cast<std::size_t>(list.segments[0]));
    tiles_of_all.push_back(tiles);
    first_group.push_back(own.first * parts_ / each);
    most_groups = std::max(most_groups, (own.size() * parts_ + each - 1) / each);
    most_parts = std::max(most_parts, each);
  }
  // Groups are those of all ranks' tiles; this rank has no more of these than of groups for its own tiles
  // alone.
  max_groups_ = most_groups;
  if (uniform_) step_sums_of_chain_ = most_groups;
  const auto log2_of = [](int number) {
    int log2 = 0;
    while (number > 1 << log2) ++log2;
    return log2;
  };
  log2_per_tile_ = uniform_ ? log2_of(parts_) - log2_of(each) : log2_of(steps_);
  if (form_.copies) {
    form_.copies = false;
    make_rows();
  }
  shared_bytes_ = gradient_shared_bytes(likelihood_, code_.sizes, form_, most_parts);
  tiles_of_all_ = {device_, tiles_of_all.size()};
  tiles_of_all_.upload(tiles_of_all);
  first_group_ = {device_, first_group.size()};
  first_group_.upload(first_group);
  rank_ = share.rank();
  int blocks = 1;
  for (const int tiles : tiles_of_all)
    blocks = std::max(blocks, finish_blocks(device::num_gradient_groups(tiles * parts_)));
  make_finish(blocks);
  ld_shares_ = device::kMostFinishBlocks * device::gradient_threads_of_slot(code_.sizes.num_slots) *
               code_.sizes.num_slots;
  shares_ = {device_, static_cast<std::size_t>(num_chains_) * static_cast<std::size_t>(ld_shares_)};
  shares_kernel_ = std::make_unique<RuntimeKernel>(
      gradient_source(likelihood_, code_, {}, uniform_, GradientStage::shares));
  turns_of_ranks_.clear();
  for (int rank = 0; rank < share.num_ranks(); ++rank) {
    std::vector<std::size_t> bytes(static_cast<std::size_t>(share.num_ranks()), 0);
    bytes[static_cast<std::size_t>(rank)] = static_cast<std::size_t>(ld_shares_) * sizeof(double);
    turns_of_ranks_.push_back(
        std::make_unique<RankGather>(devices, bytes, static_cast<std::size_t>(num_chains_)));
  }
}

void GradientEvaluation::make_rows() {
  kernel_ = std::make_unique<RuntimeKernel>(
      gradient_source(likelihood_, code_, form_, uniform_, GradientStage::rows));
}

void GradientEvaluation::make_finish(int blocks) {
  finish_blocks_ = blocks;
  finish_ = std::make_unique<RuntimeKernel>(
      gradient_source(likelihood_, code_, {}, uniform_, GradientStage::finish, blocks));
}

// The number of blocks of a cluster; 1 where the GPU has no clusters.
int GradientEvaluation::finish_blocks(int num_groups) const {
  return attribute(cudaDevAttrComputeCapabilityMajor) >= 9
             ? device::gradient_finish_blocks(num_groups, code_.sizes.num_slots)
             : 1;
}

int GradientEvaluation::attribute(int which) const {
  int index = 0, value = 0;
  use_device_of(device_.stream());
  EMOMC_CUDA_CHECK(cudaGetDevice(&index));
  EMOMC_CUDA_CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), index));
  return value;
}

GradientEvaluation::StepSums GradientEvaluation::step_sums() const {
  return {step_sums_.data(), log2_per_tile_, static_cast<std::size_t>(step_sums_of_chain_)};
}

void GradientEvaluation::prepare(const double* theta, int ld, ActiveSet active, void* coefficients,
                                 double* common, double* scratch, Stream stream) const {
  void* arguments[] = {&theta, &ld, &active, &coefficients, &common, &scratch};
  launch_function("launch of sized_prepare_kernel", Overlap::yes, prepare_->function(),
                  {dim3(static_cast<unsigned>(active.count)), dim3(device::kTeamLanes)}, stream, arguments);
}

void GradientEvaluation::launch(device::GradientKernelView view, Stream stream) const {
  if (view.active.count == 0) return;
  launch_rows(view, stream);
  finish(view, stream);
}

void GradientEvaluation::complete(device::GradientKernelView& view) const {
  view.step_sums = step_sums_.data();
  view.segment_sums = segment_sums_.data();
  view.group_sums = group_sums_.data();
  view.max_groups = max_groups_;
  view.shift = shift_float32_.size() > 0 ? static_cast<const void*>(shift_float32_.data())
                                         : static_cast<const void*>(shift_float64_.data());
  if (turns_of_ranks_.empty()) return;
  view.tiles_of_all = tiles_of_all_.data();
  view.first_group = first_group_.data();
  view.shares = shares_.data();
  view.ld_shares = ld_shares_;
}

void GradientEvaluation::launch_rows(device::GradientKernelView view, Stream stream) const {
  complete(view);
  void* arguments[] = {&view};
  const auto active = static_cast<unsigned>(view.active.count);
  const auto chains = static_cast<unsigned>(form_.chains);
  if (max_groups_ > 0)
    launch_function("launch of gradient_kernel", Overlap::yes, kernel_->function(),
                    {dim3(static_cast<unsigned>(max_groups_), (active + chains - 1) / chains, turns_),
                     dim3(device::kGradientThreads), shared_bytes_},
                    stream, arguments);
}

void GradientEvaluation::finish(device::GradientKernelView view, Stream stream) const {
  complete(view);
  void* arguments[] = {&view};
  const auto active = static_cast<unsigned>(view.active.count);
  // Each rank in turn adds its groups to the sums of earlier ranks.
  for (std::size_t turn = 0; turn < turns_of_ranks_.size(); ++turn) {
    view.continues = turn > 0;
    if (turn == static_cast<std::size_t>(rank_))
      launch_function("launch of gradient_shares_kernel", Overlap::no, shares_kernel_->function(),
                      {dim3(active), dim3(device::kGradientFinishThreads)}, stream, arguments);
    turns_of_ranks_[turn]->enqueue(view.shares, static_cast<std::size_t>(view.active.count));
  }
  const bool follows_rows = max_groups_ > 0 && turns_of_ranks_.empty();
  launch_function("launch of gradient_finish_kernel", follows_rows ? Overlap::yes : Overlap::no,
                  finish_->function(),
                  {dim3(active * static_cast<unsigned>(finish_blocks_)), dim3(device::kGradientFinishBlock),
                   finish_bytes_},
                  stream, arguments);
}

}  // namespace emomc
