// The part of a run's chains that this rank runs, if chains are spread over ranks.
#pragma once

#include <span>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "segment_runner.hpp"

namespace emomc {

/// Every rank has the points and counts of all chains when the host needs them, and therefore makes the same
/// decisions: adaptation, exchanges and errors are functions of gathered data. Each rank runs a contiguous
/// range of chains. If chains move by the state of others (`all_evolve`), each rank runs the moves of all
/// chains and evaluates the likelihood of its own range, which is gathered after each evaluation. If the
/// engine divides rows among the ranks (`have_rows`), each rank runs all chains and nothing is gathered here.
class ChainShare {
 public:
  /// Throws InputError if there are fewer chains than ranks.
  ChainShare(Communicator& ranks, std::size_t num_chains, bool all_evolve, bool have_rows);

  Communicator& ranks() const { return ranks_; }
  /// Whether log likelihoods are gathered after each evaluation.
  bool gathers_likelihoods() const { return runs_all() && range_.size() < num_chains_; }
  /// The range whose likelihood this rank evaluates.
  const RankRange& evaluated() const { return range_; }
  /// The plans of the chains that this rank runs.
  std::vector<ChainPlan> mine(const std::vector<ChainPlan>& all) const;

  /// Returns the part of `all`, which has `per_chain` values for each chain, that belongs to the chains that
  /// this rank runs.
  template <class T>
  std::vector<T> mine(const std::vector<T>& all, std::size_t per_chain) const {
    const RankRange range = runs_all() ? RankRange{0, num_chains_} : range_;
    const std::span<const T> part =
        std::span<const T>(all).subspan(range.first * per_chain, range.size() * per_chain);
    return std::vector<T>(part.begin(), part.end());
  }
  /// Returns the values of all chains; `mine` are those of the chains that this rank runs. Collective.
  template <class T>
  std::vector<T> all(std::vector<T> mine, std::size_t per_chain) const {
    if (runs_all()) return mine;
    return all_gather<T>(ranks_, mine, counts(per_chain));
  }
  /// Returns the time in seconds that this rank has spent in gathers of segments, including the wait for
  /// slower ranks.
  double seconds() const { return seconds_; }
  /// Numbers of values per chain.
  struct Widths {
    std::size_t dim_u = 0, dim = 0, num_blocks = 0;
  };
  /// Returns the segment's result for all chains; `mine` is that of the chains that this rank runs. The
  /// result is valid until the next call. Collective.
  SegmentResult all(const SegmentResult& mine, Widths widths);

  /// Returns the number of values of each rank [size()] if a chain has `per_chain` values.
  std::vector<std::size_t> counts(std::size_t per_chain) const;

 private:
  bool runs_all() const { return ranks_.size() == 1 || all_evolve_; }
  RankRange range_of(int rank) const { return range_of_rank(num_chains_, rank, ranks_.size()); }
  // An array of rows x chains x width values, for the rank's own chains and for all chains.
  struct Field {
    const std::byte* mine;
    std::byte* all;
    std::size_t rows, chain_bytes;
  };
  // Adds a field, and sets `values` to the array for all chains.
  template <class T>
  void add(const T*& values, std::size_t rows, std::size_t width, std::vector<T>& to);

  Communicator& ranks_;
  std::size_t num_chains_;
  bool all_evolve_;
  RankRange range_;
  std::vector<double> u_, theta_, log_prior_, log_likelihood_;
  std::vector<std::uint64_t> accepted_, proposed_, faults_;
  std::vector<device::DrawStatistics> statistics_;
  std::vector<device::TrajectoryTotals> totals_;
  std::vector<Field> fields_;
  double seconds_ = 0;
  std::vector<std::byte> gathered_;
};

}  // namespace emomc
