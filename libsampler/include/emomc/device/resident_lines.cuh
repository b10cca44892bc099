// Prefetching in resident_chain.cuh: several candidates of one chain at once (Brockwell 2006; Angelino et al.
// 2014, "Accelerating MCMC via parallel predictive prefetching", of which this is the path of rejections).
//
// A place is a block of a step. The candidate of the place n places ahead is proposed from the current point,
// as it will be if all candidates before it are rejected, since its random numbers are counted by step and
// block. A cluster is cut into lines; line l has the chain's rows among its blocks and works on the places
// that are l modulo the number of lines. Once all likelihoods are there, every block decides
// on each candidate as if those before were rejected, and all take over the first one that is accepted. What
// comes after it is thrown away; its random numbers are kept for the next turn. So the chain is that of one
// step after the other, bit for bit.
#ifndef EMOMC_DEVICE_RESIDENT_LINES_CUH
#define EMOMC_DEVICE_RESIDENT_LINES_CUH

#include "emomc/device/resident_evaluation.cuh"
#include "emomc/device/resident_proposal.cuh"

namespace emomc::device {

template <class Config>
class ResidentLineChain : ResidentProposal<Config> {
  using Base = ResidentProposal<Config>;
  using Proposal = typename Config::Proposal;
  using Block = ResidentBlock<Config>;
  using Base::block_, Base::view_;
  static constexpr int kLines = Config::lines;

 public:
  __device__ ResidentLineChain(Block& block, ResidentLines& lines)
      : Base(block), evaluation_(block), lines_(lines) {}

  __device__ void run() {
    block_.load();
    if (threadIdx.x == 0) lines_.beta = view_.beta[block_.chain];
    __syncthreads();
    if constexpr (Config::neighbours)
      if (block_.in_team(kProposer)) this->prepare_current();
    const i64 end = block_.work.num_steps * view_.num_blocks;
    Place first{0, block_.scalars.step, 0};  // of this turn
    Place own = ahead_of(first, block_.line);
    if (block_.in_team(kKeeper) && own.number < end) draw(own, 0);
    sync_cluster();  // all blocks are there, to be written to

    Turn turn{};
    int numbers = 0;     // where the random numbers of `own` are
    bool drawn = false;  // those of the place after it
#pragma unroll 1
    for (int parity = 0; first.number < end; parity ^= 1) {
      const bool takes_part = own.number < end;
      if (takes_part && block_.in_team(kProposer)) propose(own.block, numbers, parity);
      if (block_.in_team(kKeeper)) {
        settle(turn);
        const Place after = ahead_of(own, kLines);
        if (!drawn && after.number < end) draw(after, 1 - numbers);
      }
      drawn = true;
      __syncthreads();
      if (takes_part && is_evaluated(own.block)) evaluation_.evaluate(kSeveral, parity);
      sync_cluster();

      const int most = end - first.number < kLines ? static_cast<int>(end - first.number) : kLines;
      if (block_.warp < most) decide(first, block_.warp, parity);
      __syncthreads();
      turn = {first.block, most, false, block_.current};
      const unsigned accepted =
          __ballot_sync(0xffffffffu, block_.lane < most && lines_.decisions[block_.lane % kLines].accepted);
      if (accepted != 0) {
        turn.count = __ffs(static_cast<int>(accepted));
        turn.accepted = true;
        take_over(line_of(first, turn.count - 1), parity);
      }
      first = ahead_of(first, turn.count);
      if (own.number < first.number) {
        own = ahead_of(own, kLines);
        numbers = 1 - numbers;
        drawn = false;
      }
    }
    if (block_.in_team(kKeeper)) settle(turn);
    sync_cluster();  // the others may still be reading from here
    block_.store_back();
  }

 private:
  static constexpr int kProposer = 0, kKeeper = 1;  ///< teams

  struct Place {
    i64 number;  ///< from the kernel's first block on
    i64 step;    ///< steps done before
    int block;
  };
  /// What was decided: `count` blocks from `block` on, the last one accepted or none.
  struct Turn {
    int block, count;
    bool accepted;
    int set_before;  ///< of the current point
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

  __device__ void draw(const Place& place, int numbers) const {
    this->draw_acceptance(place.block, place.step, numbers);
    this->draw_innovation(place.block, place.step, numbers);
  }

  /// The line's candidate, by the proposer; all blocks of the cluster are told.
  __device__ void propose(int block, int numbers, int parity) const {
    const int to = block_.candidate;
    const ResidentCandidate next = this->propose_into(block_.current, to, block, numbers);
    block_.team().sync();
    const int rank = static_cast<int>(threadIdx.x) % kTeamLanes;
    if (block_.rank_in_line != 0 || rank >= static_cast<int>(block_.size)) return;
    ResidentLine& line = lines_.of[parity][block_.line];
    const auto tell = [&](double& place, double x) { store_in_block(&place, static_cast<u32>(rank), x); };
    tell(line.log_q, next.log_q);
    tell(line.log_prior, next.log_prior);
    tell(line.log_jacobian, next.log_jacobian);
    tell(line.common, block_.scalars.common[to]);
    tell(line.log_uniform, block_.scalars.log_uniform[numbers]);
  }

  /// Whether the candidate `ahead` places after the first is accepted, if those before it are not; by a warp.
  __device__ void decide(const Place& first, int ahead, int parity) const {
    const ResidentScalars& s = block_.scalars;
    const int number = line_of(first, ahead);
    const ResidentLine& line = lines_.of[parity][number];
    const ProposalBlock& block = view_.blocks[(first.block + ahead) % view_.num_blocks];
    Prepared p{};
    p.is_evaluated = block.influence != Influence::nothing;
    const double log_likelihood =
        p.is_evaluated ? evaluation_.total_of_line(number, parity, line.common) : 0.0;
    if (block_.lane != 0) return;
    p.candidate = {0, line.log_prior, line.log_jacobian};
    p.current = {s.current_log_likelihood, s.current_log_prior, s.current_log_jacobian};
    p.beta = lines_.beta;
    p.log_uniform = line.log_uniform;
    p.takes_part = true;
    p.log_ratio = log_ratio_of<Proposal>(block, p.candidate, p.current, line.log_q);
    lines_.decisions[ahead] = device::decide<Proposal>(block_.local, block_.chain, p, log_likelihood);
  }

  /// The candidate of `line`, accepted, becomes the current point; by all threads. The set of the point
  /// before stays as it is for one turn.
  __device__ void take_over(int line, int parity) {
    const int set = block_.candidate;
    if (line != block_.line) {
      const u32 from =
          static_cast<u32>(line) * (block_.size / kLines) + static_cast<u32>(block_.rank_in_line);
      unsigned char* memory = block_.places.set(set);
      const int words = static_cast<int>(block_.places.set_bytes() / 16);
      for (int i = static_cast<int>(threadIdx.x); i < words; i += Config::threads)
        fetch_from_block(memory + 16 * i, from);
      if (threadIdx.x == 0) block_.scalars.common[set] = lines_.of[parity][line].common;
      __syncthreads();
    }
    // Where proposals write to the current point (ProposalView::kept): not while others still fetch it.
    if constexpr (has_fit_moves<Proposal>) sync_cluster();
    block_.candidate = block_.free[0];
    block_.free[0] = block_.current;
    block_.current = set;
  }

  /// Counts and records what was decided in a turn; by the keeper.
  __device__ void settle(const Turn& turn) const {
    if (turn.count == 0) return;
    ResidentScalars& s = block_.scalars;
    const auto t = block_.team();
    const Decision last = lines_.decisions[turn.count - 1];
    const double log_prior = s.current_log_prior, log_likelihood = s.current_log_likelihood;
    i64 step = s.step;
    t.sync();
    int block = turn.block;
#pragma unroll 1
    for (int i = 0; i < turn.count; ++i) {
      const bool accepted = turn.accepted && i == turn.count - 1;
      if (Block::leads_team()) {
        ++block_.places.num_proposed[block];
        if (accepted) ++block_.places.num_accepted[block];
        if (lines_.decisions[i].fault) ++s.num_faults;
      }
      if (++block < view_.num_blocks) continue;
      block = 0;
      ++step;
      Workspace w{};
      const int set = accepted ? block_.current : turn.set_before;
      w.current_u = block_.places.u(set);
      w.current_theta = block_.places.theta(set);
      record_draw(t, block_.local, block_.chain, step, s.plan, w, accepted ? last.candidate.prior : log_prior,
                  accepted ? last.candidate.likelihood : log_likelihood);
    }
    if (!Block::leads_team()) return;
    s.step = step;
    s.accepted = turn.accepted ? 1 : 0;
    if (!turn.accepted) return;
    s.current_log_likelihood = last.candidate.likelihood;
    s.current_log_prior = last.candidate.prior;
    s.current_log_jacobian = last.candidate.jacobian;
  }

  const ResidentEvaluation<Config> evaluation_;
  ResidentLines& lines_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_LINES_CUH
