// The log likelihoods of several candidates in resident_wide.cuh. Each block sums its own rows and sends the
// sums of pieces to the other blocks. A warp processes one node at a time, whose rows are in registers for
// all candidates.
#ifndef EMOMC_DEVICE_WIDE_EVALUATION_CUH
#define EMOMC_DEVICE_WIDE_EVALUATION_CUH

#include "emomc/device/resident_block.cuh"
#include "emomc/device/told_numbers.cuh"

namespace emomc::device {

/// Number of bits of a set's number where the numbers of several lines are packed into one, the first line's
/// in the lowest bits.
inline constexpr int kWideSetBits = 4;

template <class Config>
class WideEvaluation {
  using Real = typename Config::Real;
  using Block = ResidentBlock<Config>;
  static constexpr int kRows = Config::rows, kLines = Config::lines, kWarps = Config::evaluators;

 public:
  __device__ explicit WideEvaluation(const Block& block) : block_(block) {}

  /// Sums the block's own rows for the candidates of `lines` (one bit each), whose sets are in `sets`, and
  /// sends the sums to the other blocks. Contains a barrier of the block. Exchanges are counted from 1.
  __device__ void evaluate(unsigned lines, u32 exchange, unsigned sets) const {
    const int num_own = block_.num_own;
    // If there are few nodes, each warp takes a node for one candidate only, so that all warps have work.
    const bool apart = kLines > 1 && num_own < kFewNodes * kWarps;
    const int num_items = apart ? num_own * kLines : num_own;
#pragma unroll 1
    for (int item = block_.warp; item < num_items; item += kWarps) {
      const int own = apart ? item / kLines : item;
      const RowNode node = block_.places.nodes[own];
      const Rows rows = rows_of(own, node);
      Real x[Config::dim][kRows];
#pragma unroll
      for (int j = 0; j < Config::dim; ++j) load_rows(rows.first + j * rows.stride, x[j]);
      double held = 0;  // sum of the preceding line
#pragma unroll 1
      for (int line = apart ? item % kLines : 0; line < kLines; ++line) {
        double sum = 0;
        if (lines >> line & 1)
          sum = own_sum(static_cast<const Real*>(
                            block_.places.coefficients(static_cast<int>(sets >> (kWideSetBits * line) & 15))),
                        x, rows, node.num_rows);
        double* to = block_.places.node_sums + line * block_.work.nodes_per_block + own;
        if (kLines == 1 || apart) {
          sum = sum_over_lanes(sum);
          if (block_.lane == 0) *to = sum;
          break;
        }
        if (line % 2 != 0) {
          const double of_lane = sum_two_over_lanes(held, sum);
          if (block_.lane < 2) to[(block_.lane - 1) * block_.work.nodes_per_block] = of_lane;
        }
        held = sum;
      }
    }
    __syncthreads();
    tell(lines, exchange);
  }

  /// Whether one team collects the sums as fast as all warps.
  __device__ bool is_collected_by_one_team() const {
    constexpr int kRounds = 2;
    return (pieces() + 31) / 32 * kLines <= kRounds * kTeamWarps * kAtOnce;
  }

  /// Waits for the sums of all blocks in the exchange; called by the warps from `first_warp` on, which are
  /// one team or all. A barrier of the block must follow.
  __device__ void collect(unsigned lines, u32 exchange, int first_warp) const {
    const int num_warps = first_warp == 0 ? kWarps : kTeamWarps;
    const int num_pieces = pieces(), groups = (num_pieces + 31) / 32;
    const bool one_tree = block_.work.max_segments <= 1;
#pragma unroll 1
    for (int begin = block_.warp - first_warp; begin < groups * kLines; begin += num_warps * kAtOnce) {
      const u64* place[kAtOnce];
      double value[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int task = begin + i * num_warps, line = task % kLines,
                  piece = task / kLines * 32 + block_.lane;
        const bool is_told = piece < num_pieces && (lines >> line & 1) != 0;
        place[i] = is_told ? told(line, exchange) + kToldWords * piece : nullptr;
        value[i] = 0;
      }
      bool all;
      do {
        all = true;
        ToldNumber number[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i)
          if (place[i]) number[i] = ToldNumber::read(place[i]);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          if (!place[i]) continue;
          if (number[i].is_of(exchange)) {
            value[i] = number[i].value();
            place[i] = nullptr;
          } else {
            all = false;
          }
        }
      } while (!all);
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int task = begin + i * num_warps, line = task % kLines, group = task / kLines;
        if (task >= groups * kLines) continue;
        double* sums = block_.places.sums + line * num_sums();
        if (one_tree) {
          const double sum = sum_over_lanes(value[i]);
          if (block_.lane == 0) sums[group] = sum;
        } else if (group * 32 + block_.lane < num_pieces) {
          sums[group * 32 + block_.lane] = value[i];
        }
      }
    }
  }

  /// Returns the log likelihood of a line's candidate to the calling warp; collect() and a barrier must
  /// precede.
  __device__ double total(int line, double common) const {
    const ResidentWork& work = block_.work;
    const double* sums = block_.places.sums + line * num_sums();
    double sum;
    if (work.max_segments <= 1) {
      const int groups = (pieces() + 31) / 32;
      sum = groups <= 32 ? sum_over_lanes(block_.lane < groups ? sums[block_.lane] : 0.0)
                         : sum_by_warp(sums, groups);
    } else {
      double* segment_sums = block_.places.segment_sums + line * work.max_segments;
      const ListSegments segments = block_.segments();
      sum_segments(segments, block_.lane, segment_sums, [&](int first_node, int end_node) {
        const int begin = first_node >> work.log2_piece, end = end_node >> work.log2_piece;
        return sum_by_warp(sums + begin, end - begin);
      });
      sum = sum_by_warp(segment_sums, segments.count);
    }
    return Config::likelihood().log_likelihood(block_.scalars.total_of_rows, common, sum);
  }

 private:
  static constexpr int kFewNodes = 2;  // number of nodes per warp
  static constexpr int kAtOnce = 4;    // number of groups of pieces whose loads overlap

  /// The thread's rows of a node, in shared or device memory.
  struct Rows {
    const Real* first;
    int stride;  ///< distance from one column to the next
  };
  __device__ Rows rows_of(int own, const RowNode& node) const {
    if (!Config::outside || own < block_.work.resident_nodes)
      return {static_cast<const Real*>(block_.places.rows) + own * Config::dim * Config::node_rows +
                  block_.lane * kRows,
              Config::node_rows};
    return {static_cast<const Real*>(block_.work.rows) + node.row / kTileRows * Config::dim * kTileRows +
                node.row % kTileRows + block_.lane * kRows,
            kTileRows};
  }

  /// Sums over the thread's rows.
  __device__ double own_sum(const Real* coefficients, const Real (&x)[Config::dim][kRows], const Rows& rows,
                            int num_rows) const {
    constexpr bool kFewWarps = true;
    const auto likelihood = Config::likelihood();
    Real value[kRows];
    likelihood.template evaluate<kFewWarps>(
        coefficients,
        [&x](int j, Real(&values)[kRows]) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) values[r] = x[j][r];
        },
        value);
    return likelihood.sum(coefficients,
                          RowsInMemory<Real>{rows.first, rows.stride, num_rows - block_.lane * kRows},
                          num_rows >= Config::node_rows, value);
  }

  __device__ void tell(unsigned lines, u32 exchange) const {
    const int per_piece = 1 << block_.work.log2_piece, count = block_.num_own >> block_.work.log2_piece;
    const int first = block_.first_own >> block_.work.log2_piece;
    for (int i = static_cast<int>(threadIdx.x); i < count * kLines; i += Config::threads) {
      const int line = i % kLines, piece = i / kLines;
      if ((lines >> line & 1) == 0) continue;
      double* values = block_.places.node_sums + line * block_.work.nodes_per_block + piece * per_piece;
#pragma unroll 1
      for (int m = per_piece / 2; m > 0; m /= 2)
#pragma unroll 1
        for (int p = 0; p < m; ++p) values[p] = values[2 * p] + values[2 * p + 1];
      tell_number(told(line, exchange) + kToldWords * (first + piece), values[0], exchange);
    }
  }

  __device__ int pieces() const { return block_.num_nodes >> block_.work.log2_piece; }
  __device__ int num_sums() const { return num_wide_sums(block_.work); }
  /// Returns the places of an exchange. They are written again two exchanges later, when all blocks have
  /// finished reading: every block has rows of every list (resident_plan.cpp) and therefore sends something
  /// in each exchange.
  __device__ u64* told(int line, u32 exchange) const {
    return block_.work.told + ((static_cast<i64>(block_.chain) * 2 + (exchange & 1)) * kLines + line) *
                                  num_pieces(block_.work) * kToldWords;
  }

  const Block& block_;
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_WIDE_EVALUATION_CUH
