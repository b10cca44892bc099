// Rows divided over ranks (docs/decisions/clusters.md). A rank has a run of neighbouring tiles. It sums them
// to nodes of the tree of docs/statistics.md; all ranks gather all nodes and add them in the tree's order, so
// that sums have the bits that they have with one rank.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "emomc/core/communicator.hpp"
#include "emomc/core/likelihood_engine.hpp"

namespace emomc {

/// Which rows the ranks have. Runs of tiles begin and end at multiples of a unit, counted from the beginning
/// of the segment, or where the segment ends.
class RowShare {
 public:
  /// Tiles [first, end) of a segment.
  struct Tiles {
    int first = 0, end = 0;
    int size() const { return end - first; }
  };

  /// `segments` as DataSet has them; `unit_of(num_tiles)` is the unit of a segment, the same on all ranks.
  /// `ranks` must outlive the object.
  RowShare(Communicator& ranks, std::vector<Segment> segments, const std::function<int(int)>& unit_of);

  Communicator& ranks() const { return ranks_; }
  int rank() const { return ranks_.rank(); }
  int num_ranks() const { return ranks_.size(); }
  /// Of all ranks.
  const std::vector<Segment>& segments() const { return segments_; }
  int num_tiles(std::size_t segment) const { return num_tiles_[segment]; }
  Tiles tiles_of(int rank, std::size_t segment) const {
    return tiles_[static_cast<std::size_t>(rank)][segment];
  }
  int unit(std::size_t segment) const { return units_[segment]; }
  /// This rank's part of each segment, which may be empty; rows are numbered as in the whole data set.
  const std::vector<Segment>& own_segments() const { return own_segments_; }

  /// `rows` [number of rows of all ranks]: each rank gives its own rows, all get all. Collective.
  void gather_rows(double* rows) const;

 private:
  std::vector<Segment> segments_of(int rank) const;

  Communicator& ranks_;
  std::vector<Segment> segments_, own_segments_;
  std::vector<int> num_tiles_, units_;
  std::vector<std::vector<Tiles>> tiles_;  ///< [rank][segment]
};

/// Units that leave each rank's share of `num_tiles` tiles even to about a hundredth, in a power of two, and
/// at least `least`, one too.
int even_unit(std::size_t num_tiles, int num_ranks, int least);

/// How the sums of lists of segments come from nodes. Each rank writes a record of `width` numbers for each
/// sum that is wanted; records are gathered as [rank][sum][width].
class RowNodes {
 public:
  /// A node of this rank: `count` tiles, of which the first one is at `first` of the rank's tiles of the
  /// list; there are fewer than the node has in the tree where it is padded.
  struct OwnNode {
    int first, count;
    bool is_padded;
  };
  /// Where a number comes from: `rank` -1 is a zero.
  struct Place {
    int rank, index;
  };
  /// numbers[to] += numbers[from], or += 0 where `from` is -1.
  struct Add {
    int to, from;
  };
  struct List {
    std::vector<int> segments;
    std::vector<OwnNode> own;
    std::vector<Place> places;
    std::vector<Add> adds;
    int result = -1;  ///< index of the sum among the numbers of `places` after `adds`; -1: it is 0
    std::size_t num_rows = 0, num_tiles = 0;  ///< of all ranks
  };

  RowNodes() = default;
  /// A list for each distinct element of `chain_segments`, in the order in which they first occur.
  RowNodes(const RowShare& share, const std::vector<std::vector<int>>& chain_segments);

  const std::vector<List>& lists() const { return lists_; }
  const std::vector<int>& list_of_chain() const { return list_of_chain_; }
  const List& of_chain(std::size_t chain) const {
    return lists_[static_cast<std::size_t>(list_of_chain_[chain])];
  }
  /// Numbers of a record: the most nodes that a rank has of a list, at least 1.
  std::size_t width() const { return width_; }

  /// Writes this rank's nodes of a list from the sums of its tiles, which are overwritten.
  static void sum_own(const List& list, double* tile_sums, double* record);
  /// The sum of a list. `first`: the record of rank 0; `stride`: from one rank's record to the next one's.
  static double sum_of(const List& list, const double* first, std::size_t stride,
                       std::vector<double>& numbers);

 private:
  std::vector<List> lists_;
  std::vector<int> list_of_chain_;
  std::size_t width_ = 1;
};

/// Sums of segments on the host, for calls that wait.
class SharedSegmentSums {
 public:
  explicit SharedSegmentSums(const RowShare& share);
  /// `tile_sums` num_points x `stride`: of this rank's tiles, segment after segment; overwritten. `sums`:
  /// num_points x number of segments, of all ranks. Collective.
  void gather(double* tile_sums, std::size_t stride, int num_points, double* sums) const;

 private:
  const RowShare& share_;
  RowNodes nodes_;  ///< a list for each segment
};

}  // namespace emomc
