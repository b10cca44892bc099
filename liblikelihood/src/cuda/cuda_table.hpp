// The table of device_table.hpp on a GPU, and the rows of an engine from it.
#pragma once

#include <memory>
#include <vector>

#include "device_rows.hpp"
#include "emomc/likelihood/data_set.hpp"

namespace emomc {

/// The rows of `data` that `layout` divides into tiles, in the memory of `device`. Those of a DeviceTable are
/// made on the GPU, once for all engines that read them and live at one time; `device` then has to be its
/// GPU. Throws MachineError where memory does not suffice.
template <class Real>
std::shared_ptr<const DeviceRows<Real>> rows_on_device(const DataSet& data, const TileLayout& layout,
                                                       Device& device);

}  // namespace emomc
