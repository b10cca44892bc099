// A library of the CUDA toolkit that is loaded when it is first needed: a machine may have a driver but no
// toolkit.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace emomc {

/// The functions of one library; it stays loaded until the process ends.
class ToolkitLibrary {
 public:
  /// `name`: for example, "nvrtc" stands for libnvrtc.so of CUDA's major version.
  explicit ToolkitLibrary(const std::string& name) : name_("lib" + name) {
    const std::string file = name_ + ".so", own = file + "." + std::to_string(CUDART_VERSION / 1000),
                      folder = "/usr/local/cuda/lib64/";
    for (const std::string& path : {own, file, folder + own, folder + file})
      if ((library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))) return;
    problem_ = own + " was not found; it comes with the CUDA toolkit (LD_LIBRARY_PATH says where)";
  }

  /// Finds a function by its name. `function` stays unchanged if there is no library.
  template <class Function>
  void get(Function& function, const char* name) {
    if (!library_) return;
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function) problem_ = name_ + " has no " + name;
  }

  /// The reason why functions are missing; empty if none is missing.
  const std::string& problem() const { return problem_; }

 private:
  std::string name_, problem_;
  void* library_ = nullptr;
};

}  // namespace emomc
