// Pieces of work that ranks divide among themselves, and threads within a rank.
#pragma once

#include <Eigen/Core>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/speech/softmax_evaluation.hpp"

namespace emomc {

/// The results of a piece of work, as ranks tell each other: what is put is taken in the same order. Integers
/// below 2^53 are kept exactly.
class Numbers {
 public:
  void put(double x) { values_.push_back(x); }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<double>(list.size()));
    for (const T& x : list) values_.push_back(static_cast<double>(x));
  }
  void put(const Eigen::MatrixXd& matrix);

  double take() { return values_.at(taken_++); }
  template <class T>
  void take(std::vector<T>& list) {
    list.resize(static_cast<std::size_t>(take()));
    for (T& x : list) x = static_cast<T>(take());
  }
  void take(Eigen::MatrixXd& matrix);

 private:
  friend class DividedWork;
  std::vector<double> values_;
  std::size_t taken_ = 0;
};

/// Divides stages of independent pieces: each rank does a run of neighbouring ones, on its threads, and is
/// told the results of all. What a piece gives must not depend on who computes it.
class DividedWork {
 public:
  /// `ranks` and `report` must outlive the object. `threads` are this rank's; 0: one per processor.
  DividedWork(Communicator& ranks, int threads, const SoftmaxReport& report)
      : ranks_(ranks), pool_(threads), report_(report) {}

  /// Collective. Calls `work` with the index of each of `count` pieces, on one rank, and returns the results
  /// of all pieces on every rank. Reports this rank's pieces as a stage of the name `stage`, unless that is
  /// empty. Throws what report throws, and StoppedElsewhere on the ranks whose own has not. An exception of
  /// `work` passes while the other ranks wait: the caller ends them.
  std::vector<Numbers> run(const std::string& stage, std::size_t count,
                           const std::function<Numbers(std::size_t)>& work);
  /// To be called now and then by pieces that take long, from any thread: reports at most twice a second, and
  /// throws what report throws.
  void still_working();

 private:
  using Clock = std::chrono::steady_clock;
  void report(std::size_t more);  // `more`: pieces that have been done
  void gather(std::vector<Numbers>& pieces);

  Communicator& ranks_;
  ThreadPool pool_;
  const SoftmaxReport& report_;
  std::mutex mutex_;
  std::string stage_;
  std::size_t done_ = 0, own_ = 0;
  Clock::time_point reported_;
  std::exception_ptr stopped_;  // what report has thrown
};

}  // namespace emomc
