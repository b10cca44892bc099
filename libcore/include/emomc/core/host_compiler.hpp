// Compiles host code at run time with the system's C++ compiler, from the same device headers as kernels
// (runtime_kernel.hpp). The CPU engine uses it for a likelihood that the user wrote. The compiler is started
// without a shell. Its result is cached in a folder that belongs to the user, and is loaded only if its hash
// is right.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/runtime_kernel.hpp"

namespace emomc {

/// A translation unit that includes device headers only.
struct HostSource {
  std::string text;
  /// Headers in addition to libcore's, under the names by which they are included; must outlive the call.
  std::vector<const DeviceSources*> sources = {};
  /// Include name of a header that the user wrote, and its file: errors in that header are reported as the
  /// user's. Empty if there is none.
  std::string own_header = {}, own_file = {};
};

/// Build type: `release` optimises for speed; `debug` is for a debugger, without optimisation, and keeps the
/// source text in the cache.
enum class HostBuild { release, debug };

/// A shared library in this process; unloaded with the last copy of the pointer.
class HostLibrary {
 public:
  virtual ~HostLibrary() = default;
  /// Returns the address of symbol `name`. Throws MachineError if the library has no such symbol.
  virtual void* symbol(const std::string& name) const = 0;
  /// The first line of the compiler's version text, and the flags; part of a run's identity.
  virtual const std::string& compiler() const = 0;
};

/// Compiles and loads `source`, or takes the library from runtime_kernel_cache(); without a cache the source
/// is compiled anew. The compiler is $EMOMC_CXX, else the first of c++, g++ and clang++ that is found. Throws
/// MachineError, with the compiler's first error, if there is no compiler, if the compiler fails, is killed
/// or takes more than two minutes, and if the cache does not belong to the user. Throws InputError, with file
/// and line, for errors in `own_header`.
std::shared_ptr<const HostLibrary> compile_host_library(const HostSource& source,
                                                        HostBuild build = HostBuild::release);

/// The reason why no compiler can be used; empty if there is one.
std::string host_compiler_problem();

}  // namespace emomc
