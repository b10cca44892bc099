// How well a posterior predicts rows that it has not seen, from its draws: leave-one-out cross-validation.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "emomc/posterior.hpp"

namespace emomc {

/// At most `most` draws of a run, at equal distances over all chains: num_points x num_parameters, row-major,
/// as Posterior::row_log_likelihoods takes them.
std::vector<double> points_of(const Draws& draws, std::size_t most);

/// Calls use(log likelihoods [number of draws]) for each row, or each group of rows, in turn: at the draws
/// that points_of(draws, most_draws) has. `groups` [num_rows] numbers them from 0 without gaps; empty: a row
/// is a group. `posterior` is that of `draws`. Throws InputError where there are no draws, where the
/// parameters or the sizes do not fit, and where the log likelihoods would take more than 2 GB.
void for_each_group(const Posterior& posterior, const Draws& draws, std::span<const std::size_t> groups,
                    std::size_t most_draws, const std::function<void(std::span<const double>)>& use);

/// Leave-one-out by Pareto smoothed importance sampling (cross_validation.hpp has the sources).
struct LeaveOneOut {
  std::vector<double> elpd, p, pareto_k;  ///< [num_groups]
  std::size_t num_draws = 0;              ///< that were used
  /// Bulk ESS of the log density divided by the number of draws used, at most 1.
  double relative_efficiency = 1;
};

/// Leaves out each row, or each group of rows, by at most `most_draws` draws; arguments and errors are those
/// of for_each_group().
LeaveOneOut leave_one_out(const Posterior& posterior, const Draws& draws,
                          std::span<const std::size_t> groups = {}, std::size_t most_draws = 1000);

}  // namespace emomc
