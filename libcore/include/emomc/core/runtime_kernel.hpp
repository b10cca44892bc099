// CUDA kernels compiled while the program runs, by NVRTC, from the device headers that the program carries:
// so each has the sizes of the problem as constants. NVRTC is looked for when it is first needed; compiling
// needs no GPU. Machine code is kept on disk (runtime_kernel_cache()) by a hash of all that went into it.
//
// In a build without CUDA, and where NVRTC is missing, compile_kernel throws MachineError.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/execution.hpp"

namespace emomc {

struct KernelSource {
  std::string header;                     ///< that has the kernel, e.g. "emomc/device/resident_chain.cuh"
  std::string kernel;                     ///< its C++ name with template arguments, qualified
  std::vector<std::string> defines = {};  ///< "NAME=VALUE"
  bool operator==(const KernelSource&) const = default;
};

/// Machine code of one kernel.
struct KernelCode {
  std::string symbol;  ///< its name in the code
  std::string code;    ///< cubin
  int registers = 0;   ///< per thread
  int spilled = 0;     ///< bytes of registers written to memory, per thread
  int shared = 0;      ///< bytes of static shared memory, per block
};

/// Why NVRTC cannot be used here; empty: it can.
std::string runtime_compiler_problem();

/// `architecture`: "sm_90". From the cache, where `use_cache` says so. Throws MachineError with the
/// compiler's words.
KernelCode compile_kernel(const KernelSource& source, const std::string& architecture, bool use_cache = true);

/// SHA-256 of the device headers, hexadecimal: which source a measurement or a cached kernel is of.
std::string device_sources_sha256();

/// Where compiled kernels are kept: $EMOMC_CACHE_DIR, else $XDG_CACHE_HOME/emomc, else ~/.cache/emomc;
/// empty: nowhere.
std::string runtime_kernel_cache();

/// A kernel that can be launched on the current GPU.
class RuntimeKernel {
 public:
  /// Compiles or finds it. Throws MachineError.
  explicit RuntimeKernel(const KernelSource& source);
  ~RuntimeKernel();
  RuntimeKernel(const RuntimeKernel&) = delete;
  RuntimeKernel& operator=(const RuntimeKernel&) = delete;

  /// For cudaLaunchKernelExC and cudaFuncSetAttribute.
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
