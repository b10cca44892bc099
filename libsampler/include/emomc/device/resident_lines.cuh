// The turns of resident_turns.cuh in a cluster of blocks: it is cut into lines, each of which has the chain's
// rows among its blocks and proposes and evaluates one candidate; the winner's point is fetched from there.
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
      lines_.next_node[0] = lines_.next_node[1] = Evaluation::num_early_nodes();
    }
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
      const bool takes_part = own.number < end, proposes = takes_part && block_.in_team(kProposer);
      ResidentCandidate begun{};
      if (proposes) begun = this->begin_candidate(block_.current, block_.candidate, own.block, numbers);
      if (block_.in_team(kKeeper)) {
        settle(turn);
        const Place after = ahead_of(own, kLines);
        if (!drawn && after.number < end) draw(after, 1 - numbers);
      }
      drawn = true;
      __syncthreads();
      if (threadIdx.x == 0) lines_.next_node[1 - parity] = Evaluation::num_early_nodes();
      if (proposes) finish(own.block, begun, numbers, parity);
      if (takes_part && is_evaluated(own.block))
        evaluation_.evaluate_as_they_come(&lines_.next_node[parity], parity);
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
    sync_cluster();  // the others may still be reading from here
    block_.store_back();
  }

 private:
  static constexpr int kProposer = 0, kKeeper = 1;  ///< teams

  /// The rest of the line's candidate, by the proposer; all blocks of the cluster are told.
  __device__ void finish(int block, const ResidentCandidate& begun, int numbers, int parity) const {
    const int to = block_.candidate;
    const ResidentCandidate next = this->finish_candidate(block_.current, to, block, begun);
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

  const Evaluation evaluation_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_LINES_CUH
