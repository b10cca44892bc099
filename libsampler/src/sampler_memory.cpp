// Computes the memory of run_chains: an Ensemble is constructed on a device that counts bytes without
// allocating them.
#include <optional>
#include <stdexcept>

#include "ensemble.hpp"
#include "stepper.hpp"
#include "trajectories.hpp"

namespace emomc {
namespace {

class CountingDevice final : public Device {
 public:
  explicit CountingDevice(DeviceKind kind) : kind_(kind) {}

  DeviceKind kind() const override { return kind_; }
  std::string description() const override { return "counts bytes"; }
  Stream stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return 0; }
  void* allocate(std::size_t bytes) override {
    bytes_ += bytes;
    return this;  // not null, and never dereferenced
  }
  void release(void*) noexcept override {}
  void* allocate_host(std::size_t bytes) override { return allocate(bytes); }
  void release_host(void*) noexcept override {}
  void copy(void*, const void*, std::size_t) override {}
  std::unique_ptr<Graph> capture(const std::function<void()>&) override { return unused(); }
  void launch(Graph&) override { unused(); }
  std::unique_ptr<Event> make_event() override {
    unused();
    return nullptr;
  }
  void record(Event&) override { unused(); }
  void wait(Event&) override { unused(); }
  void synchronize() override {}

  std::size_t bytes() const { return bytes_; }

 private:
  static std::unique_ptr<Graph> unused() { throw std::logic_error("CountingDevice: it runs nothing"); }

  DeviceKind kind_;
  std::size_t bytes_ = 0;
};

}  // namespace

SamplerMemory sampler_memory(DeviceKind where, std::span<const Target> targets, const ProposalSpec& proposal,
                             const std::vector<ChainPlan>& plans) {
  const ProposalBlocks blocks = plan_blocks(traits_of_kind(proposal.kind), proposal.shape, targets[0]);
  CountingDevice counting(where);
  const RecordLayout record = plan_record(targets[0], plans.size());
  const Ensemble ensemble(counting, targets, blocks, plans, 0, record);
  std::size_t record_bytes = ensemble.record_bytes();
  std::optional<TrajectoryArrays> trajectories;
  std::optional<DeviceArray<int>> under_way;
  if (blocks.traits.gradient()) {
    trajectories.emplace(counting, ensemble, blocks.traits.has_tree(), record);
    if (where == DeviceKind::host) under_way.emplace(counting, plans.size());
    record_bytes += trajectories->record_bytes();
  }
  SamplerMemory memory;
  memory.draws = record_bytes * (where == DeviceKind::host ? 2 : 1);
  memory.drawn_ahead = ensemble.drawn_ahead_bytes();
  memory.state = counting.bytes() - record_bytes - memory.drawn_ahead;
  return memory;
}

}  // namespace emomc
