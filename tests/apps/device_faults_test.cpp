// A device fails during a run: the last checkpoint is valid, the device is not called again, and the run
// continues from there. A host device that throws the exceptions of a GPU replaces the GPU.
#include <nlohmann/json.hpp>

#include "device_run.hpp"
#include "struck_run.hpp"

namespace emomc {
namespace {

constexpr long kNever = 1L << 40;

// From its n-th call on every call fails, as CUDA's calls do after a kernel has trapped.
class FailingDevice final : public Device {
 public:
  FailingDevice(long fails_at, long* calls) : fails_at_(fails_at), calls_(calls), host_(make_host_device()) {}

  DeviceKind kind() const override { return DeviceKind::host; }
  std::string description() const override { return host_->description(); }
  Stream stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return strike(), host_->free_bytes(); }
  void* allocate(std::size_t bytes) override { return strike(), host_->allocate(bytes); }
  void release(void* memory) noexcept override { host_->release(memory); }
  void* allocate_host(std::size_t bytes) override { return strike(), host_->allocate_host(bytes); }
  void release_host(void* memory) noexcept override { host_->release_host(memory); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    strike();
    host_->copy(to, from, bytes);
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    return strike(), host_->capture(enqueue);
  }
  void launch(Graph& graph) override {
    strike();
    host_->launch(graph);
  }
  std::unique_ptr<Event> make_event() override { return strike(), host_->make_event(); }
  void record(Event& event) override {
    strike();
    host_->record(event);
  }
  void wait(Event& event) override {
    strike();
    host_->wait(event);
  }
  void synchronize() override {
    strike();
    host_->synchronize();
  }

 private:
  void strike() const {
    if (++*calls_ >= fails_at_)
      throw CudaError("cudaGraphLaunch failed at x.cpp:1: cudaErrorLaunchFailure: unspecified launch failure",
                      719);
  }
  long fails_at_;
  long* calls_;  ///< outlives this object
  std::unique_ptr<Device> host_;
};

TEST(DeviceFaults, AtAnyCallLeaveTheLastCheckpointGood) {
  testing::StruckRun run(testing::kComponentWise);
  const auto data = run.folder / "data.csv";
  long calls = 0;
  const auto struck_at = [&](long at) {
    calls = 0;
    return testing::run_on(data, run.folder / "run", "reference",
                           [&] { return std::make_unique<FailingDevice>(at, &calls); });
  };
  ASSERT_TRUE(struck_at(kNever).finished);
  std::filesystem::rename(run.folder / "run", run.folder / "undisturbed");
  const long all = calls, stride = testing::long_form() ? 1 : std::max(1L, all / 20);
  int with_checkpoint = 0;
  for (long at = 1; at <= all; at += stride) {
    std::filesystem::remove_all(run.folder / "run");
    std::string message;
    try {
      struck_at(at);
      ADD_FAILURE() << "call " << at << " did not fail";
    } catch (const MachineError& error) {  // becomes exit code 3 in the program
      message = error.what();
    }
    EXPECT_EQ(calls, at) << "the device was asked for more after it had failed";
    EXPECT_NE(message.find("cudaErrorLaunchFailure"), std::string::npos) << message;
    if (run.folder.exists("run/checkpoint")) {
      ++with_checkpoint;
      const auto step = read_checkpoint(run.folder / "run/checkpoint").state.step;
      EXPECT_NE(message.find("the checkpoint of step " + std::to_string(step) + " is good"),
                std::string::npos)
          << message;
      EXPECT_EQ(nlohmann::json::parse(run.folder.read("run/manifest.json"))["status"], "failed");
    }
    EXPECT_TRUE(struck_at(kNever).finished);
    const auto expected = read_chains(run.folder / "undisturbed"), chains = read_chains(run.folder / "run");
    for (std::size_t c = 0; c < expected.size(); ++c) {
      EXPECT_EQ(chains[c].parameters, expected[c].parameters) << "call " << at;
      EXPECT_EQ(chains[c].log_likelihood, expected[c].log_likelihood) << "call " << at;
    }
  }
  EXPECT_GE(with_checkpoint, 8);
  std::cout << all << " calls, " << with_checkpoint << " faults after a checkpoint\n";
}

}  // namespace
}  // namespace emomc
