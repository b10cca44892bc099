#include "row_share.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "emomc/likelihood/data_set.hpp"
#include "tree_sum.hpp"

namespace emomc {
namespace {

int tiles_of_rows(std::size_t num_rows) { return static_cast<int>((num_rows + kTileRows - 1) / kTileRows); }

/// A node of a segment's tree; `level`: log2 of the number of tiles in the tree.
struct Node {
  int first, count, level;
};

// The fewest nodes that cover these tiles. The last node of a segment may be padded.
std::vector<Node> nodes_of(RowShare::Tiles tiles, int num_tiles) {
  std::vector<Node> nodes;
  for (int at = tiles.first; at < tiles.end;) {
    int level = 0;
    const auto size = [](int l) { return 1LL << l; };
    while (at + size(level) < tiles.end && at % size(level + 1) == 0 &&
           (at + size(level + 1) <= tiles.end || tiles.end == num_tiles))
      ++level;
    const int count = static_cast<int>(std::min<long long>(size(level), tiles.end - at));
    nodes.push_back({at, count, level});
    at += count;
  }
  return nodes;
}

}  // namespace

RowShare::RowShare(Communicator& ranks, std::vector<Segment> segments, const std::function<int(int)>& unit_of)
    : ranks_(ranks), segments_(std::move(segments)) {
  std::size_t all = 0;
  for (const Segment& segment : segments_) {
    num_tiles_.push_back(tiles_of_rows(segment.num_rows));
    units_.push_back(std::max(1, unit_of(num_tiles_.back())));
    all += static_cast<std::size_t>(num_tiles_.back());
  }
  const auto n = static_cast<std::size_t>(num_ranks());
  tiles_.assign(n, std::vector<Tiles>(segments_.size()));
  std::size_t before = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    // The tile of this segment where rank r begins, rounded to the nearest unit.
    const auto begin_of = [&](std::size_t r) {
      const auto size = static_cast<std::size_t>(num_tiles_[s]), unit = static_cast<std::size_t>(units_[s]);
      const std::size_t ideal = r * all / n;
      if (ideal <= before || r == 0) return 0;
      if (r == n || ideal >= before + size) return num_tiles_[s];
      return static_cast<int>(std::min(size, (ideal - before + unit / 2) / unit * unit));
    };
    for (std::size_t r = 0; r < n; ++r) tiles_[r][s] = {begin_of(r), begin_of(r + 1)};
    before += static_cast<std::size_t>(num_tiles_[s]);
  }
  own_segments_ = segments_of(rank());
}

std::vector<Segment> RowShare::segments_of(int rank) const {
  std::vector<Segment> parts;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const Tiles tiles = tiles_of(rank, s);
    const auto row_of = [&](int tile) {
      return std::min(segments_[s].num_rows, static_cast<std::size_t>(tile) * kTileRows);
    };
    parts.push_back({segments_[s].first_row + row_of(tiles.first), row_of(tiles.end) - row_of(tiles.first)});
  }
  return parts;
}

void RowShare::gather_rows(double* rows) const {
  std::vector<std::size_t> bytes;
  std::size_t first = 0;
  for (int r = 0; r < num_ranks(); ++r) {
    std::size_t count = 0;
    for (const Segment& part : segments_of(r)) count += part.num_rows;
    if (r < rank()) first += count;
    bytes.push_back(count * sizeof(double));
  }
  ranks_.all_gather(rows + first, bytes, rows);
}

int even_unit(std::size_t num_tiles, int num_ranks, int least) {
  constexpr std::size_t kUnitsOfRank = 128;
  std::size_t unit = static_cast<std::size_t>(std::max(1, least));
  while (2 * unit * kUnitsOfRank * static_cast<std::size_t>(num_ranks) <= num_tiles) unit *= 2;
  return static_cast<int>(unit);
}

namespace {

// Appends the additions that sum the numbers from `first_number` on, nodes with these levels, to a segment's
// sum, and returns the index of the sum. The order is that of tree_sum: a zero is added to a node without a
// right neighbour.
int add_segment(const std::vector<int>& levels, int first_number, std::vector<RowNodes::Add>& adds) {
  struct Open {
    int number, level;
  };
  std::vector<Open> open;  // nodes with descending levels
  const auto close_pair = [&] {
    const Open right = open.back();
    open.pop_back();
    adds.push_back({open.back().number, right.number});
    ++open.back().level;
  };
  for (std::size_t i = 0; i < levels.size(); ++i) {
    open.push_back({first_number + static_cast<int>(i), levels[i]});
    while (open.size() > 1 && open[open.size() - 2].level == open.back().level) close_pair();
  }
  while (open.size() > 1) {
    if (open.back().level < open[open.size() - 2].level) {
      adds.push_back({open.back().number, -1});
      open.back().level = open[open.size() - 2].level;
    }
    close_pair();
  }
  return open.front().number;
}

}  // namespace

RowNodes::RowNodes(const RowShare& share, const std::vector<std::vector<int>>& chain_segments) {
  std::map<std::vector<int>, int> known;
  for (const auto& segments : chain_segments) {
    const auto [at, is_new] = known.try_emplace(segments, static_cast<int>(lists_.size()));
    list_of_chain_.push_back(at->second);
    if (!is_new) continue;
    List list;
    list.segments = segments;
    std::vector<int> next(static_cast<std::size_t>(share.num_ranks()));  // next index in each rank's record
    std::vector<int> sums;  // numbers that hold the sums of segments
    int own_tiles = 0;
    for (const int segment : segments) {
      const auto s = static_cast<std::size_t>(segment);
      const int first = static_cast<int>(list.places.size());
      std::vector<int> levels;
      for (int rank = 0; rank < share.num_ranks(); ++rank)
        for (const Node& node : nodes_of(share.tiles_of(rank, s), share.num_tiles(s))) {
          list.places.push_back({rank, next[static_cast<std::size_t>(rank)]++});
          levels.push_back(node.level);
          if (rank == share.rank())
            list.own.push_back({own_tiles + node.first - share.tiles_of(rank, s).first, node.count,
                                node.count < (1LL << node.level)});
        }
      own_tiles += share.tiles_of(share.rank(), s).size();
      if (levels.empty()) {
        list.places.push_back({-1, 0});
        levels.push_back(0);
      }
      sums.push_back(add_segment(levels, first, list.adds));
      list.num_rows += share.segments()[s].num_rows;
      list.num_tiles += static_cast<std::size_t>(share.num_tiles(s));
    }
    while (sums.size() > 1) {
      const std::size_t pairs = sums.size() / 2;
      for (std::size_t i = 0; i < pairs; ++i) {
        list.adds.push_back({sums[2 * i], sums[2 * i + 1]});
        sums[i] = sums[2 * i];
      }
      if (sums.size() % 2) {
        list.adds.push_back({sums.back(), -1});
        sums[pairs] = sums.back();
      }
      sums.resize(pairs + sums.size() % 2);
    }
    if (!sums.empty()) list.result = sums[0];
    for (const int count : next) width_ = std::max(width_, static_cast<std::size_t>(count));
    lists_.push_back(std::move(list));
  }
}

void RowNodes::sum_own(const List& list, double* tile_sums, double* record) {
  for (std::size_t i = 0; i < list.own.size(); ++i) {
    const OwnNode& node = list.own[i];
    const double sum = tree_sum({tile_sums + node.first, static_cast<std::size_t>(node.count)});
    record[i] = node.is_padded ? sum + 0.0 : sum;
  }
}

double RowNodes::sum_of(const List& list, const double* first, std::size_t stride,
                        std::vector<double>& numbers) {
  if (list.result < 0) return 0;
  numbers.clear();
  for (const Place& place : list.places)
    numbers.push_back(
        place.rank < 0
            ? 0
            : first[static_cast<std::size_t>(place.rank) * stride + static_cast<std::size_t>(place.index)]);
  for (const Add& add : list.adds)
    numbers[static_cast<std::size_t>(add.to)] +=
        add.from < 0 ? 0.0 : numbers[static_cast<std::size_t>(add.from)];
  return numbers[static_cast<std::size_t>(list.result)];
}

namespace {

std::vector<std::vector<int>> each_segment(std::size_t num_segments) {
  std::vector<std::vector<int>> lists;
  for (std::size_t s = 0; s < num_segments; ++s) lists.push_back({static_cast<int>(s)});
  return lists;
}

}  // namespace

SharedSegmentSums::SharedSegmentSums(const RowShare& share)
    : share_(share), nodes_(share, each_segment(share.segments().size())) {}

void SharedSegmentSums::gather(double* tile_sums, std::size_t stride, int num_points, double* sums) const {
  const std::size_t num_segments = share_.segments().size(), width = nodes_.width();
  const std::size_t of_rank = static_cast<std::size_t>(num_points) * num_segments * width;
  std::vector<double> records(of_rank * static_cast<std::size_t>(share_.num_ranks()));
  double* const mine = records.data() + static_cast<std::size_t>(share_.rank()) * of_rank;
  double* record = mine;
  for (int point = 0; point < num_points; ++point) {
    double* tiles = tile_sums + static_cast<std::size_t>(point) * stride;
    for (std::size_t s = 0; s < num_segments; ++s, record += width) {
      RowNodes::sum_own(nodes_.lists()[s], tiles, record);
      tiles += share_.tiles_of(share_.rank(), s).size();
    }
  }
  const std::vector<std::size_t> bytes(static_cast<std::size_t>(share_.num_ranks()),
                                       of_rank * sizeof(double));
  share_.ranks().all_gather(mine, bytes, records.data());
  std::vector<double> numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(num_points) * num_segments; ++i)
    sums[i] =
        RowNodes::sum_of(nodes_.lists()[i % num_segments], records.data() + i * width, of_rank, numbers);
}

}  // namespace emomc
