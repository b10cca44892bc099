// Finds one partition of rows into the components of a mixture that represents all draws.
//
// The criterion is Binder's loss with equal costs (Binder 1978, "Bayesian cluster analysis"): the expected
// number of pairs of rows that are together in one of partition and truth, and apart in the other. It has the
// same minimum as the least-squares criterion of Dahl (2006, "Model-based clustering for expression data via
// a Dirichlet process mixture model"). Given a draw s, rows are independent, so that rows i and j are of one
// component with
// probability sum_k r_sik r_sjk, r_sik being the probability that row i is of component k. The loss of a
// partition with groups g of n_g rows is therefore
//   sum_g n_g^2 / 2 + mean over s of (sum_k N_sk^2 / 2 - sum_{g,k} T_sgk^2)
// less the terms of single rows, with T_sgk = sum of r_sik over the rows i of g and N_sk the same over all
// rows. No N x N matrix is needed, and the numbering of a draw's components has no influence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emomc/core/thread_pool.hpp"

namespace emomc {

/// Numbers of candidate partitions and of draws that are compared.
struct PartitionSearchSize {
  std::size_t candidates = 1, draws = 1;
};
/// Returns all draws and up to 200 candidates if the search takes a few seconds and 256 MB; otherwise fewer
/// of both. There are at most `num_draws` of each.
PartitionSearchSize partition_search_size(std::size_t num_rows, std::size_t num_components,
                                          std::size_t num_draws);

/// Compares candidate partitions in one pass over the rows, a block of rows at a time.
class PartitionSearch {
 public:
  PartitionSearch(std::size_t num_components, PartitionSearchSize size);

  /// Adds rows. probabilities [size.draws]: for each draw a pointer to [num_rows x num_components],
  /// row-major; groups [size.candidates][num_rows]: the group of each row in each candidate, below
  /// num_components. The result does not depend on the number of threads.
  void add(std::size_t num_rows, std::span<const double* const> probabilities,
           std::span<const std::uint16_t> groups, ThreadPool& threads);

  /// Returns for each candidate the expected share of pairs of rows that are together in one of candidate and
  /// truth and apart in the other; 0 if there are fewer than two rows.
  std::vector<double> losses() const;

 private:
  std::size_t num_components_, num_rows_ = 0;
  PartitionSearchSize size_;
  std::vector<double> tables_;              ///< draws x candidates x groups x components
  std::vector<double> squares_;             ///< [draws] sums of r_sik^2
  std::vector<std::uint64_t> group_sizes_;  ///< candidates x groups
};

/// Returns for each of K groups the component whose number the group receives: the assignment for which the
/// sum over groups of mass[group x K + component] is largest. `mass` [K x K] is the sum of the component's
/// probability over the group's rows.
std::vector<int> names_of_groups(std::span<const double> mass, std::size_t num_components);

}  // namespace emomc
