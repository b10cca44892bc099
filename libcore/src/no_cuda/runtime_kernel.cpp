#include "emomc/core/runtime_kernel.hpp"

#include "emomc/core/errors.hpp"
#include "emomc/core/runtime_linker.hpp"

namespace emomc {

std::string runtime_linker_problem() { return runtime_compiler_problem(); }

struct RuntimeKernel::Impl {};

std::string runtime_compiler_problem() { return "this build is without CUDA"; }
KernelCode compile_kernel(const KernelSource&, const std::string&, bool) {
  throw MachineError("kernels cannot be compiled: " + runtime_compiler_problem());
}
RuntimeKernel::RuntimeKernel(const KernelSource&) {
  throw MachineError("kernels cannot be compiled: " + runtime_compiler_problem());
}
RuntimeKernel::~RuntimeKernel() = default;
const void* RuntimeKernel::function() const { return nullptr; }

}  // namespace emomc
