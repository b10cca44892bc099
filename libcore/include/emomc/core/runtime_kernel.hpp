// Compiles CUDA kernels at run time with NVRTC, from device headers: those that each library embeds in the
// program, and those of a user's likelihood. Problem sizes are thus compile-time constants. NVRTC is loaded
// when it is first needed; compiling needs no GPU. The machine code is cached on disk
// (runtime_kernel_cache()) under a hash of everything that it depends on.
//
// In a build without CUDA, and if NVRTC is missing, compile_kernel throws MachineError.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/execution.hpp"

namespace emomc {

/// A header that is passed to NVRTC.
struct DeviceSource {
  std::string name;  ///< name by which it is included, e.g. "emomc/device/math.hpp"
  std::string text;
  bool operator==(const DeviceSource&) const = default;
};
using DeviceSources = std::vector<DeviceSource>;

/// The headers of libcore under emomc/device, which every kernel may include.
const DeviceSources& core_device_sources();

/// A likelihood type of row_likelihood.hpp, Sized<L, ...>, and the headers that declare it.
struct DeviceCode {
  std::string type;                  ///< qualified C++ name with template arguments
  std::vector<std::string> headers;  ///< headers that declare `type`, by the names under which they are
                                     ///< included
  /// Headers in addition to libcore's; must outlive the object.
  std::vector<const DeviceSources*> sources;
};

struct KernelSource {
  /// Headers that declare the kernel and its template arguments, by the names under which they are included.
  std::vector<std::string> headers;
  std::string kernel;                     ///< qualified C++ name with template arguments
  std::vector<std::string> defines = {};  ///< macros, each "NAME=VALUE"
  /// Headers in addition to libcore's; must outlive the object.
  std::vector<const DeviceSources*> sources = {};
};

/// Machine code of one kernel.
struct KernelCode {
  std::string symbol;  ///< name of the kernel in `code`
  std::string code;    ///< machine code (cubin)
  int registers = 0;   ///< number of registers per thread
  int spilled = 0;     ///< bytes of registers that are spilled to memory, per thread
  int stack = 0;   ///< bytes of memory per thread: spilled registers, and arrays that are not in registers
  int shared = 0;  ///< bytes of static shared memory, per block
};

/// The reason why NVRTC cannot be used; empty if it can.
std::string runtime_compiler_problem();

/// Compiles a kernel for `architecture`, e.g. "sm_90", or takes it from the cache if `use_cache` is true.
/// Throws MachineError with the compiler's messages.
KernelCode compile_kernel(const KernelSource& source, const std::string& architecture, bool use_cache = true);

/// Directory of the cache: $EMOMC_CACHE_DIR, else $XDG_CACHE_HOME/emomc, else ~/.cache/emomc; empty: there is
/// no cache.
std::string runtime_kernel_cache();

/// A kernel that can be launched on the current GPU.
class RuntimeKernel {
 public:
  /// Compiles the kernel for the current GPU or takes it from the cache. Throws MachineError.
  explicit RuntimeKernel(const KernelSource& source);
  ~RuntimeKernel();
  RuntimeKernel(const RuntimeKernel&) = delete;
  RuntimeKernel& operator=(const RuntimeKernel&) = delete;

  /// The kernel's handle for cudaLaunchKernelExC and cudaFuncSetAttribute.
  const void* function() const;
  int registers() const { return registers_; }
  int spilled() const { return spilled_; }
  std::size_t shared() const { return shared_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int registers_ = 0, spilled_ = 0;
  std::size_t shared_ = 0;
};

}  // namespace emomc
