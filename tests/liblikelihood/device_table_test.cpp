// Tests tables on a GPU as far as a host can: the computations of their kernels, done here in loops of the
// host (host_table.hpp), have the bits of the same numbers in a table of the host. cuda_table_test.cpp tests
// the rest.
#include "emomc/likelihood/device_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "emomc/core/sha256.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "host_table.hpp"

namespace emomc {
namespace {

using testing::HostTable;

constexpr std::size_t kSeveralBlocks = (std::size_t{2} << 20) + 1234;

std::vector<double> normal_numbers(std::size_t count, double mean, double sd) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(mean, sd);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

template <class T>
void expect_type(NumberType type) {
  const T values[] = {static_cast<T>(7), static_cast<T>(3), static_cast<T>(-5), static_cast<T>(100)};
  const ArrayColumn every{values, sizeof(T), type}, second{values + 1, 2 * sizeof(T), type};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(number_at(every, i), static_cast<double>(values[i]));
  EXPECT_EQ(number_at(second, 1), 100.0);
  const ArrayColumn backwards{values + 3, -static_cast<device::i64>(sizeof(T)), type};
  EXPECT_EQ(number_at(backwards, 1), static_cast<double>(values[2]));
  EXPECT_EQ(bytes_of(type), static_cast<int>(sizeof(T)));
}

TEST(DeviceTable, ReadsNumbersOfEveryTypeAtAnyDistance) {
  expect_type<double>(NumberType::float64);
  expect_type<float>(NumberType::float32);
  expect_type<std::int64_t>(NumberType::int64);
  expect_type<std::int32_t>(NumberType::int32);
  expect_type<std::int16_t>(NumberType::int16);
  expect_type<std::int8_t>(NumberType::int8);
  expect_type<std::uint64_t>(NumberType::uint64);
  expect_type<std::uint32_t>(NumberType::uint32);
  expect_type<std::uint16_t>(NumberType::uint16);
  expect_type<std::uint8_t>(NumberType::uint8);
}

TEST(DeviceTable, HasTheMeansAndSdsOfTheHostsTable) {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{777}, kSeveralBlocks}) {
    std::vector<double> values = normal_numbers(2 * rows, 1e6, 3);
    for (std::size_t i = 0; i < rows; ++i) values[2 * i + 1] = 0.1;  // a constant column
    const auto table = HostTable::of(values, 2);
    const ColumnUnits of_host = column_units(values, 2), &units = table->column_units();
    EXPECT_EQ(units.mean, of_host.mean) << rows;
    EXPECT_EQ(units.sd, of_host.sd) << rows;
    EXPECT_EQ(constant_columns(table->ranges()), constant_columns(values, 2));
    for (std::size_t j = 0; j < 2; ++j) {
      const ColumnRange range = column_ranges(values, 2)[j];
      EXPECT_EQ(table->ranges()[j].first, range.first);
      EXPECT_EQ(table->ranges()[j].least, range.least);
      EXPECT_EQ(table->ranges()[j].most, range.most);
      EXPECT_EQ(table->ranges()[j].largest, range.largest);
    }
    long double sum = 0, squares = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += values[2 * i];
    const long double mean = sum / static_cast<long double>(rows);
    for (std::size_t i = 0; i < rows; ++i) squares += (values[2 * i] - mean) * (values[2 * i] - mean);
    // The bound is six sds of the sum of a block's roundings, each of up to half of 2^-33.
    const double rounding = 2e-10 * std::sqrt(static_cast<double>(std::min(rows, std::size_t{1} << 20)));
    EXPECT_NEAR(of_host.mean[0], static_cast<double>(mean), rounding);
    const double sd = std::sqrt(static_cast<double>(squares / static_cast<long double>(rows)));
    EXPECT_NEAR(of_host.sd[0], rows > 1 ? sd : 1, 1e-12 * sd);
  }
}

// The units of a table of one block have the bits of a single pass over the rows in order.
TEST(ColumnUnits, OfOneBlockAreThoseOfTheRowsInOrder) {
  const std::vector<double> values = normal_numbers(5000, 40, 7);
  double mean = 0, squares = 0, rest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) mean += (values[i] - mean) / static_cast<double>(i + 1);
  for (const double x : values) {
    squares += (x - mean) * (x - mean);
    rest += x - mean;
  }
  const double n = 5000;
  const ColumnUnits units = column_units(values, 1);
  EXPECT_EQ(units.mean[0], mean);
  EXPECT_EQ(units.sd[0], std::sqrt((squares - rest * rest / n) / n));
}

TEST(DeviceTable, FindsTheFirstNumberThatIsNotFinite) {
  std::vector<double> values = normal_numbers(3000, 0, 1);
  EXPECT_FALSE(HostTable::of(values, 3)->first_not_finite());
  values[3 * 500 + 2] = INFINITY;
  EXPECT_EQ(HostTable::of(values, 3)->first_not_finite(), 3U * 500 + 2);
  values[3 * 500 + 1] = NAN;
  values[3 * 501] = NAN;
  EXPECT_EQ(HostTable::of(values, 3)->first_not_finite(), 3U * 500 + 1);
  values[0] = -INFINITY;
  EXPECT_EQ(HostTable::of(values, 3)->first_not_finite(), 0U);
}

TEST(DeviceTable, CountsRowsThatAreEqualToAnEarlierOne) {
  std::mt19937_64 random(4);
  std::vector<float> values;  // 200,000 rows of 1 column are counted in several parts
  for (int i = 0; i < 200'000; ++i) values.push_back(static_cast<float>(random() % 50'000) - 25'000.0F);
  values[17] = 0.0F;
  values[18] = -0.0F;
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto distinct = static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
  const HostTable table(values.size(), {{values.data(), 4, NumberType::float32}}, nullptr);
  EXPECT_EQ(table.num_duplicate_rows(), values.size() - distinct);
  const auto pairs = HostTable::of({1, 2, 1, 3, 1, 2, 2, 1, 1, 2}, 2);
  EXPECT_EQ(pairs->num_duplicate_rows(), 2U);
  EXPECT_EQ(HostTable::of(std::vector<double>(70'000, 4.5), 1)->num_duplicate_rows(), 69'999U);
}

std::string digest(const std::string& bytes) {
  const std::string hex = sha256_hex(bytes);
  std::string result;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    result += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return result;
}

TEST(DeviceTable, HasAHashOfItsRows) {
  for (const auto& [rows, dim] :
       {std::pair<std::size_t, std::size_t>{3, 1}, {5000, 3}, {kSeveralBlocks, 1}}) {
    const std::vector<double> values = normal_numbers(rows * dim, 0, 1);
    std::string level(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    for (std::size_t part = 1024 * dim * sizeof(double);; part = std::size_t{1024} * 32) {
      std::string next;
      for (std::size_t at = 0; at < level.size(); at += part) next += digest(level.substr(at, part));
      level = std::move(next);
      if (level.size() <= std::size_t{1024} * 32) break;
    }
    EXPECT_EQ(HostTable::of(values, dim)->hash(), sha256_hex(level)) << rows;
    std::vector<double> other = values;
    other.back() = std::nextafter(other.back(), 10);
    EXPECT_NE(HostTable::of(other, dim)->hash(), HostTable::of(values, dim)->hash());
  }
}

TEST(DeviceTable, ShiftsAndScalesAsTheHostDoes) {
  std::vector<double> values = normal_numbers(3 * 4000, 5, 2);
  for (std::size_t i = 0; i < 4000; ++i) values[3 * i + 1] = i % 2 == 0 ? 0.1 : std::nextafter(0.1, 1);
  const auto table = HostTable::of(values, 3);
  const ColumnUnits of_columns = column_units(values, 3);
  for (const ColumnUnits& units : {of_columns, exact_units(of_columns)}) {
    const std::vector<std::size_t> constant = constant_columns(values, 3);
    ASSERT_EQ(constant, std::vector<std::size_t>{1});
    std::vector<double> expected = values;
    for (std::size_t i = 0; i < 4000; ++i) expected[3 * i + 1] = values[1];
    standardize(units, expected);
    const DeviceRowSource source = shifted_rows(table, units, constant);
    EXPECT_EQ(HostTable::values(source), expected);
    EXPECT_EQ(HostTable::values(plain_rows(table)), values);
    const DataSet on_host = DataSet::single_segment(3, expected), on_device = data_on_device(source);
    EXPECT_EQ(on_device.num_rows, 4000U);
    EXPECT_EQ(spaced_rows(on_device, 333).values, spaced_rows(on_host, 333).values);
    std::vector<double> means(3);
    for (std::size_t i = 0; i < expected.size(); ++i) means[i % 3] += expected[i];
    for (double& mean : means) mean /= 4000;
    EXPECT_EQ(table->means(source), means);
  }
}

TEST(DeviceTable, PartsOfItAreOfItsColumns) {
  const auto table = HostTable::of({1, 2, 3, 4, 5, 6}, 3);
  const auto part = table->columns_at({2, 0});
  EXPECT_EQ(HostTable::values(plain_rows(part)), (std::vector<double>{3, 1, 6, 4}));
  EXPECT_EQ(table->columns_at({2, 0}), part);
  EXPECT_EQ(table->columns_at({0, 1, 2}), table);
}

TEST(DeviceTable, GivesMixturesTheirStartsFromFewRows) {
  const std::vector<double> values = normal_numbers(150'000, 0, 1);
  const DataSet on_host = DataSet::single_segment(1, values);
  const auto table = HostTable::of(values, 1);
  const DataSet on_device = data_on_device(plain_rows(table));
  const ModelSpec model{"gaussian_mixture", 2};
  const MixturePool of_host(on_host, model, {.seed = 1}), of_device(on_device, model, {.seed = 1});
  ASSERT_EQ(of_host.fits().size(), of_device.fits().size());
  for (std::size_t i = 0; i < of_host.fits().size(); ++i)
    EXPECT_EQ(of_host.fits()[i].theta, of_device.fits()[i].theta);
  EXPECT_EQ(of_host.refined(of_host.fits()[0])->theta, of_device.refined(of_device.fits()[0])->theta);
  of_device.refined(of_device.fits()[1]);
  const auto& read = dynamic_cast<const HostTable&>(*table).num_values_read;
  EXPECT_EQ(read, 108'000U) << "rows are read once, 108,000 of them";
}

TEST(DeviceTable, IsReadByTheEngineOfItsGpuAlone) {
  const DataSet data = data_on_device(plain_rows(HostTable::of({1, 2, 3}, 1)));
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    const auto device = make_device(backend);
    try {
      make_engine(backend, {"gaussian_mixture", 1}, Precision::float64, data, *device);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("data: they are in the memory of GPU 0"), std::string::npos);
    }
  }
}

ExpressionSpec spec_of(std::vector<ExpressionParameter> parameters, const std::string& density) {
  ExpressionSpec spec;
  spec.parameters = std::move(parameters);
  spec.log_density = {"likelihood.log_density", density};
  return spec;
}

const std::vector<std::string> kColumns{"x", "y", "g", "w"};

std::vector<double> made_rows() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> rows;
  for (std::size_t i = 0; i < 3000; ++i)
    rows.insert(rows.end(), {normal(random), static_cast<double>(random() % 7),
                             static_cast<double>(random() % 3), 0.5 + static_cast<double>(random() % 3)});
  return rows;
}

struct TwoBindings {
  Expression::Bound of_host, of_device;
};
TwoBindings bind_both(const ExpressionSpec& spec, const std::vector<double>& rows) {
  const Expression model(spec, kColumns);
  std::vector<double> used;
  for (std::size_t i = 0; i < rows.size(); i += kColumns.size())
    for (std::size_t j : model.used_columns()) used.push_back(rows[i + j]);
  const auto table = HostTable::of(rows, kColumns.size())->columns_at(model.used_columns());
  return {model.bind(Backend::cuda, used), model.bind(plain_rows(table))};
}

void expect_same_binding(const ExpressionSpec& spec, const std::vector<double>& rows = made_rows()) {
  const TwoBindings bound = bind_both(spec, rows);
  EXPECT_EQ(bound.of_device.header, bound.of_host.header);
  ASSERT_TRUE(bound.of_device.data.on_device);
  EXPECT_EQ(bound.of_device.data.dim, bound.of_host.data.dim);
  EXPECT_EQ(bound.of_device.data.num_rows, bound.of_host.data.num_rows);
  EXPECT_EQ(HostTable::values(*bound.of_device.data.on_device), bound.of_host.data.values);
}

TEST(DeviceTable, BindsToExpressionsAsTheHostsRowsDo) {
  expect_same_binding(
      spec_of({{"m", "m", Support::real, {}}, {"s", "s", Support::positive, {}}}, "normal_lpdf(x, m, s)"));
  // lgamma(y + 1) depends only on data, and so does the logarithm.
  expect_same_binding(
      spec_of({{"a", "a", Support::real, {}}}, "poisson_log_lpmf(y, a + log(w) + x * exp(x) / (1 + w))"));
  expect_same_binding(spec_of(
      {{"a", "a", Support::real, {}}, {"s", "s", Support::positive, {}}},
      "student_t_lpdf(x, 4, a + sin(x) + atan2(y, w), s) + a * (erf(w) + log_sum_exp(x, y) + cbrt(x) + "
      "tanh(w) + digamma(w) + Phi(w) + pow(w, 1.3) + log1p(y) + expm1(w) + lbeta(w, y + 1))"));
  expect_same_binding(
      spec_of({{"a", "a", Support::real, {}}, {"s", "s", Support::positive, {}}},
              "normal_lpdf(x, if_else(w > 1 && y >= 2, a, 3 * a), s * exp(-w)) + a * lgamma(y + 0.5) * "
              "sqrt(x + 10)"));
  ExpressionSpec weighted = spec_of({{"m", "m", Support::real, {}}}, "normal_lpdf(x, m, 1)");
  weighted.weights = "w";
  expect_same_binding(weighted);
  // A condition that all rows fulfil is left out, and one that some rows fulfil is kept.
  expect_same_binding(
      spec_of({{"m", "m", Support::real, {}}}, "normal_lpdf(x, if_else(w > 0, m, 3 * m), 1)"));
  expect_same_binding(
      spec_of({{"m", "m", Support::real, {}}}, "normal_lpdf(x, if_else(w > 1 && y >= 2, m, 3 * m), 1)"));
  expect_same_binding(
      spec_of({{"m", "m", Support::real, {}}}, "normal_lpdf(x, if_else(w > 100, exp(m), 3 * m), 1)"));
  expect_same_binding(spec_of({{"m", "m", Support::real, {3}}}, "normal_lpdf(x, m[g], 1)"));
}

std::string refusal_of(const ExpressionSpec& spec, const std::vector<double>& rows, bool on_device) {
  const Expression model(spec, kColumns);
  const auto table = HostTable::of(rows, kColumns.size())->columns_at(model.used_columns());
  try {
    if (on_device)
      static_cast<void>(model.bind(plain_rows(table)));
    else
      static_cast<void>(model.bind(Backend::cuda, HostTable::values(plain_rows(table))));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceTable, IsRefusedWithTheWordsOfTheHostsRows) {
  const ExpressionSpec index = spec_of({{"m", "m", Support::real, {3}}}, "normal_lpdf(x, m[g], 1)");
  const ExpressionSpec count = spec_of({{"a", "a", Support::real, {}}}, "poisson_log_lpmf(y, a)");
  ExpressionSpec weighted = spec_of({{"m", "m", Support::real, {}}}, "normal_lpdf(x, m, 1)");
  weighted.weights = "w";
  std::vector<double> rows = made_rows();
  rows[4 * 700 + 2] = 3;
  rows[4 * 900 + 2] = 1.5;
  rows[4 * 400 + 1] = 0.25;
  rows[4 * 300 + 3] = -1;
  for (const ExpressionSpec& spec : {index, count, weighted}) {
    const std::string refusal = refusal_of(spec, rows, true);
    EXPECT_EQ(refusal, refusal_of(spec, rows, false));
    EXPECT_NE(refusal.find(" of the data"), std::string::npos) << refusal;
  }
  ExpressionSpec list = spec_of({{"m", "m", Support::real, {}}}, "normal_lpdf(x, m + t[g], 1)");
  list.constants = {{"t", "constants.t", {3}, {1, 2, 4}}};
  EXPECT_EQ(refusal_of(list, made_rows(), false), "");
  EXPECT_NE(refusal_of(list, made_rows(), true).find("a list is indexed by the data alone"),
            std::string::npos);
}

}  // namespace
}  // namespace emomc
