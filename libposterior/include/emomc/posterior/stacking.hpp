// Stacks chains that are in different modes (emomc/sampler/stacking.hpp has the sources): finds the weights
// of chains with which their draws together best predict data that are left out.
//
// Stacking is the cheap method for chains that do not mix: it takes the draws as they are, and does not
// estimate the posterior's mass at each mode. Tempering samples the posterior (docs/tempering.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/posterior.hpp"
#include "emomc/sampler/stacking.hpp"

namespace emomc {

struct StackOptions {
  /// [num_chains] The cluster of each chain, numbered from 0 without gaps. The draws of a cluster share one
  /// weight. Empty: each chain is a cluster.
  std::vector<std::size_t> clusters = {};
  /// [num_rows] The group of each row, as in leave_one_out(); the rows of a group are left out together.
  /// Empty: each row is a group.
  std::vector<std::size_t> groups = {};
  std::size_t draws_per_chain = 500;  ///< maximum number of draws of each chain, evenly spaced
  double concentration = kStackingConcentration;
};

struct StackedCluster {
  std::vector<std::size_t> chains;
  double weight = 0;            ///< total weight of the cluster's chains
  double mean_log_density = 0;  ///< mean log posterior density, not normalised
  double elpd = 0, p = 0;       ///< leave-one-out estimates from the cluster's draws alone
  std::size_t num_bad = 0;      ///< number of groups of rows with a Pareto k above 0.7
  double worst_k = 0;
};

struct Stacking {
  std::vector<StackedCluster> clusters;
  /// [num_chains] each cluster's weight, divided equally among its chains; the sum is 1.
  std::vector<double> chain_weights;
  /// Leave-one-out estimate of the mixture, which is too high since the weights were chosen from the same
  /// rows.
  double elpd = 0;
  double elpd_of_equal_weights = 0;  ///< the same estimate with equal weights of the clusters
  double gap = 0;                    ///< StackingWeights::gap
  std::size_t num_groups = 0;        ///< number of groups of rows that were left out
  std::size_t num_draws = 0;         ///< number of draws used, over all chains
  /// Sentences for users, without the findings that follow from the draws alone.
  std::vector<std::string> warnings;
};

/// Computes stacking weights for the chains of `draws`, which are draws of `posterior`. Throws InputError if
/// there are no draws, and if clusters, groups or sizes do not fit, as leave_one_out() does.
Stacking stack(const Posterior& posterior, const Draws& draws, const StackOptions& options = {});

/// Computes stacking weights from the log likelihoods of the groups of rows, which are added one after the
/// other.
class StackingScores {
 public:
  /// `clusters` as in StackOptions. `draws` must outlive the object.
  StackingScores(const DrawSet& draws, std::vector<std::size_t> clusters, std::size_t draws_per_chain);
  /// The number of draws used. This many draws of points_of(), evenly spaced over all chains, contain the
  /// same number of draws of each chain, one chain after the other.
  std::size_t num_draws() const { return clusters_.size() * draws_of_chain_; }
  /// Adds a group of rows by its log likelihoods [num_draws()].
  void add(std::span<const double> log_likelihood);
  Stacking result(double concentration = kStackingConcentration) const;

 private:
  std::vector<std::size_t> clusters_;  ///< [num_chains]
  std::size_t draws_of_chain_, num_clusters_;
  std::vector<double> efficiency_;      ///< [num_clusters]
  std::vector<StackedCluster> scores_;  ///< without their weights
  std::vector<double> elpd_;            ///< groups x clusters
};

/// Mean, sd and quantiles of a quantity over the draws of weighted chains.
struct StackedRow {
  std::string name, label;
  double mean = 0, sd = 0, q5 = 0, q50 = 0, q95 = 0;
};
/// Summarises the quantities that match `patterns` (shell globs), or all quantities if `patterns` is empty.
/// `chain_weights` [num_chains] sum to 1. Throws InputError if no quantity matches, or if the number of
/// weights is not the number of chains.
std::vector<StackedRow> stacked_summary(const Inspection& run, std::span<const double> chain_weights,
                                        const std::vector<std::string>& patterns = {});

/// A sentence about what stacking weights do not mean.
const char* stacking_caveat();

}  // namespace emomc
