// Gathers by NCCL in the queues of GPUs. A thread of each rank watches for failures: work that waits in a
// queue for a rank that has failed ends only when NCCL's communicator is aborted.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "device_ranks.hpp"
#include "emomc/core/cuda_check.hpp"
#include "emomc/core/current_device.hpp"
#include "nccl.hpp"

namespace emomc {
namespace {

using Clock = std::chrono::steady_clock;

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess && status != ncclInProgress)
    throw MachineError(std::string(call) + " failed: " + nccl().error_string(status));
}

class NcclRanks final : public DeviceRanks {
 public:
  NcclRanks(Device& device, Communicator& ranks) : DeviceRanks(device, ranks) {
    use_device_of(device.stream());
    ncclUniqueId id{};
    if (ranks.rank() == 0) check(nccl().get_unique_id(&id), "ncclGetUniqueId");
    ranks.broadcast(&id, sizeof id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // lets a waiting rank check whether the others still run
    check(nccl().init_rank(&comm_, ranks.size(), id, ranks.rank(), &config), "ncclCommInitRankConfig");
    watcher_ = std::thread([this] { watch(); });
    try {
      connect();
    } catch (...) {
      end_watch();
      if (!is_aborted_) nccl().abort(comm_);
      throw;
    }
  }
  // The communicator is destroyed at the end: ncclCommDestroy() waits until the host's other processes do so
  // too.
  ~NcclRanks() override {
    end_watch();
    if (is_aborted_) return;
    if (ranks().has_failed())
      nccl().abort(comm_);
    else
      ranks().at_end([comm = comm_, gpu = gpu_of_stream(device().stream())] { end(comm, gpu); });
  }
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  std::string way() const override { return "NCCL"; }
  std::unique_ptr<Gather> make_gather(std::size_t) override;

  void enqueue(std::byte* all, std::span<const std::size_t> bytes) {
    const std::lock_guard lock(mutex_);
    if (is_aborted_) throw PeerError("another rank has failed");
    use_device_of(device().stream());
    const auto rank = static_cast<std::size_t>(ranks().rank());
    if (std::all_of(bytes.begin(), bytes.end(), [&](std::size_t b) { return b == bytes[0]; })) {
      check(nccl().all_gather(all + rank * bytes[0], all, bytes[0], ncclChar, comm_, device().stream()),
            "ncclAllGather");
    } else {
      check(nccl().group_start(), "ncclGroupStart");
      std::byte* part = all;
      for (std::size_t r = 0; r < bytes.size(); part += bytes[r++])
        if (bytes[r] > 0)
          check(
              nccl().broadcast(part, part, bytes[r], ncclChar, static_cast<int>(r), comm_, device().stream()),
              "ncclBroadcast");
      check(nccl().group_end(), "ncclGroupEnd");
    }
    settle();
  }

 private:
  // If another rank does not answer, the end of the process frees the remaining resources.
  static void end(ncclComm_t comm, int gpu) noexcept {
    try {
      EMOMC_CUDA_CHECK(cudaSetDevice(gpu));
      check(nccl().finalize(comm), "ncclCommFinalize");
      settle(comm, [] { return false; });
      nccl().destroy(comm);
    } catch (...) {
    }
  }

  // Waits until the communicator has completed its pending operations on the host.
  void settle() {
    settle(comm_, [this] { return ranks().has_failed(); });
  }
  template <class HasFailed>
  static void settle(ncclComm_t comm, const HasFailed& has_failed) {
    const auto began = Clock::now();
    for (ncclResult_t state = ncclInProgress;;) {
      check(nccl().async_error(comm, &state), "ncclCommGetAsyncError");
      check(state, "NCCL");
      if (state != ncclInProgress) return;
      if (has_failed()) throw PeerError("another rank has failed");
      constexpr std::chrono::seconds kPatience{60};
      if (Clock::now() - began > kPatience) throw MachineError("NCCL does not connect the GPUs");
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  // The first gather and the first broadcasts make connections, which captured work must not do.
  void connect() {
    const auto size = static_cast<std::size_t>(ranks().size());
    {
      const std::lock_guard lock(mutex_);
      settle();
    }
    DeviceArray<std::byte> bytes(device(), size + 1);
    std::vector<std::size_t> sizes(size, 1);
    enqueue(bytes.data(), sizes);
    sizes[0] = 2;
    enqueue(bytes.data(), sizes);
    device().synchronize();
  }

  void end_watch() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    watcher_.join();
  }

  void watch() {
    constexpr std::chrono::milliseconds kPause{50};
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kPause, [this] { return ends_; })) {
      ncclResult_t state = ncclSuccess;
      const ncclResult_t status = nccl().async_error(comm_, &state);
      const bool is_broken = status != ncclSuccess || (state != ncclSuccess && state != ncclInProgress);
      if (!is_broken && !ranks().has_failed()) continue;
      // The failure is stored before the abort, because the abort ends the work and wakes the waiting thread.
      if (auto* waiting = dynamic_cast<DeviceOfRank*>(&device()))
        waiting->fail(std::make_exception_ptr(PeerError(
            is_broken ? std::string("NCCL: ") + nccl().error_string(state) : "another rank has failed")));
      is_aborted_ = true;
      use_device_of(device().stream());
      nccl().abort(comm_);
      return;
    }
  }

  ncclComm_t comm_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false, is_aborted_ = false;
  std::thread watcher_;
};

class NcclGather final : public DeviceRanks::Gather {
 public:
  explicit NcclGather(NcclRanks& ranks) : ranks_(ranks) {}
  void enqueue(void* all, std::span<const std::size_t> bytes) override {
    ranks_.enqueue(static_cast<std::byte*>(all), bytes);
  }

 private:
  NcclRanks& ranks_;
};

std::unique_ptr<DeviceRanks::Gather> NcclRanks::make_gather(std::size_t) {
  return std::make_unique<NcclGather>(*this);
}

}  // namespace

std::string nccl_problem() { return nccl().problem; }

std::shared_ptr<DeviceRanks> connect_by_nccl(Device& device, Communicator& ranks) {
  return std::make_shared<NcclRanks>(device, ranks);
}

}  // namespace emomc
