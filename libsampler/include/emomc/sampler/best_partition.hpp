// One partition of rows into the components of a mixture that stands for all draws.
//
// The criterion is Binder's loss with equal costs (Binder 1978, "Bayesian cluster analysis"), which chooses
// as the least squares of Dahl (2006, "Model-based clustering for expression data via a Dirichlet process
// mixture model"): the expected number of pairs of rows that are together in one of partition and truth, and
// apart in the other. Given a draw s, rows are independent, so that rows i and j are of one component with
// probability sum_k r_sik r_sjk, r_sik being the probability that row i is of component k. The loss of a
// partition with groups g of n_g rows is therefore
//   sum_g n_g^2 / 2 + mean over s of (sum_k N_sk^2 / 2 - sum_{g,k} T_sgk^2)
// less the terms of single rows, with T_sgk = sum of r_sik over the rows i of g and N_sk the same over all
// rows. No N x N matrix is needed, and it does not matter how a draw numbers its components.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/core/thread_pool.hpp"

namespace emomc {

/// How many candidates are compared, on how many draws.
struct PartitionSearchSize {
  std::size_t candidates = 1, draws = 1;
};
/// All draws and up to 200 candidates where that takes a few seconds and 256 MB; otherwise fewer of both, at
/// most `num_draws`.
PartitionSearchSize partition_search_size(std::size_t num_rows, std::size_t num_components,
                                          std::size_t num_draws);

/// Compares candidates while the rows pass by, a block at a time.
class PartitionSearch {
 public:
  PartitionSearch(std::size_t num_components, PartitionSearchSize size);

  /// Adds rows. probabilities [size.draws]: of each draw a pointer to [num_rows x num_components], row-major;
  /// groups [size.candidates][num_rows]: the group of each row in each candidate, below num_components. The
  /// result does not depend on the number of threads.
  void add(std::size_t num_rows, std::span<const double* const> probabilities,
           std::span<const std::uint16_t> groups, ThreadPool& threads);

  /// For each candidate the expected share of the pairs of rows that are together in one of candidate and
  /// truth and apart in the other; 0 with less than two rows.
  std::vector<double> losses() const;

 private:
  std::size_t num_components_, num_rows_ = 0;
  PartitionSearchSize size_;
  std::vector<double> tables_;              ///< draws x candidates x groups x components
  std::vector<double> squares_;             ///< [draws] sums of r_sik^2
  std::vector<std::uint64_t> group_sizes_;  ///< candidates x groups
};

/// The component after which each of K groups is named: the assignment for which the sum over groups of
/// mass[group x K + component] is largest. `mass` is the sum over a group's rows of the component's
/// probability.
std::vector<int> names_of_groups(std::span<const double> mass, std::size_t num_components);

}  // namespace emomc
