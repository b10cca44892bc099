// Makes the rows of an engine from a data set in host memory or from a table of device_table.hpp on a GPU.
#pragma once

#include <memory>
#include <vector>

#include "device_rows.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// The rows of `data` that `layout` divides into tiles, in the memory of `device`. Rows of a DeviceTable are
/// made on the GPU, once for all engines that read them and exist at the same time; `device` must then be the
/// table's GPU, otherwise this throws InputError. Throws MachineError where memory does not suffice.
template <class Real>
std::shared_ptr<const DeviceRows<Real>> rows_on_device(const DataSet& data, const TileLayout& layout,
                                                       Device& device);

}  // namespace emomc
