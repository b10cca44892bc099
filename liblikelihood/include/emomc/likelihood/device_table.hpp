// Tables in the memory of a GPU that belong to the caller, such as arrays of CuPy, JAX and PyTorch. The GPU
// reads the numbers where they are. Only a few numbers for each block of 2^20 rows, and the rows from which
// starting points are found, are copied to the host (docs/decisions/arrays-of-a-gpu.md).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/device/column_folds.hpp"
#include "emomc/device/row_formula.hpp"
#include "emomc/device/row_hash.hpp"
#include "emomc/likelihood/standardize.hpp"

namespace emomc {

using device::ArrayColumn;
using device::NumberType;

class DeviceTable;

/// The rows of a table, and the numbers of each row that an engine reads.
struct DeviceRowSource {
  std::shared_ptr<const DeviceTable> table;
  std::vector<device::ColumnShift> shifts;  ///< [columns of the table]
  std::vector<device::FormulaStep> steps = {};
  std::vector<int> outputs = {};  ///< steps whose results are read; without steps the outputs are the columns

  int dim() const;
};

/// Columns of equal length. Several threads may call the functions at once; calls wait for each other.
class DeviceTable : public std::enable_shared_from_this<DeviceTable> {
 public:
  /// `owner` lives at least as long as the table. Throws InputError where there are no rows or columns, or
  /// 2^32 - 1 rows or more.
  DeviceTable(int gpu, std::size_t num_rows, std::vector<ArrayColumn> columns,
              std::shared_ptr<const void> owner);
  virtual ~DeviceTable() = default;
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;

  int gpu() const { return gpu_; }  ///< the GPU's number in make_cuda_device()
  std::size_t num_rows() const { return num_rows_; }
  std::size_t num_columns() const { return columns_.size(); }
  const std::vector<ArrayColumn>& columns() const { return columns_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// Bytes that the numbers of all columns take in the memory of the GPU.
  std::size_t bytes() const;
  /// A table of the columns with these indices, in this order. Equal arguments return the same object.
  std::shared_ptr<const DeviceTable> columns_at(const std::vector<std::size_t>& places) const;

  /// The first number that is not finite, as row x num_columns() + column; nullopt if all are finite.
  std::optional<std::size_t> first_not_finite() const;
  /// The results of column_ranges() and column_units() (standardize.hpp) for the same numbers, bit for bit.
  const std::vector<ColumnRange>& ranges() const;
  const ColumnUnits& column_units() const;
  /// The number of rows that are equal to an earlier row; 0 and -0 are equal.
  std::size_t num_duplicate_rows() const;
  /// Hexadecimal digits of the hash of row_hash.hpp.
  const std::string& hash() const;
  /// `count` evenly spaced rows, row-major, in host memory; the i-th of them is row i * num_rows() / count.
  const std::vector<double>& spaced_rows(std::size_t count) const;
  /// The rows with these numbers, row-major, in host memory.
  virtual std::vector<double> rows(const std::vector<std::size_t>& which) const = 0;

  /// The result of each of `tests` over all rows of `source`, whose table is this one.
  virtual std::vector<device::TestedRows> tested(const DeviceRowSource& source,
                                                 const std::vector<device::RowTest>& tests) const = 0;
  /// The mean of each output of `source` over all rows.
  std::vector<double> means(const DeviceRowSource& source) const;

 protected:
  virtual std::shared_ptr<const DeviceTable> with_columns(std::vector<ArrayColumn> columns) const = 0;
  /// Range and mean for each block of rows and each column: blocks x columns.
  virtual std::vector<device::ColumnFacts> facts() const = 0;
  virtual std::vector<device::DeviationFold::State> deviations(const std::vector<double>& mean) const = 0;
  virtual std::vector<double> sums(const DeviceRowSource& source) const = 0;
  /// The number of rows that are equal to a row inserted before them; the order of insertion is arbitrary.
  /// `num_slots` is a power of two. Throws MachineError where one of the parts has more distinct rows than
  /// there are slots.
  virtual std::size_t count_equal(std::size_t num_slots, std::size_t num_parts) const = 0;
  /// The last digests of row_hash.hpp, at most kHashedRows.
  virtual std::vector<device::Digest> digests() const = 0;

 private:
  const std::vector<device::ColumnFacts>& known_facts() const;

  int gpu_;
  std::size_t num_rows_;
  std::vector<ArrayColumn> columns_;
  std::shared_ptr<const void> owner_;
  // Results of earlier calls.
  mutable std::recursive_mutex mutex_;
  mutable std::vector<device::ColumnFacts> facts_;
  mutable std::vector<ColumnRange> ranges_;
  mutable std::optional<ColumnUnits> units_;
  mutable std::optional<std::size_t> num_duplicates_;
  mutable std::string hash_;
  mutable std::map<std::size_t, std::vector<double>> spaced_;
  mutable std::map<std::vector<std::size_t>, std::shared_ptr<const DeviceTable>> parts_;
};

/// A table in the memory of GPU `gpu`; the strides are in bytes. Waits for all work of the GPU, so that
/// kernels which fill the columns have ended. Throws InputError where this build has no CUDA, where the
/// machine has no such GPU, and where a column is not aligned to its type.
std::shared_ptr<const DeviceTable> make_device_table(int gpu, std::size_t num_rows,
                                                     std::vector<ArrayColumn> columns,
                                                     std::shared_ptr<const void> owner);

/// The number of the GPU in whose memory an address lies. Throws InputError where it lies in the memory of
/// none.
int gpu_of_address(const void* address);

/// All columns of a table without shift and scale.
DeviceRowSource plain_rows(std::shared_ptr<const DeviceTable> table);
/// All columns in `units`. The columns whose indices are in `constant` have the value of their first row in
/// every row.
DeviceRowSource shifted_rows(std::shared_ptr<const DeviceTable> table, const ColumnUnits& units,
                             const std::vector<std::size_t>& constant);
/// `count` evenly spaced rows of the source in the host's memory, row-major.
std::vector<double> spaced_rows(const DeviceRowSource& source, std::size_t count);

}  // namespace emomc
