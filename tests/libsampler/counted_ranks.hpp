// A connection of devices that counts its gathers.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "emomc/core/rank_gather.hpp"

namespace emomc::testing {

class CountedRanks final : public DeviceRanks {
 public:
  /// Connects devices as connect_devices() does. Collective. `gathers` counts the gathers of all ranks.
  CountedRanks(Device& device, Communicator& ranks, std::atomic<int>& gathers)
      : DeviceRanks(device, ranks), connection_(connect_devices(device, ranks)), gathers_(gathers) {}
  std::string way() const override { return connection_->way(); }
  std::unique_ptr<Gather> make_gather(std::size_t bytes) override {
    ++gathers_;
    return connection_->make_gather(bytes);
  }

 private:
  std::shared_ptr<DeviceRanks> connection_;
  std::atomic<int>& gathers_;
};

}  // namespace emomc::testing
