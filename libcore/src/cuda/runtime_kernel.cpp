#include "emomc/core/runtime_kernel.hpp"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <vector>

#include "emomc/core/cuda_check.hpp"
#include "emomc/core/runtime_linker.hpp"
#include "emomc/core/sha256.hpp"
#include "nvjitlink.hpp"
#include "nvrtc.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

// Contraction is off, as in the kernels that are compiled ahead of time, so that the bits are the same.
const std::vector<std::string> kOptions{"--std=c++20", "--fmad=false", "--device-as-default-execution-space",
                                        "-DEMOMC_EXACT_SIZES=1"};

std::vector<const DeviceSources*> all_sources(const KernelSource& source) {
  std::vector<const DeviceSources*> all{&core_device_sources()};
  all.insert(all.end(), source.sources.begin(), source.sources.end());
  return all;
}

bool is_linked(const DeviceSource& source) { return source.name.ends_with(kLinkedCode); }

/// Returns the pieces of LTO IR that are linked with a kernel.
std::vector<std::string_view> linked_code(const KernelSource& source) {
  std::vector<std::string_view> code;
  for (const DeviceSources* sources : source.sources)
    for (const DeviceSource& piece : *sources)
      if (is_linked(piece)) code.push_back(piece.text);
  return code;
}

std::string program_text(const KernelSource& source) {
  std::string text;
  for (const auto& header : source.headers) text += "#include \"" + header + "\"\n";
  return text;
}

// Returns a hash of everything that the machine code depends on.
std::string key_of(const KernelSource& source, const std::string& architecture) {
  std::string all = program_text(source) + source.kernel + '\n' + architecture + '\n' +
                    std::to_string(nvrtc().major) + '.' + std::to_string(nvrtc().minor) + '\n';
  for (const DeviceSources* sources : all_sources(source))
    for (const auto& header : *sources) all += header.name + '\n' + header.text;
  if (!linked_code(source).empty())
    all += std::to_string(nvjitlink().major) + '.' + std::to_string(nvjitlink().minor) + '\n';
  for (const auto* list : {&kOptions, &source.defines})
    for (const auto& option : *list) all += option + '\n';
  return sha256_hex(all);
}

// Returns the largest number, or the sum of the numbers, that match `pattern` in the log of ptxas -v, such as
// "Used 96 registers" and "8 bytes spill stores, 12 bytes spill loads". The log has an entry for the kernel
// and for each function that it calls.
int number_before(const std::string& log, const std::string& pattern, bool largest) {
  int result = 0;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(log.begin(), log.end(), expression), end; at != end; ++at) {
    const int value = std::stoi((*at)[1]);
    result = largest ? std::max(result, value) : result + value;
  }
  return result;
}

KernelCode compile(const KernelSource& source, const std::string& architecture) {
  const Nvrtc& api = nvrtc();
  const auto check = [&](nvrtcResult status, const char* call) {
    if (status != NVRTC_SUCCESS)
      throw MachineError(std::string(call) + " failed: " + api.error_string(status));
  };
  std::vector<const char*> texts, names;
  for (const DeviceSources* sources : all_sources(source))
    for (const auto& header : *sources) {
      if (is_linked(header)) continue;
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
  const std::string text = program_text(source);
  nvrtcProgram program = nullptr;
  check(api.create_program(&program, text.c_str(), "emomc_kernel.cu", static_cast<int>(texts.size()),
                           texts.data(), names.data()),
        "nvrtcCreateProgram");
  const std::unique_ptr<nvrtcProgram, void (*)(nvrtcProgram*)> owner(
      &program, [](nvrtcProgram* p) { nvrtc().destroy_program(p); });
  check(api.add_name_expression(program, source.kernel.c_str()), "nvrtcAddNameExpression");
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<std::string_view> pieces = linked_code(source);
  std::vector<const char*> options{target.c_str(), pieces.empty() ? "--ptxas-options=-v" : "-dlto"};
  for (const auto& option : kOptions) options.push_back(option.c_str());
  std::vector<std::string> defines;
  for (const auto& define : source.defines) defines.push_back("-D" + define);
  for (const auto& define : defines) options.push_back(define.c_str());
  const nvrtcResult status = api.compile_program(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  check(api.log_size(program, &size), "nvrtcGetProgramLogSize");
  std::string log(size, '\0');
  check(api.log(program, log.data()), "nvrtcGetProgramLog");
  if (status != NVRTC_SUCCESS)
    throw MachineError("the kernel " + source.kernel + " could not be compiled for " + architecture + ":\n" +
                       log.c_str());
  KernelCode result;
  const char* symbol = nullptr;
  check(api.lowered_name(program, source.kernel.c_str(), &symbol), "nvrtcGetLoweredName");
  result.symbol = symbol;
  if (pieces.empty()) {
    check(api.cubin_size(program, &size), "nvrtcGetCUBINSize");
    result.code.resize(size);
    check(api.cubin(program, result.code.data()), "nvrtcGetCUBIN");
  } else {
    check(api.lto_ir_size(program, &size), "nvrtcGetLTOIRSize");
    std::string own(size, '\0');
    check(api.lto_ir(program, own.data()), "nvrtcGetLTOIR");
    pieces.insert(pieces.begin(), own);
    LinkedCode linked = link_code(pieces, architecture);
    result.code = std::move(linked.cubin);
    log = std::move(linked.log);
  }
  result.registers = number_before(log, R"(Used (\d+) registers)", true);
  result.spilled = number_before(log, R"((\d+) bytes spill stores)", false);
  result.stack = number_before(log, R"((\d+) bytes stack frame)", false);
  result.shared = number_before(log, R"((\d+) bytes smem)", true);
  return result;
}

// Reads a cached kernel. The file has a line with symbol, registers, spilled, stack and shared bytes, size
// and hash of the code, followed by the code.
std::optional<KernelCode> read_cached(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line, hash;
  if (!std::getline(in, line)) return std::nullopt;
  KernelCode result;
  std::size_t size = 0;
  std::istringstream fields(line);
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  if (!(fields >> result.symbol >> result.registers >> result.spilled >> result.stack >> result.shared >>
        size >> hash) ||
      size > kLargest)
    return std::nullopt;
  result.code.resize(size);
  if (!in.read(result.code.data(), static_cast<std::streamsize>(size)) || sha256_hex(result.code) != hash)
    return std::nullopt;
  return result;
}

// A cache that cannot be written costs only time, so errors are ignored.
void write_cached(const fs::path& file, const KernelCode& kernel) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const fs::path beside = file.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(beside, std::ios::binary);
    out << kernel.symbol << ' ' << kernel.registers << ' ' << kernel.spilled << ' ' << kernel.stack << ' '
        << kernel.shared << ' ' << kernel.code.size() << ' ' << sha256_hex(kernel.code) << '\n'
        << kernel.code;
    if (!out.flush()) {
      fs::remove(beside, ignored);
      return;
    }
  }
  fs::rename(beside, file, ignored);
}

}  // namespace

std::string runtime_compiler_problem() { return nvrtc().problem; }

KernelCode compile_kernel(const KernelSource& source, const std::string& architecture, bool use_cache) {
  if (const auto problem = runtime_compiler_problem(); !problem.empty())
    throw MachineError("kernels cannot be compiled: " + problem);
  const std::string directory = use_cache ? runtime_kernel_cache() : "";
  if (directory.empty()) return compile(source, architecture);
  const fs::path file = fs::path(directory) / (key_of(source, architecture) + ".kernel");
  if (auto cached = read_cached(file)) return *cached;
  const KernelCode result = compile(source, architecture);
  write_cached(file, result);
  return result;
}

struct RuntimeKernel::Impl {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  ~Impl() {
    if (library) cudaLibraryUnload(library);
  }
};

namespace {

// More than 48 kB of shared memory have to be allowed explicitly. launch_function (cuda_launch.cuh) considers
// only the dynamic part, with room for a small static part; a kernel with a larger static part is therefore
// allowed all the memory that there is.
void allow_all_shared_memory(const void* kernel, int device) {
  constexpr std::size_t kSmallStaticPart = 8 << 10;
  cudaFuncAttributes attributes{};
  int most = 0;
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
    cudaGetLastError();  // the launch will report the error
    return;
  }
  if (attributes.sharedSizeBytes <= kSmallStaticPart) return;
  EMOMC_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  EMOMC_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        most - static_cast<int>(attributes.sharedSizeBytes)));
}

}  // namespace

RuntimeKernel::RuntimeKernel(const KernelSource& source) : impl_(std::make_unique<Impl>()) {
  int index = 0, major = 0, minor = 0;
  EMOMC_CUDA_CHECK(cudaGetDevice(&index));
  EMOMC_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index));
  EMOMC_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index));
  const KernelCode code = compile_kernel(source, "sm_" + std::to_string(major) + std::to_string(minor));
  registers_ = code.registers;
  spilled_ = code.spilled;
  shared_ = static_cast<std::size_t>(code.shared);
  EMOMC_CUDA_CHECK(
      cudaLibraryLoadData(&impl_->library, code.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  EMOMC_CUDA_CHECK(cudaLibraryGetKernel(&impl_->kernel, impl_->library, code.symbol.c_str()));
  allow_all_shared_memory(function(), index);
}

RuntimeKernel::~RuntimeKernel() = default;

const void* RuntimeKernel::function() const { return static_cast<const void*>(impl_->kernel); }

}  // namespace emomc
