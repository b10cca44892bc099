// Prefetching in resident_chain.cuh: evaluates several candidates of one chain at once (Brockwell 2006;
// Angelino et al. 2014, "Accelerating MCMC via parallel predictive prefetching", of which this is the path of
// rejections).
//
// A place is a block of a step. The candidate of the place n places ahead is proposed from the current point,
// as if all candidates before it are rejected; this is possible because random numbers are counted by step
// and block. Line l works on the places that are l modulo the number of lines. After all likelihoods have
// been computed, every block of threads decides on each candidate as if those before were rejected, and takes
// over the first one that is accepted. The candidates after it are discarded; their random numbers are kept
// for the next turn. The chain thus equals that of consecutive steps, bit for bit.
#ifndef EMOMC_DEVICE_RESIDENT_TURNS_CUH
#define EMOMC_DEVICE_RESIDENT_TURNS_CUH

#include "emomc/device/resident_proposal.cuh"

namespace emomc::device {

/// The common part of the ways to evaluate the lines.
template <class Config>
class ResidentTurns : protected ResidentProposal<Config> {
 protected:
  using Base = ResidentProposal<Config>;
  using Proposal = typename Config::Proposal;
  using Block = ResidentBlock<Config>;
  using Base::block_, Base::view_;
  static constexpr int kLines = Config::lines;

  __device__ ResidentTurns(Block& block, ResidentLines& lines) : Base(block), lines_(lines) {}

  struct Place {
    i64 number;  ///< counted from the kernel's first block
    i64 step;    ///< number of steps done before
    int block;
  };
  /// Result of a turn: `count` blocks from `block` on have been decided; the last one or none is accepted.
  struct Turn {
    int block, count;
    bool accepted;
    int set_before;  ///< set of the current point before the turn
  };

  __device__ Place ahead_of(Place place, int count) const {
    place.number += count;
    place.block += count;
    while (place.block >= view_.num_blocks) {
      place.block -= view_.num_blocks;
      ++place.step;
    }
    return place;
  }
  __device__ static int line_of(const Place& first, int ahead) {
    return static_cast<int>(first.number + ahead) & (kLines - 1);
  }
  __device__ bool is_evaluated(int block) const {
    return view_.blocks[block].influence != Influence::nothing;
  }

  /// Draws the random numbers of a place; called by a team. The team's last warp draws the number of the
  /// acceptance while the first warps draw those of the proposal.
  __device__ void draw(const Place& place, int numbers) const {
    this->draw_acceptance(kTeamLanes - 32, place.block, place.step, numbers);
    this->draw_innovation(place.block, place.step, numbers);
  }

  /// Decides whether the candidate `ahead` places after the first is accepted, provided that those before it
  /// are not; called by a warp. `log_likelihood_of(line, common)` returns the log likelihood of a line's
  /// candidate to the warp and is called only if `is_evaluated`.
  template <class F>
  __device__ void decide(const Place& first, int ahead, int parity, bool is_evaluated,
                         const F& log_likelihood_of) const {
    const typename Config::Scalars& s = block_.scalars;
    const int number = line_of(first, ahead);
    const ResidentLine& line = lines_.of[parity][number];
    int block = first.block + ahead;
    while (block >= view_.num_blocks) block -= view_.num_blocks;
    Prepared p{};
    p.is_evaluated = is_evaluated;
    p.candidate = {0, line.log_prior, line.log_jacobian};
    p.current = s.current;
    p.beta = lines_.beta;
    p.log_uniform = line.log_uniform;
    p.takes_part = true;
    p.log_ratio = log_ratio_of<Proposal>(view_.blocks[block], p.candidate, p.current, line.log_q);
    // The likelihood comes last because the warp has to wait for it.
    const double log_likelihood = is_evaluated ? log_likelihood_of(number, line.common) : 0.0;
    if (block_.lane == 0)
      lines_.decisions[ahead] = device::decide<Proposal>(block_.local, block_.chain, p, log_likelihood);
  }

  /// Counts and records the decisions of a turn; called by one team.
  __device__ void settle(const Turn& turn) const {
    if (turn.count == 0) return;
    typename Config::Scalars& s = block_.scalars;
    const auto t = block_.team();
    const Decision last = lines_.decisions[turn.count - 1];
    const LogDensities before = s.current;
    i64 step = s.step;
    t.sync();
    int block = turn.block;
#pragma unroll 1
    for (int i = 0; i < turn.count; ++i) {
      const bool accepted = turn.accepted && i == turn.count - 1;
      if (Block::leads_team())
        count_decision({true, accepted, lines_.decisions[i].fault}, block_.places.num_proposed[block],
                       block_.places.num_accepted[block], s.num_faults);
      if (++block < view_.num_blocks) continue;
      block = 0;
      ++step;
      Workspace w{};
      const int set = accepted ? block_.current : turn.set_before;
      w.current_u = block_.places.u(set);
      w.current_theta = block_.places.theta(set);
      record_draw(t, block_.local, block_.chain, step, s.plan, w, accepted ? last.candidate : before);
    }
    if (!Block::leads_team()) return;
    s.step = step;
    s.accepted = turn.accepted ? 1 : 0;
    if (turn.accepted) s.current = last.candidate;
  }

  ResidentLines& lines_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_TURNS_CUH
