// A device that runs enqueued work later, on a separate thread and in order, so that segments and double
// buffers are subject to the same races as on a GPU. Its memory is the host's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "emomc/core/execution.hpp"

namespace emomc::testing {

class FakeAsyncDevice final : public Device {
 public:
  explicit FakeAsyncDevice(std::chrono::microseconds delay = std::chrono::microseconds(0))
      : delay_(delay), host_(make_host_device()), worker_([this] { work(); }) {}
  ~FakeAsyncDevice() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  DeviceKind kind() const override { return DeviceKind::host; }
  std::string description() const override { return "fake asynchronous device"; }
  Stream stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return SIZE_MAX; }
  void* allocate(std::size_t bytes) override { return host_->allocate(bytes); }
  void release(void* memory) noexcept override { host_->release(memory); }
  void* allocate_host(std::size_t bytes) override { return host_->allocate(bytes); }
  void release_host(void* memory) noexcept override { host_->release(memory); }

  void copy(void* to, const void* from, std::size_t bytes) override {
    push([=] { std::memcpy(to, from, bytes); });
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    auto graph = std::make_unique<FakeGraph>();
    graph->work = enqueue;
    return graph;
  }
  void launch(Graph& graph) override { push(static_cast<FakeGraph&>(graph).work); }

  std::unique_ptr<Event> make_event() override { return std::make_unique<FakeEvent>(); }
  void record(Event& event) override {
    const std::lock_guard lock(mutex_);
    static_cast<FakeEvent&>(event).after = num_pushed_;
  }
  void wait(Event& event) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return num_done_ >= static_cast<FakeEvent&>(event).after; });
  }
  void synchronize() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return num_done_ == num_pushed_; });
  }

 private:
  struct FakeGraph final : Graph {
    std::function<void()> work;
  };
  struct FakeEvent final : Event {
    std::size_t after = 0;
  };

  void push(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
      ++num_pushed_;
    }
    changed_.notify_all();
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(delay_);
      job();
      lock.lock();
      ++num_done_;
      changed_.notify_all();
    }
  }

  std::chrono::microseconds delay_;
  std::unique_ptr<Device> host_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::size_t num_pushed_ = 0, num_done_ = 0;
  bool ending_ = false;
  std::thread worker_;
};

}  // namespace emomc::testing
