#include "divided_work.hpp"

#include <cstdint>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_range.hpp"

namespace emomc {

void Numbers::put(const Eigen::MatrixXd& matrix) {
  put(static_cast<double>(matrix.rows()));
  put(static_cast<double>(matrix.cols()));
  values_.insert(values_.end(), matrix.data(), matrix.data() + matrix.size());
}

void Numbers::take(Eigen::MatrixXd& matrix) {
  const auto rows = static_cast<Eigen::Index>(take()), columns = static_cast<Eigen::Index>(take());
  matrix.resize(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = take();
}

void DividedWork::report(std::size_t more) {
  const std::lock_guard lock(mutex_);
  done_ += more;
  if (stopped_) std::rethrow_exception(stopped_);
  reported_ = Clock::now();
  if (stage_.empty()) return;
  try {
    report_(stage_, done_, own_);
  } catch (...) {
    stopped_ = std::current_exception();
    throw;
  }
}

void DividedWork::still_working() {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ && Clock::now() - reported_ < std::chrono::milliseconds(500)) return;
  }
  report(0);
}

std::vector<Numbers> DividedWork::run(const std::string& stage, std::size_t count,
                                      const std::function<Numbers(std::size_t)>& work) {
  const RankRange own = range_of_rank(count, ranks_.rank(), ranks_.size());
  std::vector<Numbers> pieces(count);
  stage_ = stage;
  done_ = 0;
  own_ = own.size();
  try {
    report(0);
    pool_.for_each(own.size(), [&](std::size_t i, int) {
      pieces[own.first + i] = work(own.first + i);
      report(1);
    });
  } catch (...) {
    if (!stopped_) throw;
  }
  gather(pieces);
  return pieces;
}

// Gathers first the lengths of all pieces and whether a rank has stopped, then the numbers.
void DividedWork::gather(std::vector<Numbers>& pieces) {
  const auto range_of = [&](int rank) { return range_of_rank(pieces.size(), rank, ranks_.size()); };
  const RankRange own = range_of(ranks_.rank());
  std::vector<std::uint64_t> lengths{stopped_ ? 1U : 0U};
  std::vector<double> mine;
  for (std::size_t i = own.first; i < own.end; ++i) {
    lengths.push_back(pieces[i].values_.size());
    if (!stopped_) mine.insert(mine.end(), pieces[i].values_.begin(), pieces[i].values_.end());
  }
  std::vector<std::size_t> counts;
  for (int r = 0; r < ranks_.size(); ++r) counts.push_back(1 + range_of(r).size());
  const auto all_lengths = all_gather<std::uint64_t>(ranks_, lengths, counts);
  bool is_stopped = false;
  std::vector<std::size_t> sums;
  const std::uint64_t* next = all_lengths.data();
  for (const std::size_t count : counts) {
    is_stopped = is_stopped || next[0] != 0;
    sums.push_back(std::accumulate(next + 1, next + count, std::size_t{0}));
    next += count;
  }
  if (stopped_) std::rethrow_exception(stopped_);
  if (is_stopped) throw StoppedElsewhere();
  const std::vector<double> all = all_gather<double>(ranks_, mine, sums);
  const double* from = all.data();
  next = all_lengths.data();
  for (int r = 0; r < ranks_.size(); ++r) {
    ++next;
    for (std::size_t i = range_of(r).first; i < range_of(r).end; ++i, ++next) {
      if (r != ranks_.rank()) pieces[i].values_.assign(from, from + *next);
      from += *next;
    }
  }
}

}  // namespace emomc
