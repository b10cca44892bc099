// Stores the rows of a data set on the GPU, in Thrust device vectors, for the lifetime of an engine.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace emomc {

/// Owns an array in device memory. Thrust is hidden in the implementation, since its headers add half a
/// minute to the compilation of every source that includes them.
template <class T>
class DeviceRows {
 public:
  /// Copies `values` and waits. Throws MachineError where GPU memory does not suffice.
  explicit DeviceRows(const std::vector<T>& values);
  /// An array of `size` zeros. Waits, and throws MachineError as the other constructor does.
  explicit DeviceRows(std::size_t size);
  ~DeviceRows();
  DeviceRows(const DeviceRows&) = delete;
  DeviceRows& operator=(const DeviceRows&) = delete;

  const T* data() const { return data_; }  ///< device memory
  T* data() { return data_; }
  std::size_t size() const { return size_; }

 private:
  struct Impl;
  template <class Make>
  void fill(const Make& make);
  std::unique_ptr<Impl> impl_;
  T* data_ = nullptr;
  std::size_t size_;
};

}  // namespace emomc
