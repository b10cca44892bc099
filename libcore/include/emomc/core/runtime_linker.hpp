// Code of other compilers in kernels that are compiled at run time: LTO IR of a function that a kernel's
// header declares `extern "C" __device__`. The kernel is then compiled to LTO IR too, and nvJitLink makes one
// code of both, in which the function is inlined. nvJitLink is loaded when it is first needed and needs no
// GPU.
#pragma once

#include <string>

namespace emomc {

/// A DeviceSource whose name ends so is no header: its text is LTO IR that is linked.
inline constexpr const char* kLinkedCode = ".ltoir";

/// The reason why nvJitLink cannot be used here; empty where it can.
std::string runtime_linker_problem();

}  // namespace emomc
