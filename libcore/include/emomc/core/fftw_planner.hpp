// FFTW's planner is the one part of it that threads must not enter together.
#pragma once

#include <mutex>

namespace emomc {

/// Held while a plan is made or destroyed, by every library of the program: FFTW has one planner a process.
inline std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace emomc
