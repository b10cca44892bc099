#include "nvjitlink.hpp"

#include <array>
#include <memory>

#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_linker.hpp"
#include "toolkit_library.hpp"

namespace emomc {
namespace {

NvJitLink find() {
  NvJitLink result;
  ToolkitLibrary library("nvJitLink");
  library.get(result.version, "nvJitLinkVersion");
  library.get(result.create, "nvJitLinkCreate");
  library.get(result.destroy, "nvJitLinkDestroy");
  library.get(result.add_data, "nvJitLinkAddData");
  library.get(result.complete, "nvJitLinkComplete");
  library.get(result.error_log_size, "nvJitLinkGetErrorLogSize");
  library.get(result.error_log, "nvJitLinkGetErrorLog");
  library.get(result.info_log_size, "nvJitLinkGetInfoLogSize");
  library.get(result.info_log, "nvJitLinkGetInfoLog");
  library.get(result.cubin_size, "nvJitLinkGetLinkedCubinSize");
  library.get(result.cubin, "nvJitLinkGetLinkedCubin");
  result.problem = library.problem();
  if (result.problem.empty() && result.version(&result.major, &result.minor) != NVJITLINK_SUCCESS)
    result.problem = "libnvJitLink does not say its version";
  return result;
}

template <class Size, class Get>
std::string text_of(nvJitLinkHandle handle, Size size_of, Get get) {
  std::size_t size = 0;
  if (size_of(handle, &size) != NVJITLINK_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  return get(handle, text.data()) == NVJITLINK_SUCCESS ? std::string(text.c_str()) : "";
}

}  // namespace

const NvJitLink& nvjitlink() {
  static const NvJitLink found = find();
  return found;
}

std::string runtime_linker_problem() { return nvjitlink().problem; }

LinkedCode link_code(const std::vector<std::string_view>& pieces, const std::string& architecture) {
  const NvJitLink& api = nvjitlink();
  if (!api.problem.empty()) throw MachineError("kernels cannot be linked: " + api.problem);
  const std::string target = "-arch=" + architecture;
  // Contraction is off, as in all other code here.
  std::array<const char*, 5> options{target.c_str(), "-lto", "-fma=0", "-Xptxas=-v", "-verbose"};
  nvJitLinkHandle handle = nullptr;
  const auto check = [&](nvJitLinkResult status, const char* call) {
    if (status != NVJITLINK_SUCCESS)
      throw MachineError(std::string(call) + " failed (" + std::to_string(status) +
                         "): " + (handle ? text_of(handle, api.error_log_size, api.error_log) : ""));
  };
  check(api.create(&handle, static_cast<unsigned>(options.size()), options.data()), "nvJitLinkCreate");
  const std::unique_ptr<nvJitLinkHandle, void (*)(nvJitLinkHandle*)> owner(
      &handle, [](nvJitLinkHandle* h) { nvjitlink().destroy(h); });
  for (const std::string_view piece : pieces)
    check(api.add_data(handle, NVJITLINK_INPUT_LTOIR, piece.data(), piece.size(), "emomc"),
          "nvJitLinkAddData");
  check(api.complete(handle), "nvJitLinkComplete");
  LinkedCode result;
  std::size_t size = 0;
  check(api.cubin_size(handle, &size), "nvJitLinkGetLinkedCubinSize");
  result.cubin.resize(size);
  check(api.cubin(handle, result.cubin.data()), "nvJitLinkGetLinkedCubin");
  result.log = text_of(handle, api.info_log_size, api.info_log);
  return result;
}

}  // namespace emomc
