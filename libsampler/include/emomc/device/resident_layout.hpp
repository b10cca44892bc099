// The interface between host and device for resident_chain.cuh: arguments and the layout of shared memory.
#ifndef EMOMC_DEVICE_RESIDENT_LAYOUT_HPP
#define EMOMC_DEVICE_RESIDENT_LAYOUT_HPP

#include "emomc/device/neighbour.hpp"
#include "emomc/device/row_likelihood.hpp"

namespace emomc::device {

enum class ResidentForm : int {
  ahead,    ///< two teams propose for both outcomes while other warps evaluate
  in_turn,  ///< one team proposes, then all warps evaluate, in turn
  teams,    ///< like in_turn, but each team of a block has a chain of its own; all these chains read the same
            ///< rows
  lines,    ///< like in_turn, but several of a chain's next candidates at once, each by some of the cluster's
            ///< blocks
  wide,     ///< like lines, but each candidate by all of as many blocks as fit on the GPU, on rows of which
            ///< some are not in shared memory
};

/// The largest number of candidates of a chain that are evaluated at once.
inline constexpr int kMostLines = 8, kMostWideLines = 2;
/// Number of points that a chain works with: the current point, its candidate, and the next candidate for
/// each outcome of the acceptance; in the wide form the current point, the point before it, and all
/// candidates.
EMOMC_HD constexpr int num_resident_sets(ResidentForm form, int num_lines) {
  if (form == ResidentForm::teams) return 2;
  return form == ResidentForm::wide ? num_lines + 2 : 4;
}
inline constexpr int kMostResidentSets = 4;
/// Number of places for the random numbers of candidates; each has the scratch memory of one team.
EMOMC_HD constexpr int num_resident_places(ResidentForm form, int num_lines) {
  if (form == ResidentForm::in_turn || form == ResidentForm::teams) return 1;
  return form == ResidentForm::wide ? 2 * num_lines : 2;
}
inline constexpr int kMostResidentPlaces = 4;
/// Whether some of a block's rows may not be in shared memory.
EMOMC_HD constexpr bool reads_device_memory(ResidentForm form) {
  return form == ResidentForm::wide || form == ResidentForm::teams;
}
/// Number of warps that evaluate if several candidates are evaluated at once; the proposing teams consist of
/// some of these warps. The wide form has fewer warps, each with more registers.
inline constexpr int kLinesWarps = 16, kWideWarps = 12;
/// The largest number of chains of a block in the form `teams`, and the number of warps of each chain.
inline constexpr int kChainTeams = 4, kTeamWarps = kTeamLanes / 32;

/// Neighbouring rows whose sum is a node of the tree over rows.
struct RowNode {
  i64 row;       ///< number of the first row, counted through all tiles
  int num_rows;  ///< number of rows that exist; the others are padding
};

/// Number of 64-bit words by which a block sends a number to others (told_numbers.cuh).
inline constexpr int kToldWords = 2;

/// Arguments of the kernel. All pointers are to device memory.
struct ResidentWork {
  const void* rows;          ///< TiledData::values
  const RowNode* nodes;      ///< nodes of all lists
  const int* list_of_chain;  ///< [num_chains]; chains that read the same rows share a list
  const int* first_node;     ///< [num_lists + 1]
  const int* first_segment;  ///< [num_lists + 1] into `segment_first`
  const int* segment_first;  ///< first node of each segment within its list, for all lists; one more entry at
                             ///< each list's end
  const double* num_rows;    ///< [num_lists]
  int max_nodes;             ///< largest number of nodes of a list
  int max_segments;          ///< largest number of segments of a list
  int nodes_per_block;
  i64 num_steps;
  int resident_nodes;  ///< number of a block's nodes, from its first on, that are in shared memory, for forms
                       ///< that read device memory
  void* kept;  ///< caches of the form `teams`: [num_chains][blocks of a cluster][nodes_per_block], number of
               ///< a row, row in the node
  // The next three members are for the form `wide`.
  int num_blocks;  ///< number of blocks per chain
  int log2_piece;  ///< log2 of the number of nodes in a piece, whose sum a block sends to the others;
                   ///< segments are whole pieces
  u64* told;       ///< [num_chains][2][num_lines][num_pieces][kToldWords], must be 0 before a launch
};

/// The largest number of pieces of a list.
EMOMC_INLINE int num_pieces(const ResidentWork& work) { return work.max_nodes >> work.log2_piece; }
/// Number of sums that the wide form stores for each line: one for every 32 pieces, or one for every piece if
/// segments end among the pieces.
EMOMC_INLINE int num_wide_sums(const ResidentWork& work) {
  return work.max_segments <= 1 ? (num_pieces(work) + 31) / 32 : num_pieces(work);
}

/// Sizes of a kernel, in addition to those of the likelihood.
struct ResidentSizes {
  int real_bytes;
  ResidentForm form;
  int num_lines;      ///< number of candidates at once; the sums of each are stored separately
  int rows_per_lane;  ///< a node of the tree over rows has 32 times this number of rows
  bool caches;
  bool neighbours;  ///< whether a candidate's terms are stored for the candidates that follow it
};

/// The layout of dynamic shared memory: first the data of each of the block's chains, then the data that the
/// chains share.
struct ResidentPlaces {
  unsigned char* memory;  ///< the chain's memory
  double* adapted;
  Element* elements;
  SimplexBlock* simplices;
  CovarianceRow* covariance_rows;
  ConditionalElement* conditionals;
  u64 *num_accepted, *num_proposed;
  RowNode* nodes;
  double* sums;          ///< [2][num_lines][max_nodes]; in the wide form [num_lines][num_wide_sums]
  double* segment_sums;  ///< [num_lines][max_segments]
  double* node_sums;     ///< in the wide form: [num_lines][nodes_per_block]
  void* rows;            ///< by node, column, row in the node
  void* kept;            ///< numbers of component caches: by node, number of a row, row in the node
  i64 bytes;

  /// Memory of a point and all its data: set_bytes() bytes, aligned to 16.
  EMOMC_INLINE unsigned char* set(int which) const { return memory + which * set_bytes_; }
  EMOMC_INLINE i64 set_bytes() const { return set_bytes_; }
  EMOMC_INLINE double* u(int set) const { return reinterpret_cast<double*>(memory + set * set_bytes_); }
  EMOMC_INLINE double* theta(int set) const { return u(set) + dim_u_; }
  EMOMC_INLINE void* coefficients(int set) const {
    return memory + set * set_bytes_ + rounded((dim_u_ + dim_) * static_cast<i64>(sizeof(double)));
  }
  EMOMC_INLINE double* innovation(int team) const {
    return reinterpret_cast<double*>(memory + num_sets_ * set_bytes_ + team * team_bytes_);
  }
  EMOMC_INLINE double* scratch(int team) const { return innovation(team) + num_innovation_; }
  /// The sums of each simplex of a candidate that is computed in two parts.
  EMOMC_INLINE SimplexSums* simplex_sums(int team) const {
    return reinterpret_cast<SimplexSums*>(scratch(team) + num_scratch_);
  }

  /// The terms whose sums are prior and Jacobian of the point; only in a kernel with `neighbours`.
  EMOMC_INLINE PointTerms& terms(int set) const {
    return *reinterpret_cast<PointTerms*>(memory + set * set_bytes_ + terms_at_);
  }
  EMOMC_INLINE double* likelihood_terms(int set) const { return reinterpret_cast<double*>(&terms(set) + 1); }

  /// `chain`: number of the chain among those of the block, from 0.
  EMOMC_INLINE ResidentPlaces(unsigned char* begin, const StepView& v, const LikelihoodSizes& likelihood,
                              const ResidentWork& work, const ResidentSizes& sizes, int chain = 0)
      : memory(begin),
        num_sets_(num_resident_sets(sizes.form, sizes.num_lines)),
        dim_(v.table.dim),
        dim_u_(v.point_size),
        num_innovation_(v.num_innovation),
        num_scratch_(likelihood.num_scratch),
        terms_at_(rounded((dim_u_ + dim_) * static_cast<i64>(sizeof(double))) +
                  rounded(likelihood.num_coefficients * static_cast<i64>(sizes.real_bytes))),
        set_bytes_(terms_at_ + (sizes.neighbours
                                    ? rounded(static_cast<i64>(sizeof(PointTerms)) +
                                              likelihood.num_terms * static_cast<i64>(sizeof(double)))
                                    : 0)),
        team_bytes_(rounded((v.num_innovation + likelihood.num_scratch) * static_cast<i64>(sizeof(double)) +
                            v.table.num_simplices * static_cast<i64>(sizeof(SimplexSums)))) {
    const i64 chain_bytes = place_chain(v, work, sizes);
    const int num_chains = sizes.form == ResidentForm::teams ? kChainTeams : 1;
    if (chain > 0) {
      memory = begin + chain * chain_bytes;
      place_chain(v, work, sizes);
    }
    i64 at = num_chains * chain_bytes;
    nodes = reinterpret_cast<RowNode*>(begin + at);
    at += rounded(work.nodes_per_block * static_cast<i64>(sizeof(RowNode)));
    const i64 node_bytes = static_cast<i64>(32) * sizes.rows_per_lane * sizes.real_bytes;
    rows = begin + at;
    at += (reads_device_memory(sizes.form) ? work.resident_nodes : work.nodes_per_block) *
          likelihood.num_columns * node_bytes;
    kept = begin + at;
    if (sizes.caches && sizes.form != ResidentForm::teams)
      at += work.nodes_per_block * likelihood.num_kept_near * node_bytes;
    bytes = at;
  }
  EMOMC_INLINE static i64 rounded(i64 n) { return (n + 15) / 16 * 16; }

 private:
  /// Sets the pointers of the chain's data and returns their size in bytes.
  EMOMC_INLINE i64 place_chain(const StepView& v, const ResidentWork& work, const ResidentSizes& sizes) {
    i64 at = num_sets_ * set_bytes_ + num_resident_places(sizes.form, sizes.num_lines) * team_bytes_;
    const auto take = [&](auto*& pointer, i64 count) {
      pointer = reinterpret_cast<decltype(pointer + 0)>(memory + at);
      at += rounded(count * static_cast<i64>(sizeof(*pointer)));
    };
    take(adapted, v.adapted_layout.num_small());
    if (sizes.form != ResidentForm::teams) {
      take(elements, v.table.dim);
      take(simplices, v.table.num_simplices);
      take(covariance_rows, v.table.num_covariance_rows);
      take(conditionals, v.table.num_conditionals);
    }
    take(num_accepted, v.num_blocks);
    take(num_proposed, v.num_blocks);
    const bool wide = sizes.form == ResidentForm::wide;
    take(sums, static_cast<i64>(sizes.num_lines) * (wide ? num_wide_sums(work) : 2 * work.max_nodes));
    take(segment_sums, static_cast<i64>(sizes.num_lines) * work.max_segments);
    take(node_sums, wide ? static_cast<i64>(sizes.num_lines) * work.nodes_per_block : 0);
    return at;
  }

  i64 num_sets_, dim_, dim_u_, num_innovation_, num_scratch_, terms_at_, set_bytes_, team_bytes_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_RESIDENT_LAYOUT_HPP
