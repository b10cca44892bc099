#include <algorithm>
#include <string>

#include "emomc/core/cuda_launch.cuh"
#include "emomc/core/errors.hpp"
#include "emomc/device/node_sums.cuh"
#include "shared_rows.hpp"

namespace emomc {
namespace {

using device::IntPair;
using device::kNodeThreads;
using device::NodeSumsView;

__global__ void __launch_bounds__(kNodeThreads) node_sums_kernel(const __grid_constant__ NodeSumsView view) {
  device::sum_own_nodes<kNodeThreads>(view);
}

template <class T>
DeviceArray<T> uploaded(Device& device, const std::vector<T>& values) {
  DeviceArray<T> array(device, values.size());
  array.upload(values);
  return array;
}

}  // namespace

SharedRows::SharedRows(const RowShare& share, const std::shared_ptr<DeviceRanks>& devices,
                       const std::vector<std::vector<int>>& chain_segments)
    : rank_(share.rank()), nodes_(share, chain_segments) {
  constexpr std::size_t kMostPlaces = 5'000;  // limited by the shared memory of a block
  std::vector<int> first_node{0}, first_place{0}, first_add{0}, results;
  std::vector<IntPair> own, places, adds;
  std::vector<double> num_rows;
  std::size_t most_places = 1;
  for (const RowNodes::List& list : nodes_.lists()) {
    for (const auto& node : list.own) own.push_back({node.first, node.count});
    for (const auto& place : list.places) places.push_back({place.rank, place.index});
    for (const auto& add : list.adds) adds.push_back({add.to, add.from});
    first_node.push_back(static_cast<int>(own.size()));
    first_place.push_back(static_cast<int>(places.size()));
    first_add.push_back(static_cast<int>(adds.size()));
    results.push_back(list.result);
    num_rows.push_back(static_cast<double>(list.num_rows));
    most_own_ = std::max(most_own_, static_cast<int>(list.own.size()));
    most_places = std::max(most_places, list.places.size());
  }
  if (most_places > kMostPlaces)
    throw MachineError("rows over devices: a chain reads segments with " + std::to_string(most_places) +
                       " nodes in all; there is room for " + std::to_string(kMostPlaces));
  shared_bytes_ = most_places * sizeof(double);
  Device& device = devices->device();
  list_of_chain_ = uploaded(device, nodes_.list_of_chain());
  first_node_ = uploaded(device, first_node);
  first_place_ = uploaded(device, first_place);
  first_add_ = uploaded(device, first_add);
  results_ = uploaded(device, results);
  own_ = uploaded(device, own);
  places_ = uploaded(device, places);
  adds_ = uploaded(device, adds);
  num_rows_ = uploaded(device, num_rows);
  const auto num_ranks = static_cast<std::size_t>(share.num_ranks()), n = chain_segments.size();
  records_ = {device, num_ranks * n * nodes_.width()};
  gather_ = std::make_unique<RankGather>(
      devices, std::vector<std::size_t>(num_ranks, nodes_.width() * sizeof(double)), n);
}

std::size_t SharedRows::bytes(const RowShare& share, const std::vector<std::vector<int>>& chain_segments) {
  return RowNodes(share, chain_segments).width() * chain_segments.size() *
         static_cast<std::size_t>(share.num_ranks()) * sizeof(double);
}

NodeSumsView SharedRows::view(ActiveSet active) const {
  NodeSumsView view{};
  view.tables = {list_of_chain_.data(), first_node_.data(),
                 own_.data(),           first_place_.data(),
                 places_.data(),        first_add_.data(),
                 adds_.data(),          results_.data(),
                 num_rows_.data(),      static_cast<int>(nodes_.width())};
  view.active = active;
  view.rank = rank_;
  view.records = records_.data();
  return view;
}

void SharedRows::gather(const NodeSumsView& view, Stream stream) {
  if (most_own_ > 0)
    launch_kernel("launch of node_sums_kernel", Overlap::yes, node_sums_kernel,
                  dim3(static_cast<unsigned>(most_own_), static_cast<unsigned>(view.active.count)),
                  dim3(kNodeThreads), 0, stream, view);
  gather_->enqueue(records_.data(), static_cast<std::size_t>(view.active.count));
}

}  // namespace emomc
