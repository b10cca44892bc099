// Tests tables on a GPU: their kernels have the results of the loops of host_table.hpp. Engines that read
// these tables have the bits of engines that read the same numbers from the host.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/expression.hpp"
#include "emomc/likelihood/mixture_fit.hpp"
#include "gpu_table.hpp"
#include "host_table.hpp"
#include "random_mixture.hpp"

namespace emomc {
namespace {

using testing::HostTable;
using testing::table_on_gpu;

class CudaTable : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

std::vector<double> numbers(std::size_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(12, 3);
  std::vector<double> values(count);
  for (double& value : values) value = std::round(4096 * normal(random)) / 4096;  // makes some equal
  return values;
}

void expect_same_table(const DeviceTable& gpu, const DeviceTable& host) {
  EXPECT_EQ(gpu.first_not_finite(), host.first_not_finite());
  EXPECT_EQ(gpu.hash(), host.hash());
  EXPECT_EQ(gpu.num_duplicate_rows(), host.num_duplicate_rows());
  EXPECT_EQ(gpu.spaced_rows(1000), host.spaced_rows(1000));
  EXPECT_EQ(gpu.column_units().mean, host.column_units().mean);
  EXPECT_EQ(gpu.column_units().sd, host.column_units().sd);
  for (std::size_t j = 0; j < host.num_columns(); ++j) {
    EXPECT_EQ(gpu.ranges()[j].first, host.ranges()[j].first);
    EXPECT_EQ(gpu.ranges()[j].least, host.ranges()[j].least);
    EXPECT_EQ(gpu.ranges()[j].most, host.ranges()[j].most);
    EXPECT_EQ(gpu.ranges()[j].largest, host.ranges()[j].largest);
  }
}

TEST_F(CudaTable, IsReadAsTheHostReads) {
  for (const auto& [rows, dim] : {std::pair<std::size_t, std::size_t>{1500, 1}, {3001, 5}, {2'200'000, 2}}) {
    const std::vector<double> values = numbers(rows * dim);
    expect_same_table(*table_on_gpu(values, dim), *HostTable::of(values, dim));
    const std::vector<float> single(values.begin(), values.end());
    const std::vector<double> rounded(single.begin(), single.end());
    expect_same_table(*table_on_gpu(single, dim, NumberType::float32), *HostTable::of(rounded, dim));
  }
  std::vector<double> values = numbers(3000);
  values[1234] = NAN;
  values[2234] = INFINITY;
  EXPECT_EQ(table_on_gpu(values, 3)->first_not_finite(), 1234U);
}

TEST_F(CudaTable, CountsEqualRowsInSeveralParts) {
  std::vector<float> values;
  std::mt19937_64 random(4);
  for (int i = 0; i < 500'000; ++i) values.push_back(static_cast<float>(random() % 100'000));
  const std::vector<double> same(values.begin(), values.end());
  EXPECT_EQ(table_on_gpu(values, 1, NumberType::float32)->num_duplicate_rows(),
            HostTable::of(same, 1)->num_duplicate_rows());
  EXPECT_EQ(table_on_gpu(std::vector<double>(100'000, 1.5), 1)->num_duplicate_rows(), 99'999U);
}

TEST_F(CudaTable, KnowsItsGpuByTheAddress) {
  const auto table = table_on_gpu(numbers(10), 1);
  EXPECT_EQ(gpu_of_address(table->columns()[0].data), 0);
  const std::vector<double> host(3);
  EXPECT_THROW(gpu_of_address(host.data()), InputError);
  std::vector<ArrayColumn> crooked = table->columns();
  crooked[0].data = static_cast<const char*>(crooked[0].data) + 1;
  EXPECT_THROW(make_device_table(0, 5, crooked, nullptr), InputError);
}

TEST_F(CudaTable, GivesMixturesTheBitsOfTheHostsRows) {
  for (const int d : {1, 3}) {
    const testing::MixtureProblem p = testing::random_problem(3, d, 70'000, 9);
    const auto dim = static_cast<std::size_t>(d);
    std::vector<double> shifted = p.data.values;
    const ColumnUnits units = column_units(shifted, dim);
    standardize(units, shifted);
    const DataSet of_host = DataSet::single_segment(d, shifted),
                  of_gpu = data_on_device(shifted_rows(table_on_gpu(p.data.values, dim), units, {}));
    const ModelSpec model{"gaussian_mixture", 3};
    for (const Precision precision : {Precision::mixed, Precision::float64}) {
      testing::Evaluator host(Backend::cuda, model, precision, of_host),
          gpu(Backend::cuda, model, precision, of_gpu);
      EXPECT_EQ(gpu(p.theta), host(p.theta));
      std::vector<double> host_rows(of_host.num_rows), gpu_rows(of_host.num_rows);
      host.engine().evaluate_rows(p.theta.data(), host_rows.data());
      gpu.engine().evaluate_rows(p.theta.data(), gpu_rows.data());
      EXPECT_EQ(gpu_rows, host_rows);
      double host_sum = 0, gpu_sum = 1;
      host.engine().sums_by_segment(p.theta.data(), 1, &host_sum);
      gpu.engine().sums_by_segment(p.theta.data(), 1, &gpu_sum);
      EXPECT_EQ(gpu_sum, host_sum);
      EXPECT_EQ(gpu_sum, gpu(p.theta)[0]) << "a sum on its way to the host is that of a step";
    }
    const auto device = make_cuda_device();
    const auto fit_host = make_fitter(Backend::cuda, model, of_host, *device),
               fit_gpu = make_fitter(Backend::cuda, model, of_gpu, *device);
    FitOptions few;
    few.max_rounds = 20;
    EXPECT_EQ(fit_gpu->fit(p.theta, few).theta, fit_host->fit(p.theta, few).theta);
  }
}

TEST_F(CudaTable, EnginesOfOneTableShareItsRows) {
  const std::size_t rows = 8 << 20;
  const auto table = table_on_gpu(numbers(rows), 1);
  const DataSet data = data_on_device(plain_rows(table));
  const auto device = make_cuda_device();
  const ModelSpec model{"gaussian_mixture", 1};
  const auto one = make_engine(Backend::cuda, model, Precision::float64, data, *device);
  const std::size_t before = device->free_bytes();
  const auto other = make_engine(Backend::cuda, model, Precision::float64, data, *device);
  EXPECT_LT(before - device->free_bytes(), rows * sizeof(double) / 2);
  EXPECT_EQ(one->device_likelihood()->rows, other->device_likelihood()->rows);
}

ExpressionSpec spec_of(const std::string& density) {
  ExpressionSpec spec;
  spec.parameters = {{"a", "a", Support::real, {}}, {"s", "s", Support::positive, {}}};
  spec.log_density = {"likelihood.log_density", density};
  return spec;
}

TEST_F(CudaTable, GivesExpressionsTheBitsOfTheHostsRows) {
  std::mt19937_64 random(5);
  std::vector<double> rows;
  for (int i = 0; i < 20'000; ++i)
    rows.insert(rows.end(), {numbers(1)[0] + 1e-3 * static_cast<double>(random() % 1000),
                             static_cast<double>(random() % 70), 0.5 + static_cast<double>(random() % 3)});
  const auto table = table_on_gpu(rows, 3);
  const std::vector<std::string> columns{"x", "y", "w"};
  for (const std::string density :
       {"normal_lpdf(x, a, s)", "poisson_log_lpmf(y, a + s * log(w))",
        "normal_lpdf(x, if_else(w > 1 && y >= 2, a, 3 * a), s * exp(-w)) + a * lgamma(y + 0.5) * sqrt(x)",
        "student_t_lpdf(x, 4, a + sin(x) + atan2(y, w), s) + a * (erf(w) + log_sum_exp(x, y) + cbrt(x) + "
        "tanh(w) + digamma(w) + Phi(w) + pow(w, 1.3) + log1p(y) + expm1(w) + lbeta(w, y + 1))"}) {
    const Expression model(spec_of(density), columns);
    std::vector<double> used;
    for (std::size_t i = 0; i < rows.size(); i += 3)
      for (const std::size_t j : model.used_columns()) used.push_back(rows[i + j]);
    const Expression::Bound host = model.bind(Backend::cuda, used),
                            gpu = model.bind(plain_rows(table->columns_at(model.used_columns())));
    EXPECT_EQ(gpu.header, host.header);
    const auto device = make_cuda_device();
    for (const Precision precision : {Precision::float64, Precision::mixed}) {
      const auto of_host = make_engine(Backend::cuda, host.model, precision, host.data, *device),
                 of_gpu = make_engine(Backend::cuda, gpu.model, precision, gpu.data, *device);
      std::vector<double> host_values(of_host->num_rows()), gpu_values(of_gpu->num_rows());
      const double theta[] = {0.3, 1.7};
      of_host->evaluate_rows(theta, host_values.data());
      of_gpu->evaluate_rows(theta, gpu_values.data());
      EXPECT_EQ(gpu_values, host_values) << density;
    }
  }
  ExpressionSpec count = spec_of("poisson_log_lpmf(w, a) + s");
  const Expression refused(count, columns);
  try {
    static_cast<void>(refused.bind(plain_rows(table->columns_at(refused.used_columns()))));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("in row"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace emomc
