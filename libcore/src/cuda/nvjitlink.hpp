// Access to nvJitLink, which is loaded when it is first needed.
#pragma once

#include <nvJitLink.h>

#include <string>
#include <string_view>
#include <vector>

namespace emomc {

/// The functions of libnvJitLink that are used here.
struct NvJitLink {
  std::string problem;  ///< reason why the library cannot be used; empty if it can
  unsigned major = 0, minor = 0;
  decltype(&nvJitLinkVersion) version = nullptr;
  decltype(&nvJitLinkCreate) create = nullptr;
  decltype(&nvJitLinkDestroy) destroy = nullptr;
  decltype(&nvJitLinkAddData) add_data = nullptr;
  decltype(&nvJitLinkComplete) complete = nullptr;
  decltype(&nvJitLinkGetErrorLogSize) error_log_size = nullptr;
  decltype(&nvJitLinkGetErrorLog) error_log = nullptr;
  decltype(&nvJitLinkGetInfoLogSize) info_log_size = nullptr;
  decltype(&nvJitLinkGetInfoLog) info_log = nullptr;
  decltype(&nvJitLinkGetLinkedCubinSize) cubin_size = nullptr;
  decltype(&nvJitLinkGetLinkedCubin) cubin = nullptr;
};

/// Finds the library at the first call; later calls return the same object.
const NvJitLink& nvjitlink();

struct LinkedCode {
  std::string cubin;
  std::string log;  ///< output of ptxas -v
};
/// Links pieces of LTO IR for an architecture such as "sm_90". Throws MachineError with the linker's
/// messages.
LinkedCode link_code(const std::vector<std::string_view>& pieces, const std::string& architecture);

}  // namespace emomc
