#include "emomc/core/communicator.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace emomc {
namespace {

class SingleRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int rank_of_host() const override { return 0; }
  int size_of_host() const override { return 1; }
  std::string kind() const override { return ""; }
  void all_gather(const void* mine, std::span<const std::size_t> bytes, void* all) override {
    if (mine != all && bytes[0] > 0) std::memcpy(all, mine, bytes[0]);
  }
  void broadcast(void*, std::size_t) override {}
  std::unique_ptr<Communicator> duplicate() override { return std::make_unique<SingleRank>(); }
  void fail(int) noexcept override {}
};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// A barrier that a failure opens for ever. Each rank passes a pointer that the others may read.
class Meeting {
 public:
  explicit Meeting(int size) : size_(size), given_(static_cast<std::size_t>(size)) {}

  /// Waits until all ranks have called this; the `given` pointers of all ranks are then known.
  void come(int rank, const void* given) {
    std::unique_lock lock(mutex_);
    given_[static_cast<std::size_t>(rank)] = given;
    const std::uint64_t round = arrive();
    wait(lock, [&] { return round_ != round || failed_ >= 0; });
    if (round_ == round) throw PeerError("rank " + std::to_string(failed_) + " has failed");
  }
  /// Waits until all ranks have read the given data. Nothing fails between come() and leave(), and a failure
  /// elsewhere does not invalidate data that other ranks still read.
  void leave() {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = arrive();
    wait(lock, [&] { return round_ != round; });
  }
  const void* given(std::size_t rank) const { return given_[rank]; }
  void fail(int rank) {
    const std::lock_guard lock(mutex_);
    if (failed_ < 0) failed_ = rank;
    all_here_.notify_all();
    for (const auto& duplicate : duplicates_) duplicate->fail(rank);
  }
  std::shared_ptr<Meeting> make_duplicate() {
    const std::lock_guard lock(mutex_);
    return duplicates_.emplace_back(std::make_shared<Meeting>(size_));
  }
  bool has_failed() const {
    const std::lock_guard lock(mutex_);
    return failed_ >= 0;
  }
  int size() const { return size_; }

 private:
  // Waits until `is_over`, which reads atomic members only. In a warm-up with short evaluations ranks meet
  // every few microseconds, and a thread that sleeps takes longer than that to wake up; a rank that is later
  // than about 0.1 ms is waited for asleep.
  template <class F>
  void wait(std::unique_lock<std::mutex>& lock, F is_over) {
    constexpr int kSpins = 2000;
    lock.unlock();
    for (int spin = 0; spin < kSpins && !is_over(); ++spin) pause();
    lock.lock();
    all_here_.wait(lock, is_over);
  }
  // Returns the round that ends when all ranks have arrived.
  std::uint64_t arrive() {
    const std::uint64_t round = round_;
    if (++num_here_ == size_) {
      num_here_ = 0;
      ++round_;
      all_here_.notify_all();
    }
    return round;
  }

  mutable std::mutex mutex_;
  std::condition_variable all_here_;
  int size_, num_here_ = 0;
  std::atomic<int> failed_{-1};          // written under the mutex
  std::atomic<std::uint64_t> round_{0};  // written under the mutex
  std::vector<std::shared_ptr<Meeting>> duplicates_;
  std::vector<const void*> given_;  ///< written by one rank, read by the others after they have met
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return meeting_->size(); }
  int rank_of_host() const override { return rank(); }
  int size_of_host() const override { return size(); }
  std::string kind() const override { return "threads"; }
  void all_gather(const void* mine, std::span<const std::size_t> bytes, void* all) override {
    meeting_->come(rank_, mine);
    auto* to = static_cast<std::byte*>(all);
    for (std::size_t r = 0; r < bytes.size(); to += bytes[r++])
      if (meeting_->given(r) != to && bytes[r] > 0) std::memcpy(to, meeting_->given(r), bytes[r]);
    meeting_->leave();
  }
  void broadcast(void* data, std::size_t bytes) override {
    meeting_->come(rank_, data);
    if (rank_ != 0 && bytes > 0) std::memcpy(data, meeting_->given(0), bytes);
    meeting_->leave();
  }
  std::unique_ptr<Communicator> duplicate() override {
    std::shared_ptr<Meeting> made = rank_ == 0 ? meeting_->make_duplicate() : nullptr;
    meeting_->come(rank_, &made);
    if (rank_ != 0) made = *static_cast<const std::shared_ptr<Meeting>*>(meeting_->given(0));
    meeting_->leave();
    return std::make_unique<ThreadRank>(std::move(made), rank_);
  }
  void fail(int) noexcept override { meeting_->fail(rank_); }
  bool has_failed() const noexcept override { return meeting_->has_failed(); }

 private:
  std::shared_ptr<Meeting> meeting_;
  int rank_;
};

}  // namespace

Communicator& single_rank() {
  static SingleRank single;
  return single;
}

std::vector<std::unique_ptr<Communicator>> make_thread_ranks(int size) {
  if (size < 1) throw std::invalid_argument("make_thread_ranks: at least one rank");
  const auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(std::make_unique<ThreadRank>(meeting, r));
  return ranks;
}

}  // namespace emomc
