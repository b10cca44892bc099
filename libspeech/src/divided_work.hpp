// Divides pieces of work among ranks, and among threads within a rank.
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

/// The results of a piece of work, in the form that ranks exchange. Values are taken in the order in which
/// they were put. Integers below 2^53 are kept exactly.
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

/// Divides stages of independent pieces. Each rank does a range of consecutive pieces on its threads, and
/// receives the results of all pieces. The result of a piece must not depend on the rank or thread that
/// computes it.
class DividedWork {
 public:
  /// `ranks` and `report` must outlive the object. `threads` is this rank's number of threads; 0: one per
  /// processor.
  DividedWork(Communicator& ranks, int threads, const SoftmaxReport& report)
      : ranks_(ranks), pool_(threads), report_(report) {}

  /// Collective. Calls `work` with the index of each of `count` pieces, each on one rank, and returns the
  /// results of all pieces on every rank. Reports this rank's pieces as a stage with the name `stage`, unless
  /// that is empty. Throws the exception of the report, and StoppedElsewhere on ranks whose own report has
  /// not thrown. An exception of `work` is rethrown at once on its rank, while the other ranks wait; the
  /// caller must end them.
  std::vector<Numbers> run(const std::string& stage, std::size_t count,
                           const std::function<Numbers(std::size_t)>& work);
  /// Pieces that take long call this now and then, from any thread. Reports at most twice a second, and
  /// throws the exception of the report.
  void still_working();

 private:
  using Clock = std::chrono::steady_clock;
  void report(std::size_t more);  // `more`: number of further pieces that are done
  void gather(std::vector<Numbers>& pieces);

  Communicator& ranks_;
  ThreadPool pool_;
  const SoftmaxReport& report_;
  std::mutex mutex_;
  std::string stage_;
  std::size_t done_ = 0, own_ = 0;
  Clock::time_point reported_;
  std::exception_ptr stopped_;  // exception that the report has thrown
};

}  // namespace emomc
