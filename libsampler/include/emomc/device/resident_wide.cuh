// The turns of resident_turns.cuh on more rows than a cluster can hold: the chain has as many blocks as fit
// on the GPU. Each block proposes all candidates of the turn, one per team, and evaluates them on its own
// rows. As many rows as possible are in shared memory; the sums are exchanged through device memory.
#ifndef EMOMC_DEVICE_RESIDENT_WIDE_CUH
#define EMOMC_DEVICE_RESIDENT_WIDE_CUH

#include "emomc/device/resident_turns.cuh"
#include "emomc/device/wide_evaluation.cuh"

namespace emomc::device {

template <class Config>
class ResidentWideChain : ResidentTurns<Config> {
  using Base = ResidentTurns<Config>;
  using Base::ahead_of, Base::line_of, Base::is_evaluated, Base::draw, Base::settle;
  using Base::block_, Base::view_, Base::lines_, Base::kLines;
  using typename Base::Block, typename Base::Place, typename Base::Proposal, typename Base::Turn;
  // Proposals with moves by a fit write to the current point (ProposalView::kept); only one team may do so.
  static_assert(!Proposal::Phases::moves_by_fit || kLines == 1);

 public:
  __device__ ResidentWideChain(Block& block, ResidentLines& lines) : Base(block, lines), evaluation_(block) {}

  __device__ void run() {
    block_.load();
    if (threadIdx.x == 0) {
      lines_.beta = view_.beta[block_.chain];
      lines_.all_evaluated = true;
      for (int b = 0; b < view_.num_blocks; ++b)
        if (!is_evaluated(b)) lines_.all_evaluated = false;
    }
    __syncthreads();
    if constexpr (Config::neighbours)
      if (block_.in_team(0)) this->prepare_current();
    const i64 end = block_.work.num_steps * view_.num_blocks;
    Place first{0, block_.scalars.step, 0};  // first place of this turn
    i64 drawn = 0;                           // number of places whose random numbers have been drawn
    draw_up_to(2 * kLines, first, drawn, end);
    __syncthreads();

    Turn turn{};
    u32 exchange = 0;  // counts exchanges; turns without a likelihood send nothing and do not wait
#pragma unroll 1
    while (first.number < end) {
      const int most = end - first.number < kLines ? static_cast<int>(end - first.number) : kLines;
      const int ahead = (own_line() - line_of(first, 0)) & (kLines - 1);
      const bool is_proposed = proposes() && ahead < most;
      const Place own = ahead_of(first, ahead);
      if (is_proposed) begin(own);
      if (block_.in_team(kKeeper)) settle(turn);
      draw_up_to(drawn + kDrawnFirst, first, drawn, end);
      __syncthreads();
      const unsigned evaluated = evaluated_lines(first, most);
      if (evaluated != 0) evaluation_.evaluate(evaluated, ++exchange, sets_);
      // The next calls overlap with the transfer of the other blocks' sums.
      if (is_proposed) finish(own);
      draw_up_to(first.number + 2 * kLines, first, drawn, end);
      if (evaluated != 0) {
        const bool by_all = Config::neighbours || !evaluation_.is_collected_by_one_team();
        if (by_all || block_.in_team(kKeeper))
          evaluation_.collect(evaluated, exchange, by_all ? 0 : kKeeper * kTeamWarps);
      }
      __syncthreads();

      if (block_.warp < most)
        this->decide(first, block_.warp, 0, (evaluated >> line_of(first, block_.warp) & 1) != 0,
                     [&](int line, double common) { return evaluation_.total(line, common); });
      __syncthreads();
      turn = {first.block, most, false, block_.current};
      const unsigned accepted =
          __ballot_sync(0xffffffffu, block_.lane < most && lines_.decisions[block_.lane % kLines].accepted);
      if (accepted != 0) {
        turn.count = __ffs(static_cast<int>(accepted));
        turn.accepted = true;
        take_over(line_of(first, turn.count - 1));
      }
      first = ahead_of(first, turn.count);
    }
    if (block_.in_team(kKeeper)) settle(turn);
    block_.store_back();
  }

 private:
  static constexpr int kTeams = Config::threads / kTeamLanes, kKeeper = kTeams - 1;

  // Number of places whose random numbers are drawn at the same time as the proposals, which take less time
  // with `neighbours`; the teams that draw the rest are then not the only ones that collect sums.
  static constexpr int kDrawnFirst = Config::neighbours ? 1 : 2;

  // Number of teams in addition to those that propose, one per line; they draw the random numbers meanwhile.
  static constexpr int kAside = kTeams - kLines;
  static_assert(kAside > 0);

  __device__ int own_line() const { return block_.team_index() & (kLines - 1); }
  __device__ bool proposes() const { return block_.team_index() < kLines; }
  __device__ bool draws(int line) const { return block_.team_index() == kLines + line % kAside; }

  /// Returns the place in memory of a place's random numbers.
  __device__ static int numbers_of(const Place& place) {
    return static_cast<int>(place.number) & (2 * kLines - 1);
  }
  /// Draws the random numbers of the places from `drawn` to `to`, of the turn that begins at `first` and of
  /// the next turn.
  __device__ void draw_up_to(i64 to, const Place& first, i64& drawn, i64 end) const {
    const i64 most = first.number + 2 * kLines;
    const i64 last = to < most ? to : most;
#pragma unroll 1
    for (; drawn < last; ++drawn) {
      const Place place = ahead_of(first, static_cast<int>(drawn - first.number));
      if (place.number < end && draws(line_of(place, 0))) draw(place, numbers_of(place));
    }
  }

  /// Computes the part of a line's candidate that its likelihood needs; called by the line's team.
  __device__ void begin(const Place& place) const {
    const int numbers = numbers_of(place);
    const ResidentCandidate begun =
        this->begin_candidate(block_.current, set_of(own_line()), place.block, numbers, [] {});
    if (Block::leads_team())
      lines_.of[0][own_line()] = {begun.log_q, begun.log_prior, begun.log_jacobian,
                                  block_.scalars.common[set_of(own_line())],
                                  block_.scalars.log_uniform[numbers]};
  }
  /// Computes the rest of the candidate.
  __device__ void finish(const Place& place) const {
    if constexpr (Base::kInParts) {
      ResidentLine& line = lines_.of[0][own_line()];
      const int to = set_of(own_line());
      const PointDensities densities = this->finish_densities(block_.current, to, place.block, own_line());
      this->finish_common(block_.current, to, place.block);
      if (!Block::leads_team()) return;
      line.log_prior = densities.log_prior;
      line.log_jacobian = densities.log_jacobian;
      line.common = block_.scalars.common[to];
    }
  }

  /// Returns a bit for each line whose candidate needs a likelihood.
  __device__ unsigned evaluated_lines(const Place& first, int most) const {
    if (lines_.all_evaluated && most == kLines) return (1u << kLines) - 1;
    unsigned lines = 0;
#pragma unroll 1
    for (int ahead = 0; ahead < most; ++ahead)
      if (is_evaluated(ahead_of(first, ahead).block)) lines |= 1u << line_of(first, ahead);
    return lines;
  }

  /// Returns the set of a line's candidate.
  __device__ int set_of(int line) const { return static_cast<int>(sets_ >> (kWideSetBits * line) & 15); }
  /// Makes a line's candidate the current point; the set of the preceding point stays unchanged for one turn.
  __device__ void take_over(int line) {
    const int set = set_of(line);
    sets_ = (sets_ & ~(15u << (kWideSetBits * line))) | static_cast<unsigned>(before_)
                                                            << (kWideSetBits * line);
    before_ = block_.current;
    block_.current = set;
  }

  const WideEvaluation<Config> evaluation_;
  unsigned sets_ = 0x4321;   ///< sets of the lines' candidates, kWideSetBits bits each
  int before_ = kLines + 1;  ///< set of the previous current point
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_WIDE_CUH
