// Counts what is copied between a host and its GPUs in any program, by CUDA's profiling interface (CUPTI):
//
//   g++ -O2 -shared -fPIC -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib
//     bench/trace_copies.cpp -o trace_copies.so -lcupti                                    (one line)
//   CUDA_INJECTION64_PATH=$PWD/trace_copies.so program
//
// The driver loads the library. A program asks by copied_bytes() for what has been copied up to then; copies
// in graphs count each time that they run.
#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

enum Direction { kToHost, kToGpu, kOnGpu, kOther, kNumDirections };
std::atomic<std::uint64_t> bytes[kNumDirections], copies[kNumDirections];

Direction direction_of(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return kToHost;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return kToGpu;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return kOnGpu;
    default:
      return kOther;
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t kBytes = 1 << 20, kAlignment = 64;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  *size = *buffer ? kBytes : 0;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_MEMCPY) continue;
    // These fields come first in all versions of the record.
    const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy*>(record);
    const Direction direction = direction_of(copy->copyKind);
    bytes[direction] += copy->bytes;
    ++copies[direction];
  }
  std::free(buffer);
}

bool check(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return true;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  std::fprintf(stderr, "trace_copies: %s: %s\n", call, text ? text : "?");
  return false;
}

}  // namespace

extern "C" {

/// The driver calls this function when it has loaded the library.
int InitializeInjection() {
  return check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks") &&
         check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), "cuptiActivityEnable");
}

/// Sets the numbers of bytes and copies to the host, to GPUs, within a device and of other kinds. Returns 0
/// if they could not be read.
int copied_bytes(std::uint64_t* to_bytes, std::uint64_t* to_copies) {
  if (!check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll")) return 0;
  for (int i = 0; i < kNumDirections; ++i) {
    to_bytes[i] = bytes[i];
    to_copies[i] = copies[i];
  }
  return 1;
}
}
