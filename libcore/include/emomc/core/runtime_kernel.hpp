// CUDA kernels that NVRTC compiles at run time from device headers: those that each library embeds in the
// program, and those of a user's likelihood. So problem sizes are compile-time constants. NVRTC is loaded
// when it is first needed; compiling needs no GPU. The machine code is cached on disk
// (runtime_kernel_cache()) under a hash of everything that it depends on.
//
// In a build without CUDA, and where NVRTC is missing, compile_kernel throws MachineError.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/execution.hpp"

namespace emomc {

/// A header as NVRTC takes it.
struct DeviceSource {
  std::string name;  ///< as it is included, e.g. "emomc/device/math.hpp"
  std::string text;
  bool operator==(const DeviceSource&) const = default;
};
using DeviceSources = std::vector<DeviceSource>;

/// The headers under emomc/device of libcore, which every kernel may include.
const DeviceSources& core_device_sources();

/// A type of row_likelihood.hpp, Sized<L, ...>, and where it is declared.
struct DeviceCode {
  std::string type;                  ///< qualified C++ name with template arguments
  std::vector<std::string> headers;  ///< that declare it, as they are included
  /// Headers beside libcore's; they outlive the object.
  std::vector<const DeviceSources*> sources;
};

struct KernelSource {
  /// Headers that declare the kernel and its template arguments, as they are included.
  std::vector<std::string> headers;
  std::string kernel;                     ///< qualified C++ name with template arguments
  std::vector<std::string> defines = {};  ///< "NAME=VALUE"
  /// Headers beside libcore's; they outlive the object.
  std::vector<const DeviceSources*> sources = {};
};

/// Machine code of one kernel.
struct KernelCode {
  std::string symbol;  ///< name of the kernel in the code
  std::string code;    ///< cubin
  int registers = 0;   ///< per thread
  int spilled = 0;     ///< bytes of registers that are spilled to memory, per thread
  int shared = 0;      ///< bytes of static shared memory, per block
};

/// The reason why NVRTC cannot be used here; empty where it can.
std::string runtime_compiler_problem();

/// Compiles a kernel for `architecture`, e.g. "sm_90", or takes it from the cache where `use_cache` allows
/// it. Throws MachineError with the compiler's messages.
KernelCode compile_kernel(const KernelSource& source, const std::string& architecture, bool use_cache = true);

/// Directory of the cache: $EMOMC_CACHE_DIR, else $XDG_CACHE_HOME/emomc, else ~/.cache/emomc; empty: no
/// cache.
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
