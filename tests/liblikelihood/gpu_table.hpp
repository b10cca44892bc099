// Puts numbers into the memory of a GPU, as a program that uses the library would.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/likelihood/device_table.hpp"

namespace emomc::testing {

template <class T>
struct GpuNumbers {
  explicit GpuNumbers(const std::vector<T>& values)
      : device(make_cuda_device()), numbers(*device, values.size()) {
    numbers.upload(values);
  }
  std::unique_ptr<Device> device;
  DeviceArray<T> numbers;
};

/// Returns a table of `values` [rows x dim], row-major, on the first GPU.
template <class T>
std::shared_ptr<const DeviceTable> table_on_gpu(const std::vector<T>& values, std::size_t dim,
                                                NumberType type) {
  auto owner = std::make_shared<const GpuNumbers<T>>(values);
  std::vector<ArrayColumn> columns;
  for (std::size_t j = 0; j < dim; ++j)
    columns.push_back({owner->numbers.data() + j, static_cast<device::i64>(dim * sizeof(T)), type});
  return make_device_table(0, values.size() / dim, std::move(columns), owner);
}
inline std::shared_ptr<const DeviceTable> table_on_gpu(const std::vector<double>& values, std::size_t dim) {
  return table_on_gpu(values, dim, NumberType::float64);
}

}  // namespace emomc::testing
