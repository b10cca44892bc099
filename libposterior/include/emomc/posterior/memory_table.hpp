// Makes the tables of numbers in memory from which posteriors are constructed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/likelihood/device_table.hpp"
#include "emomc/likelihood/table.hpp"

namespace emomc {

/// The table of one CSV or .npy file: all columns except reserved ones and an index. Throws the exceptions of
/// the read_table that takes a request.
Table read_table(const std::string& file);

/// A table of `values`, num_rows x columns.size(), row-major. Throws InputError if there are no rows or
/// columns, if the sizes do not fit, if two columns have the same name, or if a number is not finite.
Table make_table(std::vector<std::string> columns, std::vector<double> values);

/// A table whose numbers are in GPU memory (make_device_table) and stay there; backend cuda samples it.
/// Throws InputError if the number of names does not fit, if two columns have the same name, or if a number
/// is not finite.
Table make_table(std::vector<std::string> columns, std::shared_ptr<const DeviceTable> values);

/// Some columns of a table, in the order of `columns`. Throws InputError if a column is missing.
Table columns_of(const Table& table, const std::vector<std::string>& columns);

}  // namespace emomc
