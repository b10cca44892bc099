#include "emomc/core/rank_gather.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "device_ranks.hpp"

namespace emomc {
namespace {

// Gathers by host functions in the queue, which wait for the other ranks.
class HostGather final : public DeviceRanks::Gather {
 public:
  HostGather(Device& device, Communicator& ranks, std::size_t bytes) : device_(device), ranks_(ranks) {
    if (device.kind() == DeviceKind::cuda)
      host_ = static_cast<std::byte*>(device.allocate_host(std::max<std::size_t>(bytes, 1)));
  }
  ~HostGather() override {
    if (host_) device_.release_host(host_);
  }
  HostGather(const HostGather&) = delete;
  HostGather& operator=(const HostGather&) = delete;

  void enqueue(void* all, std::span<const std::size_t> bytes) override {
    auto* const array = static_cast<std::byte*>(all);
    if (all_ && all_ != (host_ ? host_ : array)) throw std::logic_error("RankGather: another array");
    all_ = host_ ? host_ : array;
    const auto rank = bytes.begin() + ranks_.rank();
    const std::size_t first = std::accumulate(bytes.begin(), rank, std::size_t{0}), end = first + *rank;
    const std::size_t total = std::accumulate(rank, bytes.end(), first);
    const std::vector<std::size_t> sizes(bytes.begin(), bytes.end());
    // The device stores a pointer to the function.
    const auto& gather =
        calls_.try_emplace(sizes, [this, sizes, first] { ranks_.all_gather(all_ + first, sizes, all_); })
            .first->second;
    if (!host_) {
      device_.call(gather);
      return;
    }
    if (end > first) device_.copy(host_ + first, array + first, end - first);
    device_.call(gather);
    if (first > 0) device_.copy(array, host_, first);
    if (end < total) device_.copy(array + end, host_ + end, total - end);
  }

 private:
  Device& device_;
  Communicator& ranks_;
  std::map<std::vector<std::size_t>, std::function<void()>> calls_;
  std::byte* host_ = nullptr;  ///< copy of the array in host memory, if the device has a memory of its own;
                               ///< the device's copies can access it
  std::byte* all_ = nullptr;   ///< the gathered array in host memory
};

class HostRanks final : public DeviceRanks {
 public:
  // The communicator is duplicated because a thread of the driver gathers while the calling thread may gather
  // other data.
  HostRanks(Device& device, Communicator& ranks) : DeviceRanks(device, ranks), in_queue_(ranks.duplicate()) {}
  std::string way() const override { return "memory of the host"; }
  std::unique_ptr<Gather> make_gather(std::size_t bytes) override {
    return std::make_unique<HostGather>(device(), *in_queue_, bytes);
  }

 private:
  std::unique_ptr<Communicator> in_queue_;
};

// Host, GPU and process of a rank.
struct RankPlace {
  std::array<char, 128> host{}, gpu{};  ///< gpu: empty without a GPU
  long process = 0;
  bool has_nccl = false;
};

void copy_to(std::array<char, 128>& to, const std::string& text) {
  std::memcpy(to.data(), text.data(), std::min(text.size(), to.size() - 1));
}

}  // namespace

std::shared_ptr<DeviceRanks> connect_devices(Device& device, Communicator& ranks) {
  RankPlace own;
  gethostname(own.host.data(), own.host.size() - 1);
  own.process = static_cast<long>(getpid());
  own.has_nccl = nccl_problem().empty();
  copy_to(own.gpu, name_among_gpus(device));
  const std::vector<std::size_t> one(static_cast<std::size_t>(ranks.size()), 1);
  const auto places = all_gather<RankPlace>(ranks, std::span<const RankPlace>(&own, 1), one);

  if (places.size() > 1)
    if (auto* waiting = dynamic_cast<DeviceOfRank*>(&device)) waiting->repeat_by_host();

  bool by_nccl = places.size() > 1, share_process = false, share_gpu = false;
  for (std::size_t a = 0; a < places.size(); ++a) {
    const bool has_gpu = places[a].gpu[0] != '\0';
    by_nccl = by_nccl && has_gpu && places[a].has_nccl && places[a].host == places[0].host;
    for (std::size_t b = 0; b < a; ++b) {
      if (!has_gpu || places[b].gpu[0] == '\0' || places[a].host != places[b].host) continue;
      share_process = share_process || places[a].process == places[b].process;
      share_gpu = share_gpu || places[a].gpu == places[b].gpu;
    }
  }
  if (by_nccl && !share_gpu) return connect_by_nccl(device, ranks);
  if (share_process)
    throw InputError(
        "GPUs of one process are to exchange results, and " +
        (share_gpu ? "two of its ranks have the same GPU; give each rank a GPU of its own"
                   : (nccl_problem().empty() ? "not all ranks have a GPU of this host" : nccl_problem()) +
                         "; install NCCL, or start a process for each GPU with mpirun"));
  return std::make_shared<HostRanks>(device, ranks);
}

RankGather::RankGather(std::shared_ptr<DeviceRanks> devices, std::vector<std::size_t> bytes, std::size_t most)
    : devices_(std::move(devices)), bytes_(std::move(bytes)), most_(most) {
  if (bytes_.size() != static_cast<std::size_t>(devices_->ranks().size()))
    throw std::invalid_argument("RankGather: a number of bytes for each rank");
  gather_ = devices_->make_gather(most * std::accumulate(bytes_.begin(), bytes_.end(), std::size_t{0}));
}

RankGather::~RankGather() = default;

void RankGather::enqueue(void* all, std::size_t count) {
  if (count > most_) throw std::logic_error("RankGather: more than there is room for");
  scaled_.clear();
  for (const std::size_t bytes : bytes_) scaled_.push_back(count * bytes);
  gather_->enqueue(all, scaled_);
}

}  // namespace emomc
