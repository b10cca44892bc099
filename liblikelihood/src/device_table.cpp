#include "emomc/likelihood/device_table.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/device/row_values.hpp"

namespace emomc {

using device::i64;

int DeviceRowSource::dim() const {
  return static_cast<int>(steps.empty() ? table->num_columns() : outputs.size());
}

DeviceTable::DeviceTable(int gpu, std::size_t num_rows, std::vector<ArrayColumn> columns,
                         std::shared_ptr<const void> owner)
    : gpu_(gpu), num_rows_(num_rows), columns_(std::move(columns)), owner_(std::move(owner)) {
  constexpr std::size_t kMostRows = 0xffffffff;  // equal_rows.hpp counts them in 32 bits
  if (columns_.empty()) throw InputError("data: there are no columns");
  if (num_rows_ == 0) throw InputError("data: there are no rows");
  if (num_rows_ >= kMostRows)
    throw InputError("data: " + std::to_string(num_rows_) + " rows on a GPU; allowed: fewer than " +
                     std::to_string(kMostRows));
}

std::size_t DeviceTable::bytes() const {
  std::size_t of_row = 0;
  for (const ArrayColumn& column : columns_) of_row += static_cast<std::size_t>(bytes_of(column.type));
  return of_row * num_rows_;
}

std::shared_ptr<const DeviceTable> DeviceTable::columns_at(const std::vector<std::size_t>& places) const {
  const std::lock_guard lock(mutex_);
  bool is_all = places.size() == columns_.size();
  for (std::size_t j = 0; is_all && j < places.size(); ++j) is_all = places[j] == j;
  if (is_all) return shared_from_this();
  std::shared_ptr<const DeviceTable>& part = parts_[places];
  if (part) return part;
  std::vector<ArrayColumn> columns;
  for (const std::size_t place : places) columns.push_back(columns_[place]);
  return part = with_columns(std::move(columns));
}

const std::vector<device::ColumnFacts>& DeviceTable::known_facts() const {
  const std::lock_guard lock(mutex_);
  if (facts_.empty()) facts_ = facts();
  return facts_;
}

std::optional<std::size_t> DeviceTable::first_not_finite() const {
  std::optional<std::size_t> first;
  const auto& facts = known_facts();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].first_not_finite == device::kNoRow) continue;
    const std::size_t at =
        static_cast<std::size_t>(facts[i].first_not_finite) * num_columns() + i % num_columns();
    first = std::min(first.value_or(at), at);
  }
  return first;
}

const std::vector<ColumnRange>& DeviceTable::ranges() const {
  const std::lock_guard lock(mutex_);
  if (!ranges_.empty()) return ranges_;
  const auto& facts = known_facts();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const device::ColumnFacts& of_block = facts[i];
    if (i < num_columns()) {
      ranges_.push_back({of_block.first, of_block.least, of_block.most, of_block.largest});
      continue;
    }
    ColumnRange& range = ranges_[i % num_columns()];
    range.least = std::min(range.least, of_block.least);
    range.most = std::max(range.most, of_block.most);
    range.largest = std::max(range.largest, of_block.largest);
  }
  return ranges_;
}

const ColumnUnits& DeviceTable::column_units() const {
  const std::lock_guard lock(mutex_);
  if (units_) return *units_;
  const std::size_t dim = num_columns();
  std::vector<double> mean(dim), squares(dim), sum(dim);
  const auto& facts = known_facts();
  for (std::size_t i = 0; i < facts.size(); ++i)
    mean[i % dim] = device::merged_mean(mean[i % dim], static_cast<i64>(i / dim) * device::kBlockRows,
                                        facts[i].mean, facts[i].count);
  const auto of_blocks = deviations(mean);
  for (std::size_t i = 0; i < of_blocks.size(); ++i) {
    squares[i % dim] += of_blocks[i].squares;
    sum[i % dim] += of_blocks[i].sum;
  }
  units_ = units_of_sums(mean, squares, sum, num_rows_, ranges());
  return *units_;
}

std::size_t DeviceTable::num_duplicate_rows() const {
  const std::lock_guard lock(mutex_);
  if (num_duplicates_) return *num_duplicates_;
  // A table of slots takes at most a quarter of the columns' memory, and half of the slots stay empty.
  constexpr std::size_t kFewestSlots = 1 << 16;
  const std::size_t room = std::bit_floor(std::max<std::size_t>(bytes() / 4 / sizeof(device::u32), 1));
  const std::size_t num_slots = std::max(kFewestSlots, std::min(room, std::bit_ceil(2 * num_rows_)));
  const std::size_t num_parts = (2 * num_rows_ + num_slots - 1) / num_slots;
  num_duplicates_ = count_equal(num_slots, num_parts);
  return *num_duplicates_;
}

const std::string& DeviceTable::hash() const {
  const std::lock_guard lock(mutex_);
  if (!hash_.empty()) return hash_;
  std::string bytes;
  for (const device::Digest& digest : digests())
    for (const device::u32 word : digest.words)
      for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(word >> shift);
  return hash_ = sha256_hex(bytes);
}

const std::vector<double>& DeviceTable::spaced_rows(std::size_t count) const {
  const std::lock_guard lock(mutex_);
  std::vector<double>& known = spaced_[count];
  if (!known.empty()) return known;
  std::vector<std::size_t> which(count);
  for (std::size_t i = 0; i < count; ++i) which[i] = i * num_rows_ / count;
  known = rows(which);
  return known;
}

std::vector<double> DeviceTable::means(const DeviceRowSource& source) const {
  const auto dim = static_cast<std::size_t>(source.dim());
  std::vector<double> means(dim);
  const std::vector<double> of_blocks = sums(source);
  for (std::size_t i = 0; i < of_blocks.size(); ++i) means[i % dim] += of_blocks[i];
  for (double& mean : means) mean /= static_cast<double>(num_rows_);
  return means;
}

DeviceRowSource plain_rows(std::shared_ptr<const DeviceTable> table) {
  std::vector<device::ColumnShift> shifts(table->num_columns());
  return {std::move(table), std::move(shifts)};
}

DeviceRowSource shifted_rows(std::shared_ptr<const DeviceTable> table, const ColumnUnits& units,
                             const std::vector<std::size_t>& constant) {
  DeviceRowSource source = plain_rows(std::move(table));
  for (const std::size_t j : constant) {
    source.shifts[j].is_constant = true;
    source.shifts[j].value = source.table->ranges()[j].first;
  }
  for (std::size_t j = 0; j < units.sd.size(); ++j) {
    source.shifts[j].mean = units.mean[j];
    source.shifts[j].sd = units.sd[j];
  }
  return source;
}

std::vector<double> spaced_rows(const DeviceRowSource& source, std::size_t count) {
  const std::vector<double>& raw = source.table->spaced_rows(count);
  const std::size_t columns = source.table->num_columns();
  std::vector<ArrayColumn> of_host;
  for (std::size_t j = 0; j < columns; ++j)
    of_host.push_back({raw.data() + j, static_cast<i64>(columns * sizeof(double)), NumberType::float64});
  const device::RowFormula formula{{of_host.data(), static_cast<int>(columns), static_cast<i64>(count)},
                                   source.shifts.data(),
                                   source.steps.data(),
                                   static_cast<int>(source.steps.size()),
                                   source.outputs.data(),
                                   source.dim()};
  std::vector<double> values;
  values.reserve(count * static_cast<std::size_t>(source.dim()));
  for (std::size_t i = 0; i < count; ++i)
    for (int j = 0; j < source.dim(); ++j) values.push_back(formula(static_cast<i64>(i), j));
  return values;
}

}  // namespace emomc
