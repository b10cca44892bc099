// Compares sampler_memory() with the allocations of run_chains, and tests its refusal before any allocation.
#include <gtest/gtest.h>

#include "emomc/core/errors.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "function_engine.hpp"
#include "keeper.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

using testing::FunctionEngine;
using testing::Keeper;
using testing::mixture_layout;
using testing::mixture_prior;

// A host device that counts allocations and has a given amount of free memory.
class CountedHost final : public Device {
 public:
  explicit CountedHost(std::size_t free) : free_(free) {}
  DeviceKind kind() const override { return DeviceKind::host; }
  std::string description() const override { return host_->description(); }
  Stream stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return free_; }
  void* allocate(std::size_t bytes) override {
    allocated += bytes;
    return host_->allocate(bytes);
  }
  void release(void* memory) noexcept override { host_->release(memory); }
  void* allocate_host(std::size_t bytes) override {
    allocated_on_host += bytes;
    return host_->allocate_host(bytes);
  }
  void release_host(void* memory) noexcept override { host_->release_host(memory); }
  void copy(void* to, const void* from, std::size_t bytes) override { host_->copy(to, from, bytes); }
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    return host_->capture(enqueue);
  }
  void launch(Graph& graph) override { host_->launch(graph); }
  std::unique_ptr<Event> make_event() override { return host_->make_event(); }
  void record(Event& event) override { host_->record(event); }
  void wait(Event& event) override { host_->wait(event); }
  void synchronize() override { host_->synchronize(); }

  std::size_t allocated = 0, allocated_on_host = 0;

 private:
  std::unique_ptr<Device> host_ = make_host_device();
  std::size_t free_;
};

struct SamplerMemoryTest : ::testing::Test {
  Target target{mixture_layout(3, 2), mixture_prior(), std::vector<double>{1, 1}};
  std::vector<ChainPlan> plans;
  std::vector<double> starts;

  SamplerMemoryTest() {
    const std::vector<double> start{0.2, 0.3, 0.5, 0, 1, 2, 3, 4, 5, 1, 1, 1, 1, 1, 1};
    for (std::uint64_t c = 0; c < 40; ++c) {
      plans.push_back({c, {0}, 1.0, 0});
      starts.insert(starts.end(), start.begin(), start.end());
    }
  }
  SamplerMemory planned(const std::string& kind, DeviceKind where = DeviceKind::host) const {
    return sampler_memory(where, {&target, 1}, {kind}, plans);
  }
  void run(Device& device, const std::string& kind) const {
    FunctionEngine engine(device, target.layout(), [](int, const double*, double* gradient) {
      if (gradient) std::fill_n(gradient, 15, 0.0);
      return 0.0;
    });
    RunOptions options;
    options.warmup = 2;
    options.draws = 2;
    Keeper keeper;
    run_chains(engine, target, {kind}, plans, options, starts, keeper);
  }
};

TEST_F(SamplerMemoryTest, IsWhatARunAllocates) {
  for (const auto& kind : proposal_names()) {
    CountedHost device(SIZE_MAX);
    run(device, kind);
    const SamplerMemory memory = planned(kind);
    EXPECT_EQ(memory.state + memory.draws / 2 + memory.drawn_ahead, device.allocated) << kind;
    // The memory on the host contains draws, and the counters of two segments.
    EXPECT_GE(device.allocated_on_host, memory.draws / 2) << kind;
    EXPECT_LT(device.allocated_on_host, memory.draws / 2 + memory.state) << kind;
  }
}

TEST_F(SamplerMemoryTest, DrawsAreTwoSegmentsOfAtMost32MegabytesEach) {
  const SamplerMemory memory = planned("random_walk", DeviceKind::cuda);
  EXPECT_EQ(planned("random_walk").draws, 2 * memory.draws);
  const std::size_t draw = 40 * (15 + 14 + 2) * sizeof(double);
  EXPECT_EQ(memory.draws % (2 * draw), 0U);
  EXPECT_LE(memory.draws, std::size_t{64} << 20);
  EXPECT_GT(memory.draws, std::size_t{60} << 20);
}

TEST_F(SamplerMemoryTest, MovesAreDrawnAheadOnGpusOnly) {
  EXPECT_EQ(planned("crank_nicolson").drawn_ahead, 0U);
  EXPECT_GT(planned("crank_nicolson", DeviceKind::cuda).drawn_ahead, 0U);
  EXPECT_EQ(planned("random_walk", DeviceKind::cuda).drawn_ahead, 0U);
  EXPECT_EQ(planned("crank_nicolson", DeviceKind::cuda).state, planned("crank_nicolson").state);
}

TEST_F(SamplerMemoryTest, CachesAreOfUseWhereComponentsMoveAlone) {
  EXPECT_TRUE(uses_component_caches({"component_wise"}, target));
  EXPECT_FALSE(uses_component_caches({"random_walk"}, target));
  EXPECT_FALSE(uses_component_caches({"crank_nicolson"}, target));
}

TEST_F(SamplerMemoryTest, TooLittleIsSaidBeforeAnythingIsAllocated) {
  const std::size_t needed = planned("component_wise").total();
  CountedHost enough(needed), too_small(needed - 1);
  run(enough, "component_wise");
  try {
    run(too_small, "component_wise");
    FAIL();
  } catch (const MachineError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("out of memory: state and draws of 40 chains take " + std::to_string(needed)),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("fewer chains"), std::string::npos) << text;
  }
  EXPECT_EQ(too_small.allocated, 0U);
}

}  // namespace
}  // namespace emomc
