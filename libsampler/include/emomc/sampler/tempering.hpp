// Parallel tempering: each chain has rungs, copies that sample prior times likelihood to a power beta;
// neighbouring rungs exchange their points (docs/decisions/tempering.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emomc/core/likelihood_engine.hpp"

namespace emomc {

struct SamplerState;

struct Tempering {
  int rungs = 1;  ///< number of rungs, at most kMostRungs; 1: no tempering
  /// [rungs] powers, decreasing from 1, the last one 0 or more. Empty: learnt in warm-up, from 1 to 0.
  std::vector<double> betas = {};
  /// Steps between exchanges. 0 means 1 step, or, for proposals that take fewer than four evaluations per
  /// step, as many steps as take four evaluations.
  std::int64_t every = 0;
  bool is_on() const { return rungs > 1; }
  bool is_adaptive() const { return betas.empty(); }
  bool operator==(const Tempering&) const = default;
};

inline constexpr int kMostRungs = 1024;
/// The id of a chain's rung k is kRungStride k + the chain's own id.
inline constexpr std::uint64_t kRungStride = std::uint64_t{1} << 20;
/// Number of a chain's rung; 0 for a chain itself, whose rung is the cold one.
inline int rung_of(std::uint64_t chain_id) { return static_cast<int>(chain_id / kRungStride); }
/// Text for messages: "3", or "3 of rung 2".
std::string chain_text(std::uint64_t chain_id);

/// Throws InputError if the ladder is not valid; the message begins with `key`.
void check_tempering(const Tempering& tempering, const std::string& key = "sampler.tempering");

/// Returns the given powers, or those before they are learnt: (1 - k / (rungs - 1))^5 (Friel and Pettitt
/// 2008, "Marginal likelihood estimation via power posteriors", section 3).
std::vector<double> first_betas(const Tempering& tempering);

/// Returns the chains and their rungs, rung after rung, each rung a group; `plans` themselves without
/// tempering. Throws InputError if plans have groups, powers, or ids from kRungStride on.
std::vector<ChainPlan> tempered_plans(const std::vector<ChainPlan>& plans, const Tempering& tempering);

/// Results of the exchanges since warm-up or sampling began.
struct TemperingSummary {
  std::vector<double> betas;  ///< [rungs]; empty: the run has no tempering
  /// [rungs - 1] mean probability of an exchange between rungs k and k + 1; NaN before the first attempt.
  std::vector<double> swap_rates;
  std::uint64_t round_trips = 0;  ///< number of ways of points from the cold rung to the last one and back
  /// Number of independent draws from the prior for the rung of beta = 0, and number of those with a finite
  /// density.
  std::uint64_t prior_draws = 0, finite_prior_draws = 0;
};
TemperingSummary tempering_summary(const SamplerState& state);

}  // namespace emomc
