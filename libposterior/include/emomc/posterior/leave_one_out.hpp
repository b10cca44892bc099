// Leave-one-out cross-validation: estimates from a posterior's draws how well the posterior predicts new
// rows.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "emomc/posterior.hpp"

namespace emomc {

/// At most `most` draws of a run, evenly spaced over all chains: num_points x num_parameters, row-major, as
/// Posterior::row_log_likelihoods requires.
std::vector<double> points_of(const Draws& draws, std::size_t most);

/// Calls use(log likelihoods [number of draws]) for each row, or each group of rows, in turn. The log
/// likelihoods are at the draws of points_of(draws, most_draws). `groups` [num_rows] numbers the groups from
/// 0 without gaps; empty: each row is a group. `posterior` is the posterior of `draws`. Throws InputError if
/// there are no draws, if the parameters or the sizes do not fit, or if the log likelihoods would take more
/// than 2 GB.
void for_each_group(const Posterior& posterior, const Draws& draws, std::span<const std::size_t> groups,
                    std::size_t most_draws, const std::function<void(std::span<const double>)>& use);

/// Leave-one-out by Pareto smoothed importance sampling (cross_validation.hpp has the sources).
struct LeaveOneOut {
  std::vector<double> elpd, p, pareto_k;  ///< [num_groups]
  std::size_t num_draws = 0;              ///< number of draws used
  /// Bulk ESS of the log density divided by the number of draws used, at most 1.
  double relative_efficiency = 1;
};

/// Leaves out each row, or each group of rows, with at most `most_draws` draws. Arguments and exceptions are
/// as for for_each_group().
LeaveOneOut leave_one_out(const Posterior& posterior, const Draws& draws,
                          std::span<const std::size_t> groups = {}, std::size_t most_draws = 1000);

}  // namespace emomc
