// The turns of resident_turns.cuh in a cluster of blocks. The cluster is divided into lines; the blocks of a
// line share the chain's rows, and propose and evaluate one candidate. The point of the accepted candidate is
// fetched from its line.
#ifndef EMOMC_DEVICE_RESIDENT_LINES_CUH
#define EMOMC_DEVICE_RESIDENT_LINES_CUH

#include "emomc/device/resident_evaluation.cuh"
#include "emomc/device/resident_turns.cuh"

namespace emomc::device {

template <class Config>
class ResidentLineChain : ResidentTurns<Config> {
  using Base = ResidentTurns<Config>;
  using Base::ahead_of, Base::line_of, Base::is_evaluated, Base::draw, Base::settle;
  using Base::block_, Base::view_, Base::lines_, Base::kLines;
  using typename Base::Block, typename Base::Place, typename Base::Proposal, typename Base::Turn;
  using Evaluation = ResidentEvaluation<Config>;

 public:
  __device__ ResidentLineChain(Block& block, ResidentLines& lines) : Base(block, lines), evaluation_(block) {}

  __device__ void run() {
    block_.load();
    if (threadIdx.x == 0) {
      lines_.beta = view_.beta[block_.chain];
      lines_.next_node[0] = kEarlyNodes;
    }
    __syncthreads();
    if constexpr (Config::neighbours)
      if (block_.in_team(kProposer)) this->prepare_current();
    const i64 end = block_.work.num_steps * view_.num_blocks;
    Place first{0, block_.scalars.step, 0};  // first place of this turn
    Place own = ahead_of(first, block_.line);
    if (block_.in_team(kDrawer) && own.number < end) draw(own, 0);
    sync_cluster();  // all blocks have started, so that their memory can be written

    Turn turn{};
    int numbers = 0;     // place of the random numbers of `own`
    bool drawn = false;  // whether the numbers of the place after `own` have been drawn
#pragma unroll 1
    for (int parity = 0; first.number < end; parity ^= 1) {
      const bool takes_part = own.number < end;
      if (threadIdx.x == 0) lines_.next_node[1 - parity] = kEarlyNodes;
      ResidentCandidate begun{};
      if (block_.in_team(kProposer)) {
        if (takes_part) begun = begin(own.block, numbers);
      } else if (block_.in_team(kFinisher)) {
        if (takes_part && Base::kInParts) finish_densities(own.block, parity);
      } else if (block_.in_team(kKeeper)) {
        settle(turn);
      } else {
        const Place after = ahead_of(own, kLines);
        if (!drawn && after.number < end) draw(after, 1 - numbers);
      }
      drawn = true;
      if (takes_part) {
        wait_for_candidate();
        if (block_.in_team(kProposer)) finish(own.block, begun, numbers, parity);
        if (is_evaluated(own.block))
          evaluation_.evaluate_as_they_come(early_node(), &lines_.next_node[parity], parity);
      }
      sync_cluster();

      const int most = end - first.number < kLines ? static_cast<int>(end - first.number) : kLines;
      if (block_.warp < most)
        this->decide(
            first, block_.warp, parity, is_evaluated(ahead_of(first, block_.warp).block),
            [&](int line, double common) { return evaluation_.total_of_line(line, parity, common); });
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
    sync_cluster();  // other blocks may still be reading this block's memory
    block_.store_back();
  }

 private:
  // The teams of a block. While one team proposes, the others draw the next candidate's random numbers, count
  // and record decisions, and compute the candidate's prior. Each team evaluates as soon as it has finished
  // and the candidate is complete.
  static constexpr int kProposer = 0, kDrawer = 1, kFinisher = 2, kKeeper = 3;
  static_assert(Config::threads == 4 * kTeamLanes);
  // Number of nodes that are reserved for the teams that finish first, one per warp.
  static constexpr int kEarlyNodes = 2 * kTeamWarps;
  __device__ int early_node() const {
    const int in_team = block_.warp % kTeamWarps;
    return block_.in_team(kDrawer) ? in_team : block_.in_team(kKeeper) ? kTeamWarps + in_team : -1;
  }

  // Barriers of the proposer, which does not wait, with one other team each.
  static constexpr int kPointIsThere = 5, kCandidateIsThere = 5;  // the number of the other team is added to
                                                                  // the latter
  static constexpr int kTwoTeams = 2 * kTeamLanes;
  __device__ void wait_for_candidate() const {
    if (block_.in_team(kProposer)) {
      block_.team().sync();
      arrive_for_some<kCandidateIsThere + kDrawer, kTwoTeams>();
      arrive_for_some<kCandidateIsThere + kFinisher, kTwoTeams>();
      arrive_for_some<kCandidateIsThere + kKeeper, kTwoTeams>();
    } else if (block_.in_team(kDrawer)) {
      sync_some<kCandidateIsThere + kDrawer, kTwoTeams>();
    } else if (block_.in_team(kFinisher)) {
      sync_some<kCandidateIsThere + kFinisher, kTwoTeams>();
    } else {
      sync_some<kCandidateIsThere + kKeeper, kTwoTeams>();
    }
  }

  /// Computes the part of the line's candidate that its likelihood needs; called by the proposer.
  __device__ ResidentCandidate begin(int block, int numbers) const {
    return this->begin_candidate(block_.current, block_.candidate, block, numbers,
                                 [] { arrive_for_some<kPointIsThere, kTwoTeams>(); });
  }

  /// Sends numbers of the line's candidate to all blocks of the cluster; called by a team.
  template <class F>
  __device__ void tell(int parity, const F& numbers) const {
    block_.team().sync();
    const int rank = static_cast<int>(threadIdx.x) % kTeamLanes;
    if (block_.rank_in_line != 0 || rank >= static_cast<int>(block_.size)) return;
    numbers(lines_.of[parity][block_.line],
            [&](double& place, double x) { store_in_block(&place, static_cast<u32>(rank), x); });
  }
  /// Computes and sends the candidate's log densities; called by the finisher.
  __device__ void finish_densities(int block, int parity) const {
    sync_some<kPointIsThere, kTwoTeams>();
    const PointDensities densities =
        Base::finish_densities(block_.current, block_.candidate, block, kProposer);
    tell(parity, [&](ResidentLine& line, const auto& to) {
      to(line.log_prior, densities.log_prior);
      to(line.log_jacobian, densities.log_jacobian);
    });
  }
  /// Computes and sends the rest of the candidate; called by the proposer.
  __device__ void finish(int block, const ResidentCandidate& begun, int numbers, int parity) const {
    const int candidate = block_.candidate;
    if constexpr (Base::kInParts) this->finish_common(block_.current, candidate, block);
    tell(parity, [&](ResidentLine& line, const auto& to) {
      to(line.log_q, begun.log_q);
      if constexpr (!Base::kInParts) {
        to(line.log_prior, begun.log_prior);
        to(line.log_jacobian, begun.log_jacobian);
      }
      to(line.common, block_.scalars.common[candidate]);
      to(line.log_uniform, block_.scalars.log_uniform[numbers]);
    });
  }

  /// Makes the accepted candidate of `line` the current point; called by all threads. The set of the
  /// preceding point stays unchanged for one turn.
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
    // Proposals that write to the current point (ProposalView::kept) must not do so while other blocks still
    // fetch it.
    if constexpr (Proposal::Phases::moves_by_fit) sync_cluster();
    block_.candidate = block_.free[0];
    block_.free[0] = block_.current;
    block_.current = set;
  }

  const Evaluation evaluation_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_LINES_CUH
