// The chains that this rank runs, among those of a run whose chains are spread over ranks.
#pragma once

#include <span>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/likelihood_engine.hpp"
#include "segment_runner.hpp"

namespace emomc {

/// Every rank knows the points and counts of all chains where the host needs them, and decides the same from
/// them: adaptation, exchanges and errors are functions of what was gathered. Each rank runs a contiguous
/// range of chains. Where chains move by the state of others (`all_evolve`), each rank runs the moves of all
/// chains and evaluates the likelihood of its own range, which is gathered after each evaluation. Where the
/// engine divides rows among the ranks (`have_rows`), each rank runs all chains and nothing is gathered here.
class ChainShare {
 public:
  /// Throws InputError where there are fewer chains than ranks.
  ChainShare(Communicator& ranks, std::size_t num_chains, bool all_evolve, bool have_rows);

  Communicator& ranks() const { return ranks_; }
  /// Whether log likelihoods are gathered after each evaluation.
  bool gathers_likelihoods() const { return runs_all() && range_.size() < num_chains_; }
  /// The range whose likelihood this rank evaluates.
  const RankRange& evaluated() const { return range_; }
  /// The plans of the chains that this rank runs.
  std::vector<ChainPlan> mine(const std::vector<ChainPlan>& all) const;

  /// The part of `all`, which has `per_chain` values for each chain, of the chains that this rank runs.
  template <class T>
  std::vector<T> mine(const std::vector<T>& all, std::size_t per_chain) const {
    const RankRange range = runs_all() ? RankRange{0, num_chains_} : range_;
    const std::span<const T> part =
        std::span<const T>(all).subspan(range.first * per_chain, range.size() * per_chain);
    return std::vector<T>(part.begin(), part.end());
  }
  /// The values of all chains; `mine` are those of the chains that this rank runs. Collective.
  template <class T>
  std::vector<T> all(std::vector<T> mine, std::size_t per_chain) const {
    if (runs_all()) return mine;
    return all_gather<T>(ranks_, mine, counts(per_chain));
  }
  /// Time of this rank in gathers of segments, waiting for slower ranks included.
  double seconds() const { return seconds_; }
  /// Numbers of a chain.
  struct Widths {
    std::size_t dim_u = 0, dim = 0, num_blocks = 0;
  };
  /// The result of all chains for that of the chains that this rank runs, valid until the next call.
  /// Collective.
  SegmentResult all(const SegmentResult& mine, Widths widths);

  /// [size()] Number of values of each rank, where a chain has `per_chain`.
  std::vector<std::size_t> counts(std::size_t per_chain) const;

 private:
  bool runs_all() const { return ranks_.size() == 1 || all_evolve_; }
  RankRange range_of(int rank) const { return range_of_rank(num_chains_, rank, ranks_.size()); }
  // rows x chains x width values, of own chains and of all.
  struct Field {
    const std::byte* mine;
    std::byte* all;
    std::size_t rows, chain_bytes;
  };
  // Adds a field, and lets `values` point to those of all chains.
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
