#include "emomc/core/rank_gather.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace emomc {

RankGather::RankGather(Device& device, Communicator& ranks, std::vector<std::size_t> bytes)
    : device_(device), ranks_(ranks), bytes_(std::move(bytes)) {
  const auto rank = static_cast<std::size_t>(ranks.rank());
  for (std::size_t r = 0; r < bytes_.size(); ++r) {
    if (r == rank) first_ = total_;
    total_ += bytes_[r];
  }
  own_ = bytes_.at(rank);
  if (device.kind() == DeviceKind::cuda)
    host_ = static_cast<std::byte*>(device.allocate_host(std::max<std::size_t>(total_, 1)));
  gather_ = [this] { ranks_.all_gather(all_ + first_, bytes_, all_); };
}

RankGather::~RankGather() {
  if (host_) device_.release_host(host_);
}

void RankGather::enqueue(void* all) {
  auto* const array = static_cast<std::byte*>(all);
  if (!host_) {
    if (all_ && all_ != array) throw std::logic_error("RankGather: another array");
    all_ = array;
    device_.call(gather_);
    return;
  }
  all_ = host_;
  if (own_ > 0) device_.copy(host_ + first_, array + first_, own_);
  device_.call(gather_);
  if (first_ > 0) device_.copy(array, host_, first_);
  const std::size_t end = first_ + own_;
  if (end < total_) device_.copy(array + end, host_ + end, total_ - end);
}

}  // namespace emomc
