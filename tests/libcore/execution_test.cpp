// Tests the queue of a device whose work runs on the host.
#include "emomc/core/execution.hpp"

#include <gtest/gtest.h>

namespace emomc {
namespace {

TEST(HostDevice, RepeatsWorkAsLongAsAFlagIsSet) {
  const auto device = make_host_device();
  DeviceArray<std::uint8_t> flags(*device, 3);
  int count = 0;
  const auto graph = device->capture_while(
      [&] {
        ++count;
        for (int i = 0; i < 3; ++i)
          if (flags.data()[i] > 0) --flags.data()[i];
      },
      {flags.data(), 3}, RepeatedBy::device);
  EXPECT_EQ(count, 0);
  flags.upload({1, 4, 0});
  device->launch(*graph);
  EXPECT_EQ(count, 4);
  device->launch(*graph);  // the work runs once, also if no flag is set
  EXPECT_EQ(count, 5);
  EXPECT_FALSE(graph->is_repeated_by_host());
}

}  // namespace
}  // namespace emomc
