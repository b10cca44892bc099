#include <mpi.h>

#include <chrono>
#include <climits>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "emomc/core/mpi.hpp"

namespace emomc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMachineFault = 3;  // the program's exit code
constexpr std::chrono::seconds kPatience{15};

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw PeerError(std::string("MPI: ") + what + " failed: " + text);
}

class MpiRanks final : public Communicator {
 public:
  explicit MpiRanks(bool (*give_up)()) : give_up_(give_up) {
    int provided = 0;
    // Host functions of a GPU's stream communicate from a thread of the driver.
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_MULTIPLE)
      throw MachineError("MPI does not start, or has no support for threads (MPI_THREAD_MULTIPLE)");
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank_of_host_);
    MPI_Comm_size(host, &size_of_host_);
    MPI_Comm_free(&host);
  }
  /// Makes a communicator from a duplicate of another one's MPI communicator.
  MpiRanks(MpiRanks& of, MPI_Comm duplicate)
      : give_up_(of.give_up_),
        of_(&of),
        world_(duplicate),
        rank_(of.rank_),
        size_(of.size_),
        rank_of_host_(of.rank_of_host_),
        size_of_host_(of.size_of_host_) {
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  }
  // Duplicates are not freed here but by the end of MPI: freeing is collective, and other ranks may have
  // failed.
  ~MpiRanks() override {
    if (of_) return;
    for (const auto& work : at_end_) work();
    MPI_Comm_free(&world_);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_of_host() const override { return rank_of_host_; }
  int size_of_host() const override { return size_of_host_; }
  std::string kind() const override { return "MPI"; }

  void all_gather(const void* mine, std::span<const std::size_t> bytes, void* all) override {
    // MPI's counts are of type int, so larger amounts are sent in turns, one rank's data after another's.
    std::size_t most = 0;
    for (const std::size_t count : bytes) most = std::max(most, count);
    const std::size_t at_once = static_cast<std::size_t>(INT_MAX) / static_cast<std::size_t>(size_);
    if (most > at_once) {
      gather_in_turn(mine, bytes, all);
      return;
    }
    std::vector<int> counts, places;
    int place = 0;
    for (const std::size_t count : bytes) {
      counts.push_back(static_cast<int>(count));
      places.push_back(place);
      place += static_cast<int>(count);
    }
    const auto self = static_cast<std::size_t>(rank_);
    const bool in_place = mine == static_cast<std::byte*>(all) + places[self];
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgatherv(in_place ? MPI_IN_PLACE : mine, counts[self], MPI_BYTE, all, counts.data(),
                          places.data(), MPI_BYTE, world_, &request),
          "a gather");
    wait(request);
  }
  void broadcast(void* data, std::size_t bytes) override { broadcast_from(0, data, bytes); }
  std::unique_ptr<Communicator> duplicate() override {
    MPI_Comm duplicate = MPI_COMM_NULL;
    check(MPI_Comm_dup(world_, &duplicate), "MPI_Comm_dup");
    return std::make_unique<MpiRanks>(*this, duplicate);
  }
  void fail(int code) noexcept override { MPI_Abort(world_, code); }
  void at_end(std::function<void()> work) override {
    if (of_)
      of_->at_end(std::move(work));
    else
      at_end_.push_back(std::move(work));
  }

 private:
  void gather_in_turn(const void* mine, std::span<const std::size_t> bytes, void* all) {
    auto* to = static_cast<std::byte*>(all);
    for (int r = 0; r < size_; ++r) {
      const std::size_t count = bytes[static_cast<std::size_t>(r)];
      if (r == rank_ && mine != to) std::copy_n(static_cast<const std::byte*>(mine), count, to);
      broadcast_from(r, to, count);
      to += count;
    }
  }
  void broadcast_from(int root, void* data, std::size_t bytes) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 30;
    for (std::size_t sent = 0; sent < bytes; sent += kAtOnce) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Ibcast(static_cast<std::byte*>(data) + sent,
                       static_cast<int>(std::min(kAtOnce, bytes - sent)), MPI_BYTE, root, world_, &request),
            "a broadcast");
      wait(request);
    }
  }

  // MPI_Wait would keep a processor busy, and would wait for ever if another process is gone.
  void wait(MPI_Request& request) {
    constexpr auto kBusy = std::chrono::microseconds(50);
    constexpr std::chrono::microseconds kLongestPause{500};
    const auto began = Clock::now();
    auto asked_to_end = Clock::time_point::max();
    std::chrono::microseconds pause{0};
    for (int done = 0;;) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "waiting for the other ranks");
      if (done) return;
      if (Clock::now() - began < kBusy) {
        std::this_thread::yield();
        continue;
      }
      pause = std::min(kLongestPause, pause + std::chrono::microseconds(10));
      std::this_thread::sleep_for(pause);
      if (!give_up_ || !give_up_()) continue;
      asked_to_end = std::min(asked_to_end, Clock::now());
      if (Clock::now() - asked_to_end > kPatience) std::_Exit(kMachineFault);
    }
  }

  bool (*give_up_)();
  MpiRanks* of_ = nullptr;  ///< the communicator that this one duplicates, or null
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, rank_of_host_ = 0, size_of_host_ = 1;
  std::vector<std::function<void()>> at_end_;
};

}  // namespace

bool built_with_mpi() { return true; }

std::unique_ptr<Communicator> join_mpi(bool (*give_up)()) { return std::make_unique<MpiRanks>(give_up); }

}  // namespace emomc
