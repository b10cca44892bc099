// Tables of numbers in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/likelihood/device_table.hpp"
#include "emomc/likelihood/table.hpp"

namespace emomc {

/// The table of one CSV or .npy file: all columns except reserved ones and an index. Throws InputError as
/// read_table does.
Table read_table(const std::string& file);

/// A table of `values`, num_rows x columns.size(), row-major. Throws InputError where there are no rows or
/// columns, where the sizes do not fit, where two columns have one name, and where a number is not finite.
Table make_table(std::vector<std::string> columns, std::vector<double> values);

/// A table whose numbers are on a GPU (make_device_table), where they stay: backend cuda samples it. Throws
/// as the other does.
Table make_table(std::vector<std::string> columns, std::shared_ptr<const DeviceTable> values);

/// Some columns of a table, in this order. Throws InputError where one of them is not there.
Table columns_of(const Table& table, const std::vector<std::string>& columns);

}  // namespace emomc
