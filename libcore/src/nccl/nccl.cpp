#include "nccl.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace emomc {
namespace {

Nccl find() {
  Nccl result;
  const std::string name = "libnccl.so." + std::to_string(NCCL_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    result.problem = name + " was not found (LD_LIBRARY_PATH says where)";
    return result;
  }
  const auto get = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function) result.problem = name + " has no " + symbol;
  };
  get(result.error_string, "ncclGetErrorString");
  get(result.get_unique_id, "ncclGetUniqueId");
  get(result.init_rank, "ncclCommInitRankConfig");
  get(result.async_error, "ncclCommGetAsyncError");
  get(result.finalize, "ncclCommFinalize");
  get(result.destroy, "ncclCommDestroy");
  get(result.abort, "ncclCommAbort");
  get(result.all_gather, "ncclAllGather");
  get(result.broadcast, "ncclBroadcast");
  get(result.group_start, "ncclGroupStart");
  get(result.group_end, "ncclGroupEnd");
  return result;
}

}  // namespace

const Nccl& nccl() {
  static const Nccl found = find();
  return found;
}

}  // namespace emomc
