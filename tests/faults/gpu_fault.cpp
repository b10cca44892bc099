// A library that tests/apps/cuda_faults_test.cpp preloads into the program. It runs a kernel that traps in
// the program's CUDA context. After that every call fails, as after an illegal address in one of the
// program's own kernels.
//  EMOMC_GPU_FAULT_FILE   the kernel starts once this file exists
//  EMOMC_GPU_FAULT_AFTER  plus this many milliseconds
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

constexpr const char* kTrap =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry trap_now() { trap; }\n";

template <class Function>
Function* driver(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void trap_after(const char* file, long milliseconds) {
  while (access(file, F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  if (driver<CUresult(CUcontext*, CUdevice)>(library, "cuDevicePrimaryCtxRetain")(&context, 0) ==
          CUDA_SUCCESS &&
      driver<CUresult(CUcontext)>(library, "cuCtxSetCurrent")(context) == CUDA_SUCCESS &&
      driver<CUresult(CUmodule*, const void*)>(library, "cuModuleLoadData")(&module, kTrap) == CUDA_SUCCESS &&
      driver<CUresult(CUfunction*, CUmodule, const char*)>(library, "cuModuleGetFunction")(
          &function, module, "trap_now") == CUDA_SUCCESS)
    driver<decltype(cuLaunchKernel)>(library, "cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, nullptr,
                                                                nullptr, nullptr);
}

[[gnu::constructor]] void begin() {
  const char* file = std::getenv("EMOMC_GPU_FAULT_FILE");
  const char* after = std::getenv("EMOMC_GPU_FAULT_AFTER");
  if (file && after) std::thread(trap_after, file, std::atol(after)).detach();
}

}  // namespace
