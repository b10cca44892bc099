// The headers under emomc/device, as the program carries them (cmake/EmbedDeviceSources.cmake).
#pragma once

#include <vector>

namespace emomc {

struct DeviceSource {
  const char* name;  ///< as it is included, e.g. "emomc/device/math.hpp"
  const char* text;
};

const std::vector<DeviceSource>& device_sources();

}  // namespace emomc
