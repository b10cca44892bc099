// Ranks that are threads of this process, and what each of them has.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "emomc/core/communicator.hpp"

namespace emomc {

/// Calls `work` with each rank at the same time: with rank 0 in this thread, with the others in threads of
/// their own, and waits for all. Where calls throw, the other ranks are told, and the exception of the first
/// rank that failed of itself is rethrown; the communicators are then of no more use.
void on_rank_threads(std::span<const std::unique_ptr<Communicator>> ranks,
                     const std::function<void(Communicator&)>& work);

/// An object of each of several ranks of this process, such as the engine of a GPU, which may wait for those
/// of the other ranks: all are made, used and ended at the same time, in a thread each.
template <class T>
class RankTeam {
 public:
  /// The object of one rank.
  using Maker = std::function<std::shared_ptr<T>(Communicator&)>;

  /// Throws what `make` throws, and std::invalid_argument for a size below 1.
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
  /// Of rank 0, which this thread works for.
  T& first() const { return *members_[0]; }
  /// Calls `work` as on_rank_threads() does, with each rank's object; after an exception this is of no more
  /// use.
  void together(const std::function<void(const std::shared_ptr<T>&, Communicator&)>& work) {
    on_rank_threads(ranks_, [&](Communicator& ranks) { work(of(ranks), ranks); });
  }

 private:
  std::shared_ptr<T>& of(const Communicator& ranks) {
    return members_[static_cast<std::size_t>(ranks.rank())];
  }

  std::vector<std::unique_ptr<Communicator>> ranks_;
  std::vector<std::shared_ptr<T>> members_;  // by rank
};

}  // namespace emomc
