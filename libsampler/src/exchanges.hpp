// Exchanges of points between neighbouring rungs, and the ladder that warm-up learns from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emomc/sampler/tempering.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

/// Returns Tempering::every, or its default if it is 0.
std::int64_t exchange_interval(const Tempering& tempering, const ProposalBlocks& blocks);

/// Returns new powers for a ladder in which neighbours k and k + 1 reject exchanges with the mean probability
/// rejection[k]: powers at equal distances in the sum of rejections (Syed, Bouchard-Cote, Deligiannidis and
/// Doucet 2022, "Non-reversible parallel tempering", section 5.1), interpolated linearly in beta^(1/5). The
/// ends stay unchanged.
std::vector<double> even_ladder(std::span<const double> betas, std::span<const double> rejection);

/// Decides on exchanges, and counts them. Chain rung k of replica r has index k num_replicas + r. All results
/// are functions of the seed and of the arguments of the calls; after save() and restore() they continue
/// exactly.
class Exchanges {
 public:
  /// `every` > 0; `ids` [rungs x num_replicas].
  Exchanges(const Tempering& tempering, std::vector<std::uint64_t> ids, std::uint64_t seed,
            std::int64_t every);

  std::int64_t every() const { return every_; }
  std::size_t num_rungs() const { return betas_.size(); }
  std::size_t num_replicas() const { return ids_.size() / betas_.size(); }
  double beta_of(std::size_t chain) const { return betas_[chain / num_replicas()]; }
  /// Whether the last rung samples the prior.
  bool reaches_prior() const { return betas_.back() == 0; }

  /// Makes the exchanges after `step` steps, a multiple of every(), and returns for each chain the index of
  /// the chain whose point it takes. Even and odd pairs of neighbouring rungs alternate.
  std::vector<std::size_t> exchange(std::int64_t step, std::span<const double> log_likelihood);
  /// Learns the ladder after `step` steps if this is due in a warm-up of `warmup` steps that began after step
  /// `begin`. Returns whether the ladder has changed.
  bool learn(std::int64_t step, std::int64_t begin, std::int64_t warmup);
  /// Whether all rungs restart at their cold rung's point after `step` steps. This happens once in a warm-up
  /// if the ladder ends above 0: no prior then supplies new points, and points of hot rungs in minor modes
  /// would stay there and block the ladder.
  bool begins_anew(std::int64_t step, std::int64_t begin, std::int64_t warmup) const;
  void count_prior_draw(bool is_finite);
  /// Resets the counts, because warm-up or sampling begins.
  void begin_phase();

  std::vector<double> save() const;
  /// Restores the numbers of save(). Throws InputError if they cannot be those of this ladder.
  void restore(std::span<const double> saved);

  /// Returns the summary that the numbers of save() contain.
  static TemperingSummary summary_of(std::span<const double> saved);

 private:
  bool decide(std::int64_t step, std::size_t rung, std::size_t replica,
              std::span<const double> log_likelihood);
  void follow(std::size_t rung, std::size_t replica);
  bool is_due(double share, std::int64_t step, std::int64_t begin, std::int64_t warmup) const;

  bool adaptive_;
  std::vector<std::uint64_t> ids_;
  std::uint64_t seed_;
  std::int64_t every_;
  // All numbers are stored as doubles, like in checkpoints.
  std::vector<double> betas_;
  std::vector<double> tried_, rejected_;       ///< [rungs - 1] attempts and sum of rejection probabilities
                                               ///< since the ladder changed
  std::vector<double> attempts_, acceptance_;  ///< [rungs - 1] since the phase began
  std::vector<double> way_;                    ///< [chains] path of the point that the chain currently has
  double round_trips_ = 0, prior_draws_ = 0, finite_prior_draws_ = 0;  ///< since the phase began
};

}  // namespace emomc
