// What host and device agree on about resident_chain.cuh: arguments and places in shared memory.
#ifndef EMOMC_DEVICE_RESIDENT_LAYOUT_HPP
#define EMOMC_DEVICE_RESIDENT_LAYOUT_HPP

#include "emomc/device/neighbour.hpp"

namespace emomc::device {

enum class ResidentForm : int {
  ahead,    ///< two teams propose for both outcomes while other warps evaluate
  in_turn,  ///< one team proposes, then all warps evaluate
  lines,    ///< in_turn, several of the chain's next candidates at once, each by some of the cluster's blocks
};

/// Rows per tile of the data, as DataSet has them.
inline constexpr int kResidentTile = 1024;
/// Points that a chain works with: the current one, its candidate, the next candidate of either outcome.
inline constexpr int kResidentSets = 4;

/// Neighbouring rows whose sum is a node of the tree over rows.
struct RowNode {
  i64 row;       ///< the first one, counted through all tiles
  int num_rows;  ///< that are there
};

/// Candidates that are evaluated at once, at most.
inline constexpr int kMostLines = 16;

/// All pointers are device memory.
struct ResidentWork {
  const void* rows;          ///< TiledData::values
  const RowNode* nodes;      ///< of all lists
  const int* list_of_chain;  ///< [num_chains]; chains that read the same rows share a list
  const int* first_node;     ///< [num_lists + 1]
  const int* first_segment;  ///< [num_lists + 1] into `segment_first`
  const int* segment_first;  ///< for each segment of each list its first node in the list, one more at each
                             ///< list's end
  const double* num_rows;    ///< [num_lists]
  int max_nodes;             ///< of a list
  int max_segments;          ///< of a list
  int nodes_per_block;
  i64 num_steps;
};

/// Of a kernel, beside the model's.
struct ResidentSizes {
  int real_bytes, num_places, rows_per_lane;  ///< places for innovations, with scratch of a team each
  bool caches;
  bool neighbours;    ///< a candidate's terms are kept for the candidates that follow it
  int num_lines = 1;  ///< candidates at once; the sums of each are apart
};

/// Places in dynamic shared memory.
struct ResidentPlaces {
  unsigned char* memory;
  double* adapted;
  Element* elements;
  SimplexBlock* simplices;
  CovarianceRow* covariance_rows;
  ConditionalElement* conditionals;
  u64 *num_accepted, *num_proposed;
  RowNode* nodes;
  double *sums, *segment_sums;  ///< [2][num_lines][max_nodes], [num_lines][max_segments]
  void* rows;                   ///< node, column, row in the node
  void* kept;                   ///< sums of pairs of components: node, pair, row in the node
  i64 bytes;

  /// All that belongs to a point: aligned to 16 bytes, as many as set_bytes().
  EMOMC_INLINE unsigned char* set(int which) const { return memory + which * set_bytes_; }
  EMOMC_INLINE i64 set_bytes() const { return set_bytes_; }
  EMOMC_INLINE double* u(int set) const { return reinterpret_cast<double*>(memory + set * set_bytes_); }
  EMOMC_INLINE double* theta(int set) const { return u(set) + dim_u_; }
  EMOMC_INLINE void* coefficients(int set) const {
    return memory + set * set_bytes_ + rounded((dim_u_ + dim_) * static_cast<i64>(sizeof(double)));
  }
  EMOMC_INLINE double* innovation(int team) const {
    return reinterpret_cast<double*>(memory + kResidentSets * set_bytes_ + team * team_bytes_);
  }
  EMOMC_INLINE double* scratch(int team) const { return innovation(team) + num_innovation_; }

  /// Where there are neighbours.
  EMOMC_INLINE PointTerms& terms(int set) const {
    return *reinterpret_cast<PointTerms*>(memory + set * set_bytes_ + terms_at_);
  }
  EMOMC_INLINE double* height_terms(int set) const { return reinterpret_cast<double*>(&terms(set) + 1); }

  template <class Shape>
  EMOMC_INLINE ResidentPlaces(unsigned char* begin, const StepView& v, const Shape& shape,
                              const ResidentWork& work, const ResidentSizes& sizes)
      : memory(begin),
        dim_(v.table.dim),
        dim_u_(v.point_size),
        num_innovation_(v.num_innovation),
        terms_at_(rounded((dim_u_ + dim_) * static_cast<i64>(sizeof(double))) +
                  rounded(shape.num_coefficients() * static_cast<i64>(sizes.real_bytes))),
        set_bytes_(terms_at_ + (sizes.neighbours
                                    ? rounded(static_cast<i64>(sizeof(PointTerms)) +
                                              shape.num_terms() * static_cast<i64>(sizeof(double)))
                                    : 0)),
        team_bytes_(rounded((v.num_innovation + shape.num_scratch()) * static_cast<i64>(sizeof(double)))) {
    i64 at = kResidentSets * set_bytes_ + sizes.num_places * team_bytes_;
    const auto take = [&](auto*& pointer, i64 count) {
      pointer = reinterpret_cast<decltype(pointer + 0)>(memory + at);
      at += rounded(count * static_cast<i64>(sizeof(*pointer)));
    };
    take(adapted, v.adapted_layout.num_small());
    take(elements, v.table.dim);
    take(simplices, v.table.num_simplices);
    take(covariance_rows, v.table.num_covariance_rows);
    take(conditionals, v.table.num_conditionals);
    take(num_accepted, v.num_blocks);
    take(num_proposed, v.num_blocks);
    take(nodes, work.nodes_per_block);
    take(sums, 2 * static_cast<i64>(sizes.num_lines) * work.max_nodes);
    take(segment_sums, static_cast<i64>(sizes.num_lines) * work.max_segments);
    const i64 node_bytes = static_cast<i64>(32) * sizes.rows_per_lane * sizes.real_bytes;
    rows = memory + at;
    at += work.nodes_per_block * shape.dim * node_bytes;
    kept = memory + at;
    if (sizes.caches) at += work.nodes_per_block * shape.num_pairs() * node_bytes;
    bytes = at;
  }
  EMOMC_INLINE static i64 rounded(i64 n) { return (n + 15) / 16 * 16; }

 private:
  i64 dim_, dim_u_, num_innovation_, terms_at_, set_bytes_, team_bytes_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_LAYOUT_HPP
