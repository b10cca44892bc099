// Stacking of chains that sit in different modes (emomc/sampler/stacking.hpp has the sources): the weights of
// chains with which their draws together predict best what is left out.
//
// It is the cheap answer where chains do not mix: it takes the draws as they are, and says nothing of the
// posterior's mass at each mode. Tempering samples the posterior (docs/tempering.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "emomc/posterior.hpp"
#include "emomc/sampler/stacking.hpp"

namespace emomc {

struct StackOptions {
  /// [num_chains] The cluster of each chain, from 0 without gaps, whose draws have one weight together.
  /// Empty: each chain is a cluster.
  std::vector<std::size_t> clusters = {};
  /// [num_rows] Rows that are left out together, as leave_one_out() has it. Empty: each row by itself.
  std::vector<std::size_t> groups = {};
  std::size_t draws_per_chain = 500;  ///< at most so many, at equal distances
  double concentration = kStackingConcentration;
};

struct StackedCluster {
  std::vector<std::size_t> chains;
  double weight = 0;            ///< of all of its chains together
  double mean_log_density = 0;  ///< of the posterior, not normalised
  double elpd = 0, p = 0;       ///< leave-one-out, of its draws alone
  std::size_t num_bad = 0;      ///< groups of rows with a Pareto k above 0.7
  double worst_k = 0;
};

struct Stacking {
  std::vector<StackedCluster> clusters;
  std::vector<double> chain_weights;  ///< [num_chains] those of clusters, in equal parts; their sum is 1
  double elpd = 0;  ///< leave-one-out, of the mixture: too high by what the choice of weights has gained
  double elpd_of_equal_weights = 0;   ///< of clusters
  double gap = 0;                     ///< StackingWeights::gap
  std::size_t num_groups = 0;         ///< of rows that were left out
  std::size_t num_draws = 0;          ///< that were used, of all chains
  std::vector<std::string> warnings;  ///< sentences; what follows from the draws alone is not here
};

/// Weighs the chains of `draws`, which `posterior` is that of. Throws InputError where there are no draws,
/// and where clusters, groups or sizes do not fit, as leave_one_out() does.
Stacking stack(const Posterior& posterior, const Draws& draws, const StackOptions& options = {});

/// The same from the log likelihoods of one group of rows after the other.
class StackingScores {
 public:
  /// `clusters` as StackOptions has them. `draws` must outlive the object.
  StackingScores(const DrawSet& draws, std::vector<std::size_t> clusters, std::size_t draws_per_chain);
  /// So many draws at equal distances over all chains, as points_of() has them, are equally many of each
  /// chain, one chain after the other.
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

/// Mean, sd and quantiles of a quantity over draws of chains with weights.
struct StackedRow {
  std::string name, label;
  double mean = 0, sd = 0, q5 = 0, q50 = 0, q95 = 0;
};
/// Of the quantities that match `patterns` (shell globs); of all, where there are none. `chain_weights`
/// [num_chains] sum to 1. Throws InputError where none matches, or the chains are not as many.
std::vector<StackedRow> stacked_summary(const Inspection& run, std::span<const double> chain_weights,
                                        const std::vector<std::string>& patterns = {});

/// A sentence about what these weights are not.
const char* stacking_caveat();

}  // namespace emomc
