#include <cuda_runtime_api.h>
#include <thrust/device_vector.h>
#include <thrust/system/cuda/error.h>
#include <thrust/system_error.h>

#include <new>
#include <string>

#include "device_rows.hpp"
#include "emomc/core/errors.hpp"

namespace emomc {

template <class T>
struct DeviceRows<T>::Impl {
  thrust::device_vector<T> values;
};

template <class T>
template <class Make>
void DeviceRows<T>::fill(const Make& make) {
  try {
    impl_ = std::make_unique<Impl>(Impl{make()});
    if (const cudaError_t status = cudaStreamSynchronize(nullptr); status != cudaSuccess)
      throw thrust::system_error(status, thrust::cuda_category());
  } catch (const std::bad_alloc&) {
    throw MachineError("out of GPU memory: the data take " + std::to_string(size_ * sizeof(T)) +
                       " bytes; use fewer rows or --backend cpu");
  } catch (const thrust::system_error& error) {
    throw CudaError(std::string("copy of the data to the GPU failed: ") + error.what(), error.code().value());
  }
  data_ = thrust::raw_pointer_cast(impl_->values.data());
}

template <class T>
DeviceRows<T>::DeviceRows(const std::vector<T>& values) : size_(values.size()) {
  fill([&] { return thrust::device_vector<T>(values.begin(), values.end()); });
}
template <class T>
DeviceRows<T>::DeviceRows(std::size_t size) : size_(size) {
  fill([&] { return thrust::device_vector<T>(size, T(0)); });
}

// After an error has ended the context, there is no memory to free, and Thrust would throw in a destructor.
template <class T>
DeviceRows<T>::~DeviceRows() {
  if (impl_ && cudaDeviceSynchronize() != cudaSuccess) static_cast<void>(impl_.release());
}

template class DeviceRows<float>;
template class DeviceRows<double>;

}  // namespace emomc
