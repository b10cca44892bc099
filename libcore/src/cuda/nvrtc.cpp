#include "nvrtc.hpp"

#include "toolkit_library.hpp"

namespace emomc {
namespace {

Nvrtc find() {
  Nvrtc result;
  ToolkitLibrary library("nvrtc");
  library.get(result.error_string, "nvrtcGetErrorString");
  library.get(result.version, "nvrtcVersion");
  library.get(result.create_program, "nvrtcCreateProgram");
  library.get(result.destroy_program, "nvrtcDestroyProgram");
  library.get(result.add_name_expression, "nvrtcAddNameExpression");
  library.get(result.compile_program, "nvrtcCompileProgram");
  library.get(result.lowered_name, "nvrtcGetLoweredName");
  library.get(result.log_size, "nvrtcGetProgramLogSize");
  library.get(result.log, "nvrtcGetProgramLog");
  library.get(result.cubin_size, "nvrtcGetCUBINSize");
  library.get(result.cubin, "nvrtcGetCUBIN");
  library.get(result.lto_ir_size, "nvrtcGetLTOIRSize");
  library.get(result.lto_ir, "nvrtcGetLTOIR");
  result.problem = library.problem();
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
