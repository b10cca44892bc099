// The rows of a data set on the GPU, in Thrust device vectors for as long as the engine lives.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace emomc {

/// Owns a copy of host values in device memory. Thrust stays behind it: its headers cost half a minute in
/// every source that includes them.
template <class T>
class DeviceRows {
 public:
  /// Copies and waits. Throws MachineError where GPU memory does not suffice.
  explicit DeviceRows(const std::vector<T>& values);
  /// Zeros. Waits, and throws as the other does.
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
