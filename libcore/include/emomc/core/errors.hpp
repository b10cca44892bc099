// The exceptions of emomc. Libraries throw these and never print, log or exit. The program maps them to exit
// codes: InputError 2, MachineError 3, every other exception 3 with a request to report it.
#pragma once

#include <stdexcept>
#include <string>

namespace emomc {

/// A request of the user cannot be carried out as written. The message is one line that names the file, line
/// or key, the value, the reason and what is allowed. Thrown before any work is done.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The machine failed: memory, disk or GPU. The last checkpoint stays valid.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A CUDA call or launch failed. The message has the call, its file and line, and CUDA's error text.
class CudaError : public MachineError {
 public:
  CudaError(const std::string& message, int code) : MachineError(message), code_(code) {}
  /// The cudaError_t as an integer.
  int code() const { return code_; }

 private:
  int code_;
};

/// The density was undefined where the algorithm does not allow it: at the first point, or too often.
class DensityError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace emomc
