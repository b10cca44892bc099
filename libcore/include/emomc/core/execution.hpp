// An abstraction of the place where work runs: an ordered queue of copies and captured work, with a memory of
// its own. The host runs work at once and CUDA runs it in a stream; tests use a fake device that runs work
// later, on another thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct CUstream_st;

namespace emomc {

/// A CUDA stream, or nullptr on the host.
using Stream = CUstream_st*;

enum class DeviceKind { host, cuda };

/// Work that is captured once and launched many times.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Whether launch() waits because the host decides on each repetition. Applies to graphs of
  /// Device::capture_while() on a GPU.
  virtual bool is_repeated_by_host() const { return false; }
};

/// A view of `count` bytes in the memory of a device.
struct Flags {
  const std::uint8_t* values = nullptr;
  int count = 0;
};

/// The side that reads the flags of Device::capture_while().
enum class RepeatedBy { device, host };

/// A point in the queue that the host can wait for.
class Event {
 public:
  virtual ~Event() = default;
};

/// An ordered queue. Calls enqueue work and return unless they are documented to wait. All throw MachineError
/// (CudaError) where the machine fails, which may be due to work enqueued earlier.
class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual DeviceKind kind() const = 0;
  /// A name for messages and manifests, e.g. "NVIDIA H200".
  virtual std::string description() const = 0;
  virtual Stream stream() const = 0;
  /// Estimate of the bytes that can be allocated now.
  virtual std::size_t free_bytes() const = 0;

  /// Allocates zeroed memory for enqueued work. Waits.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Allocates zeroed host memory that copies can access asynchronously. Waits.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void* memory) noexcept = 0;

  /// Copies between host memory (from allocate_host) and device memory in either direction, in queue order.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Records what `enqueue` enqueues on stream(); the work does not run yet.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) = 0;
  /// Records what `body` enqueues on stream(). A launch runs the recorded work once, and again as long as one
  /// of `flags` is not 0 after it. If the device cannot read the flags itself, the host does, and launch()
  /// waits.
  virtual std::unique_ptr<Graph> capture_while(const std::function<void()>& body, Flags flags, RepeatedBy by);
  virtual void launch(Graph& graph) = 0;
  /// Calls a function of the host in queue order, also as a part of captured work. `function` must outlive
  /// that work and must not use this device. An exception of `function` is thrown by the next call that
  /// waits, and functions enqueued after it are skipped.
  virtual void call(const std::function<void()>& function) { function(); }

  virtual std::unique_ptr<Event> make_event() = 0;
  virtual void record(Event& event) = 0;
  /// Waits until everything that was enqueued before the event was recorded has run.
  virtual void wait(Event& event) = 0;
  /// Waits for all enqueued work.
  virtual void synchronize() = 0;
};

/// The default for a device whose captured work runs on the host, in host memory.
inline std::unique_ptr<Graph> Device::capture_while(const std::function<void()>& body, Flags flags,
                                                    RepeatedBy) {
  return capture([body, flags] {
    do body();
    while (
        std::any_of(flags.values, flags.values + flags.count, [](std::uint8_t flag) { return flag != 0; }));
  });
}

/// Owns device memory for `size` values of T; data() is a pointer for kernels.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(Device& device, std::size_t size)
      : device_(&device),
        size_(size),
        data_(size ? static_cast<T*>(device.allocate(size * sizeof(T))) : nullptr) {}
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceArray() {
    if (data_) device_->release(data_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  /// Copies `values` from host memory and waits; `values` need not come from allocate_host.
  void upload(const std::vector<T>& values) {
    if (values.empty()) return;
    device_->copy(data_, values.data(), values.size() * sizeof(T));
    device_->synchronize();
  }
  /// Copies all values to the host, after waiting for the queue.
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_) {
      device_->copy(values.data(), data_, bytes());
      device_->synchronize();
    }
    return values;
  }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }
  Device* device_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

/// Makes a device that runs everything at once, in the calling thread.
std::unique_ptr<Device> make_host_device();

/// Makes a device for GPU `index`. Throws InputError if this build has no CUDA or the machine has no such
/// GPU.
std::unique_ptr<Device> make_cuda_device(int index = 0);

struct CudaDeviceInfo {
  int index;
  std::string name;
  int compute_major, compute_minor;
  int num_multiprocessors;
  std::size_t memory_bytes;
};

/// Whether this build has CUDA.
bool built_with_cuda();
/// The GPUs of this machine; empty if the build has no CUDA or the driver finds none.
std::vector<CudaDeviceInfo> list_cuda_devices();

}  // namespace emomc
