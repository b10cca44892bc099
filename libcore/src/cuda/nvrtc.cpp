#include "nvrtc.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

namespace emomc {
namespace {

void* open_library() {
  const std::string major = std::to_string(CUDART_VERSION / 1000);
  for (const std::string& name :
       {"libnvrtc.so." + major, std::string("libnvrtc.so"), "/usr/local/cuda/lib64/libnvrtc.so." + major,
        std::string("/usr/local/cuda/lib64/libnvrtc.so")})
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

Nvrtc find() {
  Nvrtc result;
  void* library = open_library();
  if (!library) {
    result.problem = "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000) +
                     " was not found; it comes with the CUDA toolkit (LD_LIBRARY_PATH says where)";
    return result;
  }
  const auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function) result.problem = "libnvrtc has no " + std::string(name);
  };
  get(result.error_string, "nvrtcGetErrorString");
  get(result.version, "nvrtcVersion");
  get(result.create_program, "nvrtcCreateProgram");
  get(result.destroy_program, "nvrtcDestroyProgram");
  get(result.add_name_expression, "nvrtcAddNameExpression");
  get(result.compile_program, "nvrtcCompileProgram");
  get(result.lowered_name, "nvrtcGetLoweredName");
  get(result.log_size, "nvrtcGetProgramLogSize");
  get(result.log, "nvrtcGetProgramLog");
  get(result.cubin_size, "nvrtcGetCUBINSize");
  get(result.cubin, "nvrtcGetCUBIN");
  get(result.lto_ir_size, "nvrtcGetLTOIRSize");
  get(result.lto_ir, "nvrtcGetLTOIR");
  if (result.problem.empty() && result.version(&result.major, &result.minor) != NVRTC_SUCCESS)
    result.problem = "libnvrtc does not say its version";
  return result;
}

}  // namespace

const Nvrtc& nvrtc() {
  static const Nvrtc found = find();
  return found;
}

}  // namespace emomc
