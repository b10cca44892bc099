// Makes tables from Python arrays in the memory of the host or of a GPU.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "conversions.hpp"

namespace emomc::python {
namespace {

using Array = nb::ndarray<nb::ro>;

/// Keeps Python objects and arrays alive. A thread without the GIL may release the last reference;
/// therefore the deleter acquires the GIL.
struct Owners {
  std::vector<nb::object> objects;
  std::vector<Array> arrays;

  static std::shared_ptr<Owners> make() {
    return {new Owners, [](Owners* owners) {
              if (!Py_IsInitialized()) return;
              const nb::gil_scoped_acquire gil;
              delete owners;
            }};
  }
};

/// Returns the type of numbers with a kind, which is a letter of NumPy's type strings such as "f8", and a
/// size in bytes. Throws InputError if the type is not supported.
NumberType type_of(const std::string& column, char kind, std::size_t bytes) {
  if (kind == 'b' && bytes == 1) return NumberType::uint8;
  if (kind == 'f' && bytes == 8) return NumberType::float64;
  if (kind == 'f' && bytes == 4) return NumberType::float32;
  const bool is_signed = kind == 'i';
  if (is_signed || kind == 'u') switch (bytes) {
      case 8:
        return is_signed ? NumberType::int64 : NumberType::uint64;
      case 4:
        return is_signed ? NumberType::int32 : NumberType::uint32;
      case 2:
        return is_signed ? NumberType::int16 : NumberType::uint16;
      case 1:
        return is_signed ? NumberType::int8 : NumberType::uint8;
      default:
        break;
    }
  throw InputError("data: column " + column + " has numbers of type " + kind + std::to_string(bytes) +
                   "; allowed: float64, float32, integers and booleans");
}

char kind_of(nb::dlpack::dtype type) {
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Float:
      return 'f';
    case nb::dlpack::dtype_code::Int:
      return 'i';
    case nb::dlpack::dtype_code::UInt:
      return 'u';
    case nb::dlpack::dtype_code::Bool:
      return 'b';
    default:
      return '?';
  }
}

constexpr int kHost = -1;

/// Collects the columns of all arrays, which must have one length and be in one memory.
class Columns {
 public:
  explicit Columns(const std::vector<std::string>& names) : names_(names) {}

  /// Adds an array with one or two axes, as one column or as a column for each element of the second axis.
  /// `strides` are in bytes. Throws InputError if the array does not fit.
  void add(const void* data, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
           char kind, std::size_t bytes, int gpu) {
    const std::string name = next_name();
    if (shape.empty() || shape.size() > 2)
      throw InputError("data: an array with " + std::to_string(shape.size()) +
                       " axes; allowed: a column, or rows x columns");
    const auto rows = static_cast<std::size_t>(shape[0]);
    if (gpu_ && *gpu_ != gpu)
      throw InputError("data: column " + names_.front() + " is in the memory of " + place(*gpu_) +
                       " and column " + name + " in that of " + place(gpu) +
                       "; allowed: one memory for all columns");
    if (!columns.empty() && rows != num_rows)
      throw InputError("data: column " + name + " has " + std::to_string(rows) + " rows, the ones before " +
                       std::to_string(num_rows));
    gpu_ = gpu;
    num_rows = rows;
    const NumberType type = type_of(name, kind, bytes);
    const std::int64_t count = shape.size() == 2 ? shape[1] : 1, step = shape.size() == 2 ? strides[1] : 0;
    for (std::int64_t j = 0; j < count; ++j)
      columns.push_back({static_cast<const char*>(data) + j * step, strides[0], type});
  }
  int gpu() const { return gpu_.value_or(kHost); }

  std::vector<ArrayColumn> columns;
  std::size_t num_rows = 0;

 private:
  std::string next_name() const {
    return columns.size() < names_.size() ? names_[columns.size()] : std::to_string(columns.size());
  }
  static std::string place(int gpu) { return gpu == kHost ? "the host" : "GPU " + std::to_string(gpu); }

  const std::vector<std::string>& names_;
  std::optional<int> gpu_;
};

/// Adds an array on a GPU, described by a tuple as in table_of().
void add_interface(const nb::tuple& description, Columns& columns) {
  const auto address = nb::cast<std::uintptr_t>(description[0]);
  const auto shape = nb::cast<std::vector<std::int64_t>>(description[1]);
  const auto type = nb::cast<std::string>(description[3]);
  if (type.size() < 3 || type[0] == '>')
    throw InputError("data: an array of type " + type + " on a GPU; allowed: numbers in the GPU's own order");
  const std::size_t bytes = std::stoul(type.substr(2));
  std::vector<std::int64_t> strides(shape.size(), static_cast<std::int64_t>(bytes));
  if (nb::object(description[2]).is_none()) {
    for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  } else {
    strides = nb::cast<std::vector<std::int64_t>>(description[2]);
  }
  const auto* data = reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (address == 0) throw InputError("data: there are no rows");
  columns.add(data, shape, strides, type[1], bytes, gpu_of_address(data));
}

void add_array(const Array& array, Columns& columns) {
  constexpr std::size_t kBitsOfByte = 8;
  const std::size_t bytes = array.dtype().bits / kBitsOfByte;
  std::vector<std::int64_t> shape, strides;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
    shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
    strides.push_back(array.stride(axis) * static_cast<std::int64_t>(bytes));
  }
  const bool is_host = array.device_type() == nb::device::cpu::value;
  if (!is_host && array.device_type() != nb::device::cuda::value &&
      array.device_type() != nb::device::cuda_managed::value)
    throw InputError("data: an array on a device that is not a CUDA device (DLPack's " +
                     std::to_string(array.device_type()) +
                     "); allowed: arrays of the host or of a GPU of NVIDIA");
  columns.add(array.data(), shape, strides, kind_of(array.dtype()), bytes,
              is_host ? kHost : array.device_id());
}

}  // namespace

Table table_of(const std::vector<std::string>& names, const nb::list& arrays) {
  Columns columns(names);
  const auto owners = Owners::make();
  for (const nb::handle item : arrays) {
    owners->objects.push_back(nb::borrow(item));
    if (nb::isinstance<nb::tuple>(item)) {
      add_interface(nb::borrow<nb::tuple>(item), columns);
    } else {
      owners->arrays.push_back(nb::cast<Array>(item));
      add_array(owners->arrays.back(), columns);
    }
  }
  if (columns.columns.size() != names.size())
    throw InputError("data: " + std::to_string(columns.columns.size()) + " columns have " +
                     std::to_string(names.size()) + " names");
  if (columns.gpu() != kHost)
    return make_table(names,
                      make_device_table(columns.gpu(), columns.num_rows, std::move(columns.columns), owners));
  const std::size_t dim = names.size();
  std::vector<double> values(columns.num_rows * dim);
  for (std::size_t i = 0; i < columns.num_rows; ++i)
    for (std::size_t j = 0; j < dim; ++j)
      values[i * dim + j] = number_at(columns.columns[j], static_cast<std::int64_t>(i));
  return make_table(names, std::move(values));
}

}  // namespace emomc::python
