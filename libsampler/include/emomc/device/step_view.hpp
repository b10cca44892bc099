// The data that the Metropolis-Hastings step reads and writes: the state of all chains, and a team's
// workspace for one chain.
#ifndef EMOMC_DEVICE_STEP_VIEW_HPP
#define EMOMC_DEVICE_STEP_VIEW_HPP

#include "emomc/device/proposal.hpp"

namespace emomc::device {

/// The log densities of a point; the likelihood is not raised to the power beta.
struct LogDensities {
  double likelihood, prior, jacobian;
};
/// One point per chain, chain-major.
struct PointSet {
  double* u;      ///< num_chains x ld_u
  double* theta;  ///< num_chains x ld
  double* log_prior;
  double* log_jacobian;
  double* log_likelihood;  ///< [num_chains] each
};

EMOMC_INLINE LogDensities densities_of(const PointSet& points, int chain) {
  return {points.log_likelihood[chain], points.log_prior[chain], points.log_jacobian[chain]};
}
/// Sets the densities of a chain's point; called by one thread.
EMOMC_INLINE void set_densities(const PointSet& points, int chain, const LogDensities& densities) {
  points.log_likelihood[chain] = densities.likelihood;
  points.log_prior[chain] = densities.prior;
  points.log_jacobian[chain] = densities.jacobian;
}

/// The rule for which draws of a segment are kept, and in which slots; uploaded before each segment.
struct RecordPlan {
  i64 origin;  ///< steps origin + every, origin + 2 every, ... are kept
  i64 every;
  i64 slot;      ///< slot of the first kept draw
  i64 capacity;  ///< number of slots from `slot` on
};

/// Kept draws: slot-major, then chain. `u` or `theta` may be null.
struct Record {
  double* u;      ///< slots x num_chains x dim_unconstrained
  double* theta;  ///< slots x num_chains x dim
  double* log_prior;
  double* log_likelihood;  ///< slots x num_chains
};

/// Everything that the step reads and writes, passed by value to kernels; memory of the engine's device.
struct StepView {
  ParameterTable table;     ///< table of group 0; the arrays of the other groups follow group 0's and have
                            ///< equal sizes
  const double* constants;  ///< [num_tables] log_prior_constant of each table
  int num_tables;           ///< 1: all groups have the same table
  PointSet current, candidate;
  int num_chains, ld_u, ld;
  int point_size;      ///< size of a point in u: dim_unconstrained numbers, then the numbers that the
                       ///< proposal stores for a point
  double* innovation;  ///< num_chains x ld_innovation
  int ld_innovation, num_innovation;
  double* log_q;  ///< [num_chains]
  u8* accepted;   ///< [num_chains] decision on the last block
  i64* step;      ///< [num_chains] number of steps done; equal in all chains
  const u32* chain_id;
  const double* beta;
  const int* group;
  const int* half;          ///< [num_chains] 0 or 1
  const int* members;       ///< chains of group 0's half 0, its half 1, group 1's half 0, ...
  const int* first_member;  ///< [2 num_groups + 1] into `members`
  u8* first_accepted;       ///< [num_chains] decision on the step's first try, if there are stages
  double* first_density;    ///< [num_chains] log density of the first try's candidate, with Jacobian and beta
  const double* adapted;    ///< num_groups x adapted_layout.size()
  AdaptedLayout adapted_layout;
  const ProposalBlock* blocks;
  int num_blocks;
  DrawnAhead drawn;
  IncrementShape shape;
  u64* num_accepted;  ///< num_chains x num_blocks
  u64* num_proposed;
  u64* num_faults;  ///< [num_chains]
  u64 seed;
  const RecordPlan* record_plan;
  Record record;
};

/// Memory in which a team works on one chain: the chain's own rows of StepView, or copies of them in nearer
/// memory; and the table that the team reads there.
struct Workspace {
  double* current_u;                    ///< [point_size]
  double* u;                            ///< [point_size] the candidate's u
  double* innovation;                   ///< [num_innovation]
  double* current_theta;                ///< [dim]
  double* theta;                        ///< [dim] the candidate's theta
  double* adapted;                      ///< scales and sds of the chain's group
  ParameterTable table;                 ///< StepView's table, with arrays in nearer memory
  bool is_filled = false;               ///< whether table and adapted numbers have been copied already
  const double* log_uniform = nullptr;  ///< if not null, this number and the innovation have been drawn ahead
};

EMOMC_INLINE double* adapted_of(const StepView& v, int chain) {
  return const_cast<double*>(v.adapted) + static_cast<i64>(v.group[chain]) * v.adapted_layout.size();
}

/// Returns the prior and transforms of a chain, which are those of its group.
EMOMC_INLINE ParameterTable table_of(const StepView& v, int chain) {
  ParameterTable table = v.table;
  if (v.num_tables == 1) return table;
  const i64 group = v.group[chain];
  table.elements += group * table.dim;
  table.covariance_rows += group * table.num_covariance_rows;
  table.conditionals += group * table.num_conditionals;
  table.log_prior_constant = v.constants[group];
  return table;
}

/// Returns the chain's own rows as a workspace.
EMOMC_INLINE Workspace rows_of(const StepView& v, int chain) {
  const i64 u = static_cast<i64>(chain) * v.ld_u, theta = static_cast<i64>(chain) * v.ld;
  return {v.current.u + u,
          v.candidate.u + u,
          v.innovation + static_cast<i64>(chain) * v.ld_innovation,
          v.current.theta + theta,
          v.candidate.theta + theta,
          adapted_of(v, chain),
          table_of(v, chain)};
}

/// Returns a workspace in `memory`, which must be aligned to 8 bytes and have workspace_bytes() bytes.
EMOMC_INLINE Workspace workspace_in(unsigned char* memory, const StepView& v, int chain) {
  const int n = v.point_size, dim = v.table.dim;
  double* numbers = reinterpret_cast<double*>(memory);
  double* theta = numbers + 2 * n + v.num_innovation;
  double* adapted = theta + 2 * dim;
  ParameterTable table = table_of(v, chain);
  Element* elements = reinterpret_cast<Element*>(adapted + v.adapted_layout.num_small());
  SimplexBlock* simplices = reinterpret_cast<SimplexBlock*>(elements + dim);
  CovarianceRow* rows = reinterpret_cast<CovarianceRow*>(simplices + table.num_simplices);
  table.elements = elements;
  table.simplices = simplices;
  table.covariance_rows = rows;
  table.conditionals = reinterpret_cast<ConditionalElement*>(rows + table.num_covariance_rows);
  return {numbers, numbers + n, numbers + 2 * n, theta, theta + dim, adapted, table};
}
EMOMC_INLINE i64 workspace_bytes(const StepView& v) {
  const i64 n = v.point_size, dim = v.table.dim;
  return (2 * n + v.num_innovation + 2 * dim + v.adapted_layout.num_small()) *
             static_cast<i64>(sizeof(double)) +
         dim * static_cast<i64>(sizeof(Element)) +
         v.table.num_simplices * static_cast<i64>(sizeof(SimplexBlock)) +
         v.table.num_covariance_rows * static_cast<i64>(sizeof(CovarianceRow)) +
         v.table.num_conditionals * static_cast<i64>(sizeof(ConditionalElement));
}

/// Copies an array. Each member copies its own elements, which no other member may read until the next sync.
template <class Team>
EMOMC_INLINE void copy(const Team& team, const double* from, double* to, int n) {
  if (from == to) return;
  EMOMC_ROLLED
  for (int i = team.rank(); i < n; i += team.size()) to[i] = from[i];
}

struct Copied {
  const double* from;
  double* to;
};
/// Copies several arrays; an element of all of them is read before the first is written.
template <int kCount, class Team>
EMOMC_INLINE void copy_together(const Team& team, int n, const Copied (&arrays)[kCount]) {
  EMOMC_ROLLED
  for (int i = team.rank(); i < n; i += team.size()) {
    double x[kCount];
    for (int k = 0; k < kCount; ++k) x[k] = arrays[k].from[i];
    for (int k = 0; k < kCount; ++k) arrays[k].to[i] = x[k];
  }
}

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_STEP_VIEW_HPP
