// Computes sums of chains whose rows are divided over ranks, each with a GPU.
#pragma once

#include <memory>
#include <vector>

#include "../row_share.hpp"
#include "emomc/core/rank_gather.hpp"
#include "emomc/device/node_layout.hpp"

namespace emomc {

/// Tables of the chains' lists in device memory, and the records of these lists; built once for each
/// allocate().
class SharedRows {
 public:
  /// A collective call. Throws MachineError where a list has more nodes than the kernels have room for.
  SharedRows(const RowShare& share, const std::shared_ptr<DeviceRanks>& devices,
             const std::vector<std::vector<int>>& chain_segments);

  const RowNodes& nodes() const { return nodes_; }
  /// Number of rows of each list on all ranks; device memory.
  const double* num_rows() const { return num_rows_.data(); }
  std::size_t shared_bytes() const { return shared_bytes_; }
  /// Bytes of device memory of the records of `num_chains` chains.
  static std::size_t bytes(const RowShare& share, const std::vector<std::vector<int>>& chain_segments);

  /// The arguments of a kernel that finishes chains, without tile sums, `common` and log likelihoods.
  device::NodeSumsView view(ActiveSet active) const;
  /// Enqueues the computation of this rank's nodes and the gathering of all ranks' nodes. `view` contains the
  /// sums of tiles.
  void gather(const device::NodeSumsView& view, Stream stream);

 private:
  int rank_;
  RowNodes nodes_;
  int most_own_ = 0;
  std::size_t shared_bytes_ = 0;
  DeviceArray<int> list_of_chain_, first_node_, first_place_, first_add_, results_;
  DeviceArray<device::IntPair> own_, places_, adds_;
  DeviceArray<double> num_rows_, records_;
  std::unique_ptr<RankGather> gather_;
};

}  // namespace emomc
