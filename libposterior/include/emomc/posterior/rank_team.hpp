// Runs several ranks as threads of this process, and holds an object for each of them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "emomc/core/communicator.hpp"

namespace emomc {

/// Calls `work` for all ranks at the same time, for rank 0 in this thread and for each other rank in a new
/// thread, and waits for all calls. If calls throw, the other ranks are notified, and the exception of the
/// first rank that failed by itself is rethrown; the communicators must not be used after that.
void on_rank_threads(std::span<const std::unique_ptr<Communicator>> ranks,
                     const std::function<void(Communicator&)>& work);

/// One object for each of several ranks of this process, such as the engine of a GPU. Objects may wait for
/// those of other ranks; therefore all objects are made, used and destroyed at the same time, each in its own
/// thread.
template <class T>
class RankTeam {
 public:
  /// The object of one rank.
  using Maker = std::function<std::shared_ptr<T>(Communicator&)>;

  /// Throws the exceptions of `make`, and std::invalid_argument for a size below 1.
  RankTeam(int size, const Maker& make)
      : ranks_(make_thread_ranks(size)), members_(static_cast<std::size_t>(size)) {
    on_rank_threads(ranks_, [&](Communicator& ranks) { of(ranks) = make(ranks); });
  }
  ~RankTeam() {
    on_rank_threads(ranks_, [this](Communicator& ranks) { of(ranks).reset(); });
  }
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;

  int size() const { return static_cast<int>(ranks_.size()); }
  /// The object of rank 0, whose work this thread does.
  T& first() const { return *members_[0]; }
  /// Calls `work` with each rank's object, as on_rank_threads() does. After an exception the RankTeam must
  /// not be used.
  void together(const std::function<void(const std::shared_ptr<T>&, Communicator&)>& work) {
    on_rank_threads(ranks_, [&](Communicator& ranks) { work(of(ranks), ranks); });
  }

 private:
  std::shared_ptr<T>& of(const Communicator& ranks) {
    return members_[static_cast<std::size_t>(ranks.rank())];
  }

  std::vector<std::unique_ptr<Communicator>> ranks_;
  std::vector<std::shared_ptr<T>> members_;  // indexed by rank
};

}  // namespace emomc
