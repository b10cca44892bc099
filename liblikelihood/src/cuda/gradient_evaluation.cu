#include <algorithm>

#include "emomc/core/cuda_launch.cuh"
#include "emomc/core/errors.hpp"
#include "gradient_evaluation.hpp"

namespace emomc {

GradientEvaluation::GradientEvaluation(Device& device, const DeviceLikelihood& likelihood,
                                       const GradientCode& code, int num_chains, const ChainWork& work,
                                       const std::vector<double>& shift, std::size_t most_shared)
    : chains_(gradient_chains_of_block(likelihood, code.sizes, num_chains, work.view().uniform)) {
  if (!gradient_fits(likelihood, code, most_shared))
    throw MachineError("the gradient of this likelihood takes more shared memory than the GPU has");
  const bool uniform = work.view().uniform;
  const int rows_of_step =
      32 * device::gradient_rows_of_thread(bytes_of_real(likelihood), code.sizes.num_numbers);
  const int steps = device::kTileRows / rows_of_step, parts = steps / device::kGradientWarps;
  // A shorter list may have more groups than a longer one.
  int parts_of_group = 1;
  for (int tiles = 1; tiles <= work.max_tiles(); ++tiles) {
    max_groups_ = std::max(max_groups_, device::num_gradient_groups(tiles * parts));
    parts_of_group = std::max(parts_of_group, device::gradient_parts_of_group(tiles * parts));
  }
  const int num_step_sums = uniform ? max_groups_ : work.max_tiles() * steps;
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
  shared_bytes_ = gradient_shared_bytes(likelihood, code.sizes, chains_, parts_of_group);
  finish_bytes_ = gradient_finish_bytes(code.sizes);
  kernel_ = std::make_unique<RuntimeKernel>(gradient_source(likelihood, code, num_chains, uniform, false));
  finish_ = std::make_unique<RuntimeKernel>(gradient_source(likelihood, code, num_chains, uniform, true));
}

void GradientEvaluation::launch(device::GradientKernelView view, Stream stream) const {
  if (view.active.count == 0) return;
  view.step_sums = step_sums_.data();
  view.segment_sums = segment_sums_.data();
  view.group_sums = group_sums_.data();
  view.max_groups = max_groups_;
  view.shift = shift_float32_.size() > 0 ? static_cast<const void*>(shift_float32_.data())
                                         : static_cast<const void*>(shift_float64_.data());
  void* arguments[] = {&view};
  const auto active = static_cast<unsigned>(view.active.count);
  const auto chains = static_cast<unsigned>(chains_);
  if (max_groups_ > 0)
    launch_function("launch of gradient_kernel", Overlap::yes, kernel_->function(),
                    {dim3(static_cast<unsigned>(max_groups_), (active + chains - 1) / chains, turns_),
                     dim3(device::kGradientThreads), shared_bytes_},
                    stream, arguments);
  launch_function("launch of gradient_finish_kernel", Overlap::yes, finish_->function(),
                  {dim3(active), dim3(device::kGradientFinishThreads), finish_bytes_}, stream, arguments);
}

}  // namespace emomc
