// Columns of numbers in the memory layout of their owner, on a host or a GPU: of any number type, with any
// stride.
#ifndef EMOMC_DEVICE_ARRAY_TABLE_HPP
#define EMOMC_DEVICE_ARRAY_TABLE_HPP

#include "emomc/device/integers.hpp"
#include "emomc/device/macros.hpp"

namespace emomc::device {

enum class NumberType { float64, float32, int64, int32, int16, int8, uint64, uint32, uint16, uint8 };

EMOMC_INLINE int bytes_of(NumberType type) {
  switch (type) {
    case NumberType::float64:
    case NumberType::int64:
    case NumberType::uint64:
      return 8;
    case NumberType::float32:
    case NumberType::int32:
    case NumberType::uint32:
      return 4;
    case NumberType::int16:
    case NumberType::uint16:
      return 2;
    case NumberType::int8:
    case NumberType::uint8:
      break;
  }
  return 1;
}

/// One column; the number of row i is `stride` x i bytes behind that of row 0.
struct ArrayColumn {
  const void* data;
  i64 stride;
  NumberType type;
};

template <class T>
EMOMC_INLINE double stored_number(const char* at) {
#ifdef __CUDA_ARCH__
  return static_cast<double>(*reinterpret_cast<const T*>(at));  // columns on a GPU are aligned
#else
  T value;
  __builtin_memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
#endif
}

/// The number in a row, converted to float64.
EMOMC_INLINE double number_at(const ArrayColumn& column, i64 row) {
  const char* at = static_cast<const char*>(column.data) + column.stride * row;
  switch (column.type) {
    case NumberType::float64:
      return stored_number<double>(at);
    case NumberType::float32:
      return stored_number<float>(at);
    case NumberType::int64:
      return stored_number<i64>(at);
    case NumberType::int32:
      return stored_number<int>(at);
    case NumberType::int16:
      return stored_number<short>(at);
    case NumberType::int8:
      return stored_number<signed char>(at);
    case NumberType::uint64:
      return stored_number<u64>(at);
    case NumberType::uint32:
      return stored_number<u32>(at);
    case NumberType::uint16:
      return stored_number<unsigned short>(at);
    case NumberType::uint8:
      break;
  }
  return stored_number<u8>(at);
}

struct ArrayTable {
  const ArrayColumn* columns;  ///< [num_columns]
  int num_columns;
  i64 num_rows;

  EMOMC_INLINE double operator()(i64 row, int column) const { return number_at(columns[column], row); }
};

}  // namespace emomc::device

#endif  // EMOMC_DEVICE_ARRAY_TABLE_HPP
