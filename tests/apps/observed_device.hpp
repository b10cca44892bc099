// A host device that calls a function of the test before each call at which a GPU might fail.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/execution.hpp"

namespace emomc::testing {

class ObservedDevice final : public Device {
 public:
  /// `before_each_call` receives the name of the call.
  explicit ObservedDevice(std::function<void(std::string_view)> before_each_call)
      : before_(std::move(before_each_call)), host_(make_host_device()) {}

  DeviceKind kind() const override { return DeviceKind::host; }
  std::string description() const override { return host_->description(); }
  Stream stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return before_("free_bytes"), host_->free_bytes(); }
  void* allocate(std::size_t bytes) override { return before_("allocate"), host_->allocate(bytes); }
  void release(void* memory) noexcept override { host_->release(memory); }
  void* allocate_host(std::size_t bytes) override {
    return before_("allocate_host"), host_->allocate_host(bytes);
  }
  void release_host(void* memory) noexcept override { host_->release_host(memory); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    before_("copy");
    host_->copy(to, from, bytes);
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    return before_("capture"), host_->capture(enqueue);
  }
  void launch(Graph& graph) override {
    before_("launch");
    host_->launch(graph);
  }
  std::unique_ptr<Event> make_event() override { return before_("make_event"), host_->make_event(); }
  void record(Event& event) override {
    before_("record");
    host_->record(event);
  }
  void wait(Event& event) override {
    before_("wait");
    host_->wait(event);
  }
  void synchronize() override {
    before_("synchronize");
    host_->synchronize();
  }

 private:
  std::function<void(std::string_view)> before_;
  std::unique_ptr<Device> host_;
};

/// Returns a device whose calls all fail from the call number `fails_at` on, as CUDA's calls do after a
/// kernel has trapped. `calls`, which must outlive the device, counts the calls.
inline std::unique_ptr<Device> failing_device(long fails_at, long* calls) {
  return std::make_unique<ObservedDevice>([fails_at, calls](std::string_view) {
    if (++*calls >= fails_at)
      throw CudaError("cudaGraphLaunch failed at x.cpp:1: cudaErrorLaunchFailure: unspecified launch failure",
                      719);
  });
}

}  // namespace emomc::testing
