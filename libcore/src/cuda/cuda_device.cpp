#include <cuda_runtime_api.h>

#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "../device_ranks.hpp"
#include "cuda_graphs.hpp"
#include "emomc/core/cuda_check.hpp"
#include "emomc/core/current_device.hpp"
#include "emomc/core/execution.hpp"

namespace emomc {
namespace {

struct CudaEvent final : Event {
  cudaEvent_t handle = nullptr;
  CudaEvent() { EMOMC_CUDA_CHECK(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming)); }
  ~CudaEvent() override {
    if (handle) cudaEventDestroy(handle);
  }
};

// The GPU of each stream that a device of this process has made.
class StreamsOfGpus {
 public:
  static void add(Stream stream, int gpu) {
    const std::unique_lock lock(mutex());
    gpus()[stream] = gpu;
  }
  static void remove(Stream stream) noexcept {
    const std::unique_lock lock(mutex());
    gpus().erase(stream);
  }
  static int find(Stream stream) noexcept {
    const std::shared_lock lock(mutex());
    const auto found = gpus().find(stream);
    return found == gpus().end() ? -1 : found->second;
  }

 private:
  static std::map<Stream, int>& gpus() {
    static std::map<Stream, int> gpus;
    return gpus;
  }
  static std::shared_mutex& mutex() {
    static std::shared_mutex mutex;
    return mutex;
  }
};

class CudaDevice final : public Device, public DeviceOfRank {
 public:
  explicit CudaDevice(int index) : index_(index) {
    use();
    EMOMC_CUDA_CHECK(cudaGetDeviceProperties(&properties_, index));
    EMOMC_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    StreamsOfGpus::add(stream_, index);
  }
  ~CudaDevice() override {
    cudaSetDevice(index_);
    StreamsOfGpus::remove(stream_);
    if (stream_) cudaStreamDestroy(stream_);
  }

  DeviceKind kind() const override { return DeviceKind::cuda; }
  std::string description() const override { return properties_.name; }
  Stream stream() const override { return stream_; }
  std::size_t free_bytes() const override {
    use();
    std::size_t free = 0, total = 0;
    EMOMC_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return free;
  }

  void* allocate(std::size_t bytes) override {
    use();
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw MachineError("out of GPU memory: " + std::to_string(bytes) + " bytes were asked for, " +
                         std::to_string(free_bytes()) + " are free on " + properties_.name +
                         "; use fewer chains or rows, or --backend cpu");
    }
    EMOMC_CUDA_CHECK(status);
    EMOMC_CUDA_CHECK(cudaMemsetAsync(memory, 0, bytes, stream_));
    EMOMC_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return memory;
  }
  void release(void* memory) noexcept override {
    cudaSetDevice(index_);
    cudaFree(memory);
  }
  void* allocate_host(std::size_t bytes) override {
    use();
    void* memory = nullptr;
    EMOMC_CUDA_CHECK(cudaMallocHost(&memory, bytes));
    return memory;
  }
  void release_host(void* memory) noexcept override {
    cudaSetDevice(index_);
    cudaFreeHost(memory);
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    use();
    EMOMC_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
  }

  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    use();
    return std::make_unique<CudaGraph>(RecordedWork(stream_, enqueue));
  }
  std::unique_ptr<Graph> capture_while(const std::function<void()>& body, Flags flags,
                                       RepeatedBy by) override {
    use();
    // The sanitizer does not follow kernels in the bodies of conditional nodes (scripts/test-gpu.sh); the
    // variable makes the host repeat work instead.
    if (by == RepeatedBy::device && !repeats_by_host_ && std::getenv("EMOMC_TEST_HOST_LOOPS") == nullptr)
      if (auto graph = repeated_by_device(stream_, body, flags)) return graph;
    return std::make_unique<RepeatedGraph>(*this, body, flags);
  }
  void launch(Graph& graph) override {
    use();
    static_cast<CudaGraph&>(graph).launch(stream_);
  }
  void call(const std::function<void()>& function) override {
    use();
    const std::lock_guard lock(calls_mutex_);
    Call& call = calls_.try_emplace(&function, Call{this, &function}).first->second;
    EMOMC_CUDA_CHECK(cudaLaunchHostFunc(stream_, run_call, &call));
  }

  std::unique_ptr<Event> make_event() override {
    use();
    return std::make_unique<CudaEvent>();
  }
  void record(Event& event) override {
    use();
    EMOMC_CUDA_CHECK(cudaEventRecord(static_cast<CudaEvent&>(event).handle, stream_));
  }
  void wait(Event& event) override {
    use();
    EMOMC_CUDA_CHECK(cudaEventSynchronize(static_cast<CudaEvent&>(event).handle));
    rethrow();
  }
  void synchronize() override {
    use();
    EMOMC_CUDA_CHECK(cudaStreamSynchronize(stream_));
    rethrow();
  }

  void repeat_by_host() noexcept override { repeats_by_host_ = true; }
  void fail(std::exception_ptr thrown) noexcept override {
    const std::lock_guard lock(calls_mutex_);
    if (!thrown_) thrown_ = std::move(thrown);
  }

 private:
  /// Makes this GPU the current device of the calling thread, because other code may have changed it.
  void use() const { EMOMC_CUDA_CHECK(cudaSetDevice(index_)); }

  struct Call {
    CudaDevice* device;
    const std::function<void()>* function;
  };
  static void run_call(void* data) {
    const Call& call = *static_cast<Call*>(data);
    {
      const std::lock_guard lock(call.device->calls_mutex_);
      if (call.device->thrown_) return;
    }
    try {
      (*call.function)();
    } catch (...) {
      call.device->fail(std::current_exception());
    }
  }
  void rethrow() {
    const std::lock_guard lock(calls_mutex_);
    if (thrown_) std::rethrow_exception(thrown_);
  }

  int index_;
  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  bool repeats_by_host_ = false;
  std::mutex calls_mutex_;
  std::map<const std::function<void()>*, Call> calls_;  ///< objects to which the driver has pointers
  std::exception_ptr thrown_;                           ///< exception that a function of call() has thrown
};

}  // namespace

int gpu_of_stream(Stream stream) noexcept { return StreamsOfGpus::find(stream); }

std::string name_among_gpus(Device& device) {
  if (device.kind() != DeviceKind::cuda) return {};
  constexpr int kLongest = 32;
  char name[kLongest] = {};
  int index = 0;
  use_device_of(device.stream());
  EMOMC_CUDA_CHECK(cudaGetDevice(&index));
  EMOMC_CUDA_CHECK(cudaDeviceGetPCIBusId(name, kLongest, index));
  return name;
}

std::vector<CudaDeviceInfo> list_cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<CudaDeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    EMOMC_CUDA_CHECK(cudaGetDeviceProperties(&p, i));
    devices.push_back({i, p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem});
  }
  return devices;
}

bool built_with_cuda() { return true; }

std::unique_ptr<Device> make_cuda_device(int index) {
  const auto devices = list_cuda_devices();
  if (index < 0 || static_cast<std::size_t>(index) >= devices.size())
    throw InputError("backend cuda: this machine has " + std::to_string(devices.size()) +
                     " GPUs that CUDA can use; choose --backend cpu, or auto, which finds what there is");
  return std::make_unique<CudaDevice>(index);
}

}  // namespace emomc
