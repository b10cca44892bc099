// Computation of candidates in resident_chain.cuh, by a team of a block, into one of the block's sets.
#ifndef EMOMC_DEVICE_RESIDENT_PROPOSAL_CUH
#define EMOMC_DEVICE_RESIDENT_PROPOSAL_CUH

#include "emomc/device/candidate_parts.hpp"
#include "emomc/device/proposals.hpp"
#include "emomc/device/resident_block.cuh"

namespace emomc::device {

template <class Config>
class ResidentProposal {
 protected:
  using Proposal = typename Config::Proposal;
  using Real = typename Config::Real;
  using Block = ResidentBlock<Config>;
  using Team = typename Block::Team;

  __device__ explicit ResidentProposal(Block& block) : block_(block), view_(block.view) {}

  __device__ InnovationView innovation_view(int block) const {
    return {block_.places.adapted,
            adapted_of(view_, block_.chain) + view_.adapted_layout.num_small(),
            view_.adapted_layout,
            view_.blocks[block],
            block,
            view_.shape,
            view_.table.mixture,
            nullptr};
  }

  /// draw_acceptance: the team's member `by` draws the random number of the acceptance of block `block`,
  /// after `step` steps. draw_innovation: the team draws the numbers of the proposal. Both write to place
  /// `parity`.
  __device__ void draw_acceptance(int by, int block, i64 step, int parity) const {
    if (static_cast<int>(threadIdx.x) % kTeamLanes == by)
      block_.scalars.log_uniform[parity] = draw_log_uniform(view_, view_.chain_id[block_.chain], step, block);
  }
  __device__ void draw_innovation(int block, i64 step, int parity) const {
    double* innovation = block_.places.innovation(parity);
    InnovationView adapted = innovation_view(block);
    adapted.drawn = drawn_ahead<Proposal>(view_, block_.chain, step, adapted.block);
    innovate<Proposal>(block_.team(),
                       RandomSource{view_.seed, static_cast<u64>(step), view_.chain_id[block_.chain]},
                       adapted,
                       Innovation{innovation, innovation + view_.table.dim_unconstrained,
                                  innovation + view_.num_innovation - kExtraInnovation});
  }

  /// Returns the places of the sets' points and of the drawn numbers, as the functions of a step use them.
  __device__ Workspace workspace(int u, int parity) const {
    const ResidentPlaces& places = block_.places;
    Workspace w{};
    w.current_u = places.u(block_.current);
    w.u = places.u(u);
    w.current_theta = places.theta(block_.current);
    w.theta = places.theta(u);
    w.innovation = places.innovation(parity);
    w.log_uniform = &block_.scalars.log_uniform[parity];
    w.adapted = places.adapted;
    w.table = block_.local.table;
    w.is_filled = true;
    return w;
  }

  __device__ void prepare_set(const Team& t, int set) const {
    const double common = Config::likelihood().prepare(t, block_.places.theta(set),
                                                       static_cast<Real*>(block_.places.coefficients(set)),
                                                       block_.places.scratch(block_.team_index()));
    if (t.rank() == 0) block_.scalars.common[set] = common;
  }

  /// Returns the prepared point of a set; the terms are in the team's scratch if points do not store them.
  __device__ PreparedPoint<Real> prepared(int set) const {
    return {
        static_cast<Real*>(block_.places.coefficients(set)),
        Config::neighbours ? block_.places.likelihood_terms(set) : block_.places.scratch(block_.team_index()),
        block_.scalars.common[set]};
  }
  /// Computes the coefficients of set `to`, whose point differs from that of `from` in `block`.
  __device__ void prepare_near(const Team& t, int from, int to, const ProposalBlock& block) const {
    const double common =
        Config::likelihood().prepare_near(t, block_.places.theta(to), change_of(block), prepared(from),
                                          prepared(to), block_.places.scratch(block_.team_index()));
    if (t.rank() == 0) block_.scalars.common[to] = common;
  }

  /// Computes coefficients and terms of the point with which the kernel begins; called by the first team.
  __device__ void prepare_current() const {
    const Team t = block_.team();
    if constexpr (!Config::neighbours) return prepare_set(t, block_.current);
    const ResidentPlaces& places = block_.places;
    const int set = block_.current;
    // All elements count as changed: the point is known, but its terms are not.
    const Neighbour nothing{places.u(set), places.theta(set), &places.terms(set), 0, view_.table.dim};
    constrain_neighbour(t, block_.local.table, places.u(set), places.theta(set), nothing, places.terms(set));
    t.sync();
    ProposalBlock all{};
    all.influence = Influence::everything;
    prepare_near(t, set, set, all);
  }

  /// Computes the candidate of block `propose` from the point in set `from`, and writes it and its
  /// coefficients to set `to`; called by a team, whose lane 0 writes scalars.common[to]. `parity`: place of
  /// the innovation.
  __device__ ResidentCandidate propose_into(int from, int to, int propose, int parity) const {
    const Team t = block_.team();
    const ResidentPlaces& places = block_.places;
    const InnovationView adapted = innovation_view(propose);
    const Workspace w = workspace(to, parity);
    Candidate next;
    if constexpr (Config::neighbours) {
      const ProposalBlock& block = adapted.block;
      next = propose_neighbour<Proposal>(t, block_.local, block_.chain, adapted, known_point(from, block), w,
                                         places.u(to), places.theta(to), places.terms(to));
      t.sync();
      prepare_near(t, from, to, block);
    } else {
      next = device::propose<Proposal>(t, block_.local, block_.chain, adapted,
                                       KnownPoint{places.u(from), places.theta(from)}, w, places.u(to),
                                       places.theta(to));
      t.sync();
      if (adapted.block.influence != Influence::nothing) prepare_set(t, to);
    }
    return {next.log_q, next.log_prior, next.log_jacobian};
  }

  // ---- the same computation in two parts, of which the second may overlap with the likelihood

  /// Whether there are two parts; otherwise the first part does everything.
  static constexpr bool kInParts = kPlainTable;

  /// The first part: computes the candidate's coefficients, which other teams may read after a sync, and log
  /// q; without parts, everything. `point_is_there()` is called when the candidate's point is visible to the
  /// whole team.
  template <class F>
  __device__ ResidentCandidate begin_candidate(int from, int to, int propose, int parity,
                                               const F& point_is_there) const {
    if constexpr (!kInParts) return propose_into(from, to, propose, parity);
    const Team t = block_.team();
    const ResidentPlaces& places = block_.places;
    const InnovationView adapted = innovation_view(propose);
    const Neighbour known = known_point(from, adapted.block);
    double *u = places.u(to), *theta = places.theta(to);
    const double log_q = apply_innovation<Proposal>(t, block_.local, block_.chain, adapted,
                                                    {known.u, known.theta}, workspace(to, parity), u, theta);
    constrain_values(t, block_.local.table, u, theta, known, places.simplex_sums(block_.team_index()));
    t.sync();
    point_is_there();
    Config::likelihood().prepare_near_coefficients(t, theta, change_of(adapted.block), prepared(from),
                                                   prepared(to), places.scratch(block_.team_index()));
    return {log_q, 0, 0};
  }
  /// The second part. finish_densities computes the densities, by any team after the candidate's point is
  /// visible (`simplices`: number of the team that began the candidate). finish_common computes
  /// scalars.common[to], by the team that began the candidate, after a sync.
  __device__ PointDensities finish_densities(int from, int to, int propose, int simplices) const {
    const ResidentPlaces& places = block_.places;
    return densities_of_values(block_.team(), block_.local.table, places.u(to), places.theta(to),
                               known_point(from, view_.blocks[propose]), places.simplex_sums(simplices),
                               Config::neighbours ? &places.terms(to) : nullptr);
  }
  __device__ void finish_common(int from, int to, int propose) const {
    const Team t = block_.team();
    const double common = Config::likelihood().prepare_near_common(
        t, block_.places.theta(to), change_of(view_.blocks[propose]), prepared(from), prepared(to));
    if (t.rank() == 0) block_.scalars.common[to] = common;
  }

  Block& block_;
  const StepView& view_;

 private:
  static __device__ ParameterChange change_of(const ProposalBlock& block) {
    if constexpr (!Config::neighbours)
      if (block.influence != Influence::nothing) return {Influence::everything, 0, false};
    return {block.influence, block.component, block.keeps_heights != 0};
  }
  __device__ Neighbour known_point(int set, const ProposalBlock& block) const {
    const ResidentPlaces& places = block_.places;
    if constexpr (Config::neighbours)
      return {places.u(set), places.theta(set), &places.terms(set), block.first_element,
              block.first_element + block.num_elements};
    return {places.u(set), places.theta(set), nullptr, 0, view_.table.dim};
  }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_PROPOSAL_CUH
