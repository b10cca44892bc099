// Exchanges of points between neighbouring rungs, and the ladder that warm-up learns from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emomc/sampler/tempering.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

/// Tempering::every, or what it stands for.
std::int64_t exchange_interval(const Tempering& tempering, const ProposalBlocks& blocks);

/// New powers for a ladder, of which neighbours k and k + 1 reject exchanges with the mean probability
/// rejection[k]: at equal stretches of the sum of rejections (Syed, Bouchard-Cote, Deligiannidis and Doucet
/// 2022, "Non-reversible parallel tempering", section 5.1), interpolated linearly in beta^(1/5). The ends
/// stay.
std::vector<double> even_ladder(std::span<const double> betas, std::span<const double> rejection);

/// What exchanges depend on and count. Chain rung k of replica r is k num_replicas + r. Everything is a
/// function of the seed and of what it is called with; save() and restore() continue exactly.
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

  /// The exchanges after `step` steps, a multiple of every(): the chain whose point each chain takes. Even
  /// pairs of neighbouring rungs and odd ones take turns.
  std::vector<std::size_t> exchange(std::int64_t step, std::span<const double> log_likelihood);
  /// Learns the ladder, after `step` steps, where that is due in a warm-up of `warmup` steps after the step
  /// `begin`. Returns whether it has changed.
  bool learn(std::int64_t step, std::int64_t begin, std::int64_t warmup);
  /// Whether all rungs begin anew at their cold rung's point after `step` steps: once in a warm-up, where the
  /// ladder ends above 0. From no prior do new points come there, and points of hot rungs that sit in lesser
  /// modes stay and block the ladder.
  bool begins_anew(std::int64_t step, std::int64_t begin, std::int64_t warmup) const;
  void count_prior_draw(bool is_finite);
  /// Counts anew: warm-up or sampling begins.
  void begin_phase();

  std::vector<double> save() const;
  /// Throws InputError where the numbers cannot be those of this ladder.
  void restore(std::span<const double> saved);

  /// What the numbers of save() say.
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
  // All numbers are doubles, as checkpoints have them.
  std::vector<double> betas_;
  std::vector<double> tried_, rejected_;       ///< [rungs - 1] since the ladder changed: attempts, rejection
  std::vector<double> attempts_, acceptance_;  ///< [rungs - 1] since the phase began
  std::vector<double> way_;                    ///< [chains] Way of the point that is there
  double round_trips_ = 0, prior_draws_ = 0, finite_prior_draws_ = 0;  ///< since the phase began
};

}  // namespace emomc
