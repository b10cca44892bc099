// Host code that the system's C++ compiler makes at run time, from the same device headers as kernels
// (runtime_kernel.hpp): a likelihood of the user's own for the CPU. The compiler is started without a shell.
// Its result is cached in a folder of the user's own and loaded only where its hash is right.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/runtime_kernel.hpp"

namespace emomc {

/// A translation unit that includes device headers only.
struct HostSource {
  std::string text;
  /// Headers beside libcore's, under the names by which they are included; they outlive the call.
  std::vector<const DeviceSources*> sources = {};
  /// A header among them that the user wrote, and its file: errors in it are the user's. Empty: there is
  /// none.
  std::string own_header = {}, own_file = {};
};

/// How host code is compiled: for speed, or for a debugger, without optimisation and with its text kept in
/// the cache.
enum class HostBuild { release, debug };

/// A shared library in this process; unloaded with the last copy of the pointer.
class HostLibrary {
 public:
  virtual ~HostLibrary() = default;
  /// Throws MachineError where there is no such symbol.
  virtual void* symbol(const std::string& name) const = 0;
  /// The compiler's first line about itself, and the flags: part of a run's identity.
  virtual const std::string& compiler() const = 0;
};

/// Compiles and loads `source`, or takes it from runtime_kernel_cache(); without a cache it is compiled anew.
/// The compiler is $EMOMC_CXX, else the first of c++, g++ and clang++ that is there. Throws MachineError,
/// with the compiler's first error, where there is no compiler, it fails, is killed or takes more than two
/// minutes, and where the cache is not the user's own; InputError, with file and line, for errors in
/// `own_header`.
std::shared_ptr<const HostLibrary> compile_host_library(const HostSource& source,
                                                        HostBuild build = HostBuild::release);

/// The reason why there is no compiler; empty where there is one.
std::string host_compiler_problem();

}  // namespace emomc
