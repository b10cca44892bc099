// Divides rows over ranks (docs/decisions/clusters.md). A rank has a run of neighbouring tiles and sums them
// to nodes of the tree of docs/statistics.md. All ranks gather all nodes and add them in the tree's order, so
// that sums have the same bits as with one rank.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/likelihood_engine.hpp"

namespace emomc {

/// The division of rows over ranks. Runs of tiles begin and end at multiples of a unit, counted from the
/// beginning of the segment, or at the end of the segment.
class RowShare {
 public:
  /// Tiles [first, end) of a segment.
  struct Tiles {
    int first = 0, end = 0;
    int size() const { return end - first; }
  };

  /// `segments` are DataSet::segments; `unit_of(num_tiles)` is the unit of a segment in tiles, the same on
  /// all ranks. `ranks` must outlive the object.
  RowShare(Communicator& ranks, std::vector<Segment> segments, const std::function<int(int)>& unit_of);

  Communicator& ranks() const { return ranks_; }
  int rank() const { return ranks_.rank(); }
  int num_ranks() const { return ranks_.size(); }
  /// The segments of all ranks' rows.
  const std::vector<Segment>& segments() const { return segments_; }
  int num_tiles(std::size_t segment) const { return num_tiles_[segment]; }
  Tiles tiles_of(int rank, std::size_t segment) const {
    return tiles_[static_cast<std::size_t>(rank)][segment];
  }
  int unit(std::size_t segment) const { return units_[segment]; }
  /// This rank's part of each segment, which may be empty; rows are numbered as in the whole data set.
  const std::vector<Segment>& own_segments() const { return own_segments_; }

  /// Gathers numbers of rows: each rank has written the numbers of its own rows to `rows` [number of rows of
  /// all ranks] and gets those of all other rows. A collective call.
  void gather_rows(double* rows) const;

 private:
  std::vector<Segment> segments_of(int rank) const;

  Communicator& ranks_;
  std::vector<Segment> segments_, own_segments_;
  std::vector<int> num_tiles_, units_;
  std::vector<std::vector<Tiles>> tiles_;  ///< [rank][segment]
};

/// A unit with which the ranks' shares of `num_tiles` tiles differ by about a hundredth. `least` and the
/// result, which is at least `least`, are powers of two.
int even_unit(std::size_t num_tiles, int num_ranks, int least);

/// The plan by which the sums of lists of segments are computed from nodes. Each rank writes a record of
/// width() numbers for each sum; records are gathered as [rank][sum][width].
class RowNodes {
 public:
  /// A node of this rank: `count` of the rank's tiles of the list, from tile `first` on. `is_padded`: the
  /// node has more tiles in the tree than `count`.
  struct OwnNode {
    int first, count;
    bool is_padded;
  };
  /// The rank and the index in the rank's record of a number; `rank` -1: the number is zero.
  struct Place {
    int rank, index;
  };
  /// An addition: numbers[to] += numbers[from], or += 0 if `from` is -1.
  struct Add {
    int to, from;
  };
  struct List {
    std::vector<int> segments;
    std::vector<OwnNode> own;
    std::vector<Place> places;
    std::vector<Add> adds;
    int result = -1;  ///< index of the sum among the numbers of `places` after `adds`; -1: the sum is 0
    std::size_t num_rows = 0, num_tiles = 0;  ///< rows and tiles of all ranks
  };

  RowNodes() = default;
  /// A list for each distinct element of `chain_segments`, in the order in which they first occur.
  RowNodes(const RowShare& share, const std::vector<std::vector<int>>& chain_segments);

  const std::vector<List>& lists() const { return lists_; }
  const std::vector<int>& list_of_chain() const { return list_of_chain_; }
  const List& of_chain(std::size_t chain) const {
    return lists_[static_cast<std::size_t>(list_of_chain_[chain])];
  }
  /// Numbers of a record: the largest number of nodes of a list on a rank, at least 1.
  std::size_t width() const { return width_; }

  /// Writes this rank's nodes of a list from the sums of its tiles, which are overwritten.
  static void sum_own(const List& list, double* tile_sums, double* record);
  /// The sum of a list. `first`: the record of rank 0; `stride`: distance from one rank's record to the next;
  /// `numbers`: working memory.
  static double sum_of(const List& list, const double* first, std::size_t stride,
                       std::vector<double>& numbers);

 private:
  std::vector<List> lists_;
  std::vector<int> list_of_chain_;
  std::size_t width_ = 1;
};

/// Gathers sums of segments on the host, for calls that wait for results.
class SharedSegmentSums {
 public:
  explicit SharedSegmentSums(const RowShare& share);
  /// `tile_sums`: num_points x `stride`, sums of this rank's tiles, segment after segment; overwritten.
  /// Writes the sums over the rows of all ranks to `sums`, num_points x number of segments. A collective
  /// call.
  void gather(double* tile_sums, std::size_t stride, int num_points, double* sums) const;

 private:
  const RowShare& share_;
  RowNodes nodes_;  ///< a list for each segment
};

}  // namespace emomc
