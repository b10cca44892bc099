// A DeviceTable whose kernels are loops of the host over memory of the host. The same functions compute the
// work of a GPU's threads, so that tests of this table cover all but the launches.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/device/equal_rows.hpp"
#include "emomc/device/row_values.hpp"
#include "emomc/likelihood/device_table.hpp"

namespace emomc::testing {

class HostTable final : public DeviceTable {
 public:
  HostTable(std::size_t num_rows, std::vector<ArrayColumn> columns, std::shared_ptr<const void> owner)
      : DeviceTable(0, num_rows, std::move(columns), std::move(owner)) {}

  /// Returns a table that owns `values` [rows x dim], row-major.
  static std::shared_ptr<const DeviceTable> of(std::vector<double> values, std::size_t dim) {
    auto owned = std::make_shared<const std::vector<double>>(std::move(values));
    std::vector<ArrayColumn> columns;
    for (std::size_t j = 0; j < dim; ++j)
      columns.push_back(
          {owned->data() + j, static_cast<device::i64>(dim * sizeof(double)), NumberType::float64});
    const std::size_t rows = owned->size() / dim;
    return std::make_shared<HostTable>(rows, std::move(columns), std::move(owned));
  }

  std::vector<double> rows(const std::vector<std::size_t>& which) const override {
    num_values_read += which.size() * num_columns();
    std::vector<double> values;
    for (const std::size_t i : which)
      for (int j = 0; j < view().num_columns; ++j) values.push_back(view()(static_cast<device::i64>(i), j));
    return values;
  }
  std::vector<device::TestedRows> tested(const DeviceRowSource& source,
                                         const std::vector<device::RowTest>& tests) const override {
    std::vector<device::TestedRows> results(tests.size(), {num_rows(), 0});
    for (std::size_t row = 0; row < num_rows(); ++row)
      for (std::size_t t = 0; t < tests.size(); ++t) {
        const bool passed = passes(tests[t], formula(source)(static_cast<device::i64>(row), tests[t].output));
        results[t].num_passing += passed ? 1 : 0;
        if (!passed) results[t].first_failing = std::min<device::u64>(results[t].first_failing, row);
      }
    return results;
  }

  /// Returns the values that a DataSet of the source would have.
  static std::vector<double> values(const DeviceRowSource& source) {
    std::vector<double> values;
    const device::RowFormula rows = formula(source);
    for (device::i64 i = 0; i < rows.table.num_rows; ++i)
      for (int j = 0; j < source.dim(); ++j) values.push_back(rows(i, j));
    return values;
  }

  mutable std::size_t num_values_read = 0;  ///< values read to the host, without results of kernels

 protected:
  std::shared_ptr<const DeviceTable> with_columns(std::vector<ArrayColumn> columns) const override {
    return std::make_shared<HostTable>(num_rows(), std::move(columns), owner());
  }
  std::vector<device::ColumnFacts> facts() const override {
    return folded(plain_rows(shared_from_this()), device::FactsFold{});
  }
  std::vector<device::DeviationFold::State> deviations(const std::vector<double>& mean) const override {
    return folded(plain_rows(shared_from_this()), device::DeviationFold{mean.data()});
  }
  std::vector<double> sums(const DeviceRowSource& source) const override {
    return folded(source, device::SumFold{});
  }
  std::size_t count_equal(std::size_t num_slots, std::size_t num_parts) const override {
    std::size_t num_equal = 0;
    for (std::size_t part = 0; part < num_parts; ++part) {
      std::vector<device::u32> slots(num_slots);
      const device::EqualRows rows{view(), slots.data(), num_slots - 1, part, num_parts};
      for (device::i64 row = 0; row < view().num_rows; ++row) {
        const auto found = rows.insert(row, [](device::u32* at, device::u32 expected, device::u32 desired) {
          return *at == expected ? std::exchange(*at, desired) : *at;
        });
        if (found == device::Insertion::full) throw MachineError("full");
        num_equal += found == device::Insertion::equal ? 1 : 0;
      }
    }
    return num_equal;
  }
  std::vector<device::Digest> digests() const override {
    const auto chunks = [](std::size_t n) { return (n + device::kHashedRows - 1) / device::kHashedRows; };
    std::vector<device::Digest> digests;
    for (std::size_t i = 0; i < chunks(num_rows()); ++i)
      digests.push_back(digest_of_rows(view(), static_cast<device::i64>(i)));
    while (digests.size() > static_cast<std::size_t>(device::kHashedRows)) {
      std::vector<device::Digest> next;
      for (std::size_t i = 0; i < chunks(digests.size()); ++i)
        next.push_back(digest_of_digests(digests.data(), static_cast<device::i64>(digests.size()),
                                         static_cast<device::i64>(i)));
      digests = std::move(next);
    }
    return digests;
  }

 private:
  device::ArrayTable view() const {
    return {columns().data(), static_cast<int>(num_columns()), static_cast<device::i64>(num_rows())};
  }
  static device::RowFormula formula(const DeviceRowSource& source) {
    const DeviceTable& table = *source.table;
    return {{table.columns().data(), static_cast<int>(table.num_columns()),
             static_cast<device::i64>(table.num_rows())},
            source.shifts.data(),
            source.steps.data(),
            static_cast<int>(source.steps.size()),
            source.outputs.data(),
            source.dim()};
  }
  template <class Fold>
  std::vector<typename Fold::State> folded(const DeviceRowSource& source, const Fold& fold) const {
    const device::RowFormula rows = formula(source);
    std::vector<typename Fold::State> states;
    for (device::i64 block = 0; block < device::num_blocks_of(rows.table.num_rows); ++block)
      for (int column = 0; column < source.dim(); ++column) {
        states.push_back(fold.start());
        const device::i64 first = block * device::kBlockRows;
        for (device::i64 row = first; row < std::min(first + device::kBlockRows, rows.table.num_rows); ++row)
          fold.add(states.back(), rows(row, column), row, column);
      }
    return states;
  }
};

}  // namespace emomc::testing
