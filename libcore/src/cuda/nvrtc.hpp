// Access to NVRTC, which is loaded when it is first needed: a machine may have a driver but no toolkit.
#pragma once

#include <nvrtc.h>

#include <string>

namespace emomc {

/// The functions of libnvrtc that are used here.
struct Nvrtc {
  std::string problem;  ///< reason why the library cannot be used; empty if it can
  int major = 0, minor = 0;
  decltype(&nvrtcGetErrorString) error_string = nullptr;
  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcCreateProgram) create_program = nullptr;
  decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&nvrtcAddNameExpression) add_name_expression = nullptr;
  decltype(&nvrtcCompileProgram) compile_program = nullptr;
  decltype(&nvrtcGetLoweredName) lowered_name = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;
  decltype(&nvrtcGetLTOIRSize) lto_ir_size = nullptr;
  decltype(&nvrtcGetLTOIR) lto_ir = nullptr;
};

/// Finds the library at the first call; later calls return the same object.
const Nvrtc& nvrtc();

}  // namespace emomc
