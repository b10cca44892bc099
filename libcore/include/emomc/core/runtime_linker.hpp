// Links code of other compilers into kernels that are compiled at run time: LTO IR of a function that a
// kernel's header declares `extern "C" __device__`. The kernel is then compiled to LTO IR too, and nvJitLink
// links both into one machine code, in which the function is inlined. nvJitLink is loaded when it is first
// needed and needs no GPU.
#pragma once

#include <string>

namespace emomc {

/// A DeviceSource whose name has this ending is not a header: its text is LTO IR that is linked.
inline constexpr const char* kLinkedCode = ".ltoir";

/// The reason why nvJitLink cannot be used; empty if it can.
std::string runtime_linker_problem();

}  // namespace emomc
