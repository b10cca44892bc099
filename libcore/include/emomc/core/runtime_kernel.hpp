// CUDA kernels that NVRTC compiles at run time from the device headers that are embedded in the program, so
// that problem sizes are compile-time constants. NVRTC is loaded when it is first needed; compiling needs no
// GPU. The machine code is cached on disk (runtime_kernel_cache()) under a hash of everything that it depends
// on.
//
// In a build without CUDA, and where NVRTC is missing, compile_kernel throws MachineError.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/execution.hpp"

namespace emomc {

struct KernelSource {
  /// Header that declares the kernel, e.g. "emomc/device/resident_chain.cuh"
  std::string header;
  std::string kernel;                     ///< qualified C++ name with template arguments
  std::vector<std::string> defines = {};  ///< "NAME=VALUE"
  bool operator==(const KernelSource&) const = default;
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

/// SHA-256 of the device headers, hexadecimal; identifies the sources of a measurement or a cached kernel.
std::string device_sources_sha256();

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
