// A mutex for FFTW's planner, the only part of FFTW that is not thread-safe.
#pragma once

#include <mutex>

namespace emomc {

/// Every library of the program holds it while a plan is created or destroyed: FFTW has one planner per
/// process.
inline std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace emomc
