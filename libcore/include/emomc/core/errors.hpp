// The exceptions of emomc. Libraries throw these and never print, log or exit; the program maps them
// to exit codes: InputError 2, MachineError 3, every other exception 3 with a request to report it.
#pragma once

#include <stdexcept>
#include <string>

namespace emomc {

/// What a user asked for cannot be done as written. The message is one line that names the file, line
/// or key, the value, why it is refused and what is allowed. Thrown before any work.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The machine failed: memory, disk, GPU. The last checkpoint stays valid.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A CUDA call or launch failed. The message has the call, its file and line, and CUDA's own words.
class CudaError : public MachineError {
 public:
  CudaError(const std::string& message, int code) : MachineError(message), code_(code) {}
  /// The cudaError_t as an integer.
  int code() const { return code_; }

 private:
  int code_;
};

/// The density was undefined where the method does not allow it (at the first point, or too often).
class DensityError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace emomc
