// Where work runs: an ordered queue of copies and captured work over memory of its own. The host runs
// it at once, CUDA in a stream; tests use a fake one that runs later, on another thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct CUstream_st;

namespace emomc {

/// A CUDA stream, or nullptr for the host.
using Stream = CUstream_st*;

enum class DeviceKind { host, cuda };

/// Work captured once and launched many times.
class Graph {
 public:
  virtual ~Graph() = default;
};

/// A point in the queue that can be waited for.
class Event {
 public:
  virtual ~Event() = default;
};

/// An ordered queue. Calls enqueue and return, unless they say that they wait. All throw MachineError
/// (CudaError) when the machine fails, also for work enqueued earlier.
class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual DeviceKind kind() const = 0;
  /// For people and manifests, e.g. "NVIDIA H200".
  virtual std::string description() const = 0;
  virtual Stream stream() const = 0;
  virtual std::size_t free_bytes() const = 0;

  /// Memory that the enqueued work can use, zeroed. Waits.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Host memory that copies can reach asynchronously. Waits.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void* memory) noexcept = 0;

  /// Copies between host (from allocate_host) and device memory, in queue order, either way.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Runs `enqueue` to record what it enqueues on stream(); nothing runs yet.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) = 0;
  virtual void launch(Graph& graph) = 0;

  virtual std::unique_ptr<Event> make_event() = 0;
  virtual void record(Event& event) = 0;
  /// Waits until everything enqueued before the event was recorded has run.
  virtual void wait(Event& event) = 0;
  /// Waits for everything.
  virtual void synchronize() = 0;
};

/// Device memory for `size` values of T; a borrowed pointer for kernels, owned here.
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

  /// Copies from host memory. Waits, so `values` may be any memory.
  void upload(const std::vector<T>& values) {
    if (values.empty()) return;
    device_->copy(data_, values.data(), values.size() * sizeof(T));
    device_->synchronize();
  }
  /// All values, after waiting for the queue.
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

/// Runs everything at once, in the calling thread.
std::unique_ptr<Device> make_host_device();

/// A GPU; throws InputError where this build has no CUDA or the machine no GPU `index`.
std::unique_ptr<Device> make_cuda_device(int index = 0);

struct CudaDeviceInfo {
  int index;
  std::string name;
  int compute_major, compute_minor;
  int num_multiprocessors;
  std::size_t memory_bytes;
};

/// Whether this build can use CUDA at all.
bool built_with_cuda();
/// The GPUs here; empty where the build has no CUDA or the driver finds none.
std::vector<CudaDeviceInfo> list_cuda_devices();

}  // namespace emomc
