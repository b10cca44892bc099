// The log likelihood in resident_chain.cuh: each block sums its own rows, node by node, and sends the sums to
// all blocks of its cluster, which add them up.
#ifndef EMOMC_DEVICE_RESIDENT_EVALUATION_CUH
#define EMOMC_DEVICE_RESIDENT_EVALUATION_CUH

#include "emomc/device/resident_block.cuh"

namespace emomc::device {

template <class Config>
class ResidentEvaluation {
  using Real = typename Config::Real;
  using Block = ResidentBlock<Config>;
  static constexpr int kRows = Config::rows;

 public:
  __device__ explicit ResidentEvaluation(const Block& block) : block_(block) {}

  /// Sums the block's own rows at the candidate and sends the sums; called by the evaluating warps. `changed`
  /// is the only component that differs from the current point's, or kAllComponents; only caches need it.
  __device__ void evaluate(int changed, int parity) const {
#pragma unroll 1
    for (int own = first_node(); own < block_.num_own; own += Config::evaluators)
      evaluate_node(own, changed, parity);
  }

  /// Sums the block's own rows like evaluate(), by warps that arrive one after the other. The calling warp
  /// begins with node `own`, or, if `own` is negative, with the first node that no warp has taken, and
  /// continues with further nodes that no warp has taken. `next`, in shared memory, is the first of these.
  __device__ void evaluate_as_they_come(int own, int* next, int parity) const {
#pragma unroll 1
    while (true) {
      if (own < 0) {
        if (block_.lane == 0) own = atomicAdd(next, 1);
        own = __shfl_sync(0xffffffffu, own, 0);
      }
      if (own >= block_.num_own) return;
      evaluate_node(own, kAllComponents, parity);
      own = -1;
    }
  }

  /// Returns the log likelihood of a line's candidate to the calling warp; all blocks must have sent their
  /// sums.
  __device__ double total_of_line(int line, int parity, double common) const {
    const ResidentWork& work = block_.work;
    const double* sums = sums_of(line, parity);
    double sum;
    if (work.max_segments <= 1) {
      sum = sum_by_warp(sums, block_.num_nodes);
    } else {
      double* segment_sums = block_.places.segment_sums + line * work.max_segments;
      const ListSegments segments = block_.segments();
      sum_segments(segments, block_.lane, segment_sums,
                   [sums](int begin, int end) { return sum_by_warp(sums + begin, end - begin); });
      sum = sum_by_warp(segment_sums, segments.count);
    }
    return Config::likelihood().log_likelihood(block_.scalars.total_of_rows, common, sum);
  }

  /// Returns the log likelihood to warp `receiver`. All threads call this after all blocks have sent their
  /// sums.
  __device__ double total(int parity, int receiver) const {
    const ResidentWork& work = block_.work;
    const double* sums = sums_of(0, parity);
    double* segment_sums = block_.places.segment_sums;
    double sum = 0;
    if (work.max_segments <= 1) {
      if (block_.warp == receiver) sum = sum_by_warp(sums, block_.num_nodes);
    } else {
      const ListSegments segments = block_.segments();
      sum_segments(
          segments, {block_.warp, Config::chain_threads / 32, block_.lane == 0}, segment_sums,
          [sums](int begin, int end) { return sum_by_warp(sums + begin, end - begin); },
          [this] { block_.sync(); });
      if (block_.warp == receiver) sum = sum_by_warp(segment_sums, segments.count);
    }
    return Config::likelihood().log_likelihood(block_.scalars.total_of_rows,
                                               block_.scalars.common[block_.candidate], sum);
  }

 private:
  __device__ double* sums_of(int line, int parity) const {
    return block_.places.sums + (parity * Config::lines + line) * block_.work.max_nodes;
  }
  __device__ int first_node() const { return block_.warp - Config::first_evaluator; }

  __device__ void evaluate_node(int own, int changed, int parity) const {
    const Real* coefficients = static_cast<const Real*>(block_.places.coefficients(block_.candidate));
    const RowsOf rows = rows_of_node(own);
    Real value[kRows];
    if constexpr (Config::caches) {
      if (!(Config::apart && changed < 0))
        Config::likelihood().evaluate_near(kept(own), Config::node_rows, block_.scalars.kept, changed,
                                           coefficients, rows, value);
      else
        Config::likelihood().evaluate(coefficients, rows, value);
    } else {
      Config::likelihood().evaluate(coefficients, rows, value);
    }
    send(own, rows, coefficients, value, parity);
  }

  struct RowsOf {
    const Real* first;  ///< the thread's first row, in column 0
    int stride;         ///< distance from one column to the next
    __device__ __forceinline__ void operator()(int j, Real (&x)[kRows]) const {
      load_rows(first + j * stride, x);
    }
  };
  __device__ RowsOf rows_of_node(int own) const {
    if (Config::outside && own >= block_.work.resident_nodes) {
      const i64 row = block_.places.nodes[own].row;
      return {static_cast<const Real*>(block_.work.rows) + row / kTileRows * Config::dim * kTileRows +
                  row % kTileRows + block_.lane * kRows,
              kTileRows};
    }
    return {static_cast<const Real*>(block_.places.rows) + own * Config::dim * Config::node_rows +
                block_.lane * kRows,
            Config::node_rows};
  }

  /// Returns the kept numbers of the thread's first row in a node.
  __device__ Real* kept(int own) const {
    Real* first = static_cast<Real*>(Config::apart ? block_.work.kept : block_.places.kept);
    i64 node = own;
    if constexpr (Config::apart)
      node += (static_cast<i64>(block_.chain) * block_.size + block_.rank) * block_.work.nodes_per_block;
    return first + node * (Config::likelihood().sizes().num_kept_near * Config::node_rows) +
           block_.lane * kRows;
  }

  __device__ void send(int own, const RowsOf& rows, const Real* coefficients, const Real (&value)[kRows],
                       int parity) const {
    const int num_rows = block_.places.nodes[own].num_rows;
    const double sum = sum_over_lanes(Config::likelihood().sum(
        coefficients, RowsInMemory<Real>{rows.first, rows.stride, num_rows - block_.lane * kRows}, false,
        value));
    if (block_.lane < static_cast<int>(block_.size))
      store_in_block(sums_of(block_.line, parity) + block_.first_own + own, static_cast<u32>(block_.lane),
                     sum);
  }

  const Block& block_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_EVALUATION_CUH
