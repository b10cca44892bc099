// Tests posteriors of data on a GPU: the draws are those of the same values on the host, bit for bit, and
// work on the host is refused. Tests without a GPU check what is known about the data before an engine reads
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "apps/program.hpp"
#include "emomc/posterior.hpp"
#include "emomc/posterior/data_setup.hpp"
#include "emomc/posterior/leave_one_out.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "liblikelihood/gpu_table.hpp"
#include "liblikelihood/host_table.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::expect_equal;
using testing::HostTable;
using testing::kFaithful;
using testing::line;
using testing::refusal;

/// Returns Faithful's table in a stand-in for a GPU's memory.
Table as_if_on_gpu(const Table& table) {
  return make_table(table.columns, HostTable::of(table.values, table.columns.size()));
}
Table on_gpu(const Table& table) {
  return make_table(table.columns, testing::table_on_gpu(table.values, table.columns.size()));
}

TEST(DeviceData, AreKnownAsTheHostsAre) {
  Table host = read_table(kFaithful);
  host.columns.emplace_back("constant");
  std::vector<double> wider;
  for (std::size_t i = 0; i < host.num_rows; ++i)
    wider.insert(wider.end(), {host.values[2 * i], host.values[2 * i + 1], 0.3});
  host = make_table(host.columns, wider);
  const Table device = as_if_on_gpu(host);
  EXPECT_EQ(device.num_rows, host.num_rows);
  EXPECT_EQ(device.num_duplicate_rows, host.num_duplicate_rows);
  EXPECT_GT(device.num_duplicate_rows, 0U);
  EXPECT_TRUE(device.values.empty());
  const ModelSpec model{"gaussian_mixture", 2};
  for (const bool standardize : {true, false}) {
    DataConfig config;
    config.standardize = standardize;
    const LoadedData a = prepare_data(host, config, model), b = prepare_data(device, config, model);
    EXPECT_EQ(b.units.mean, a.units.mean);
    EXPECT_EQ(b.units.sd, a.units.sd);
    EXPECT_EQ(b.column_sd, a.column_sd);
    EXPECT_EQ(b.constant_columns, a.constant_columns);
    EXPECT_EQ(HostTable::values(*b.data.on_device), a.data.values);
    EXPECT_NE(b.fingerprint.sha256, a.fingerprint.sha256);
    EXPECT_EQ(b.fingerprint.parts.at(0).name, kMemoryOfGpu);
  }
  const Table part = columns_of(device, {"waiting"});
  EXPECT_EQ(part.num_duplicate_rows, columns_of(host, {"waiting"}).num_duplicate_rows);
  EXPECT_EQ(part.on_device->num_columns(), 1U);

  ExpressionModel model_of_line = line();
  model_of_line.likelihood.standardized = {"duration"};
  const auto bound = [&](const Table& table) {
    return prepare_expression(table, model_of_line.likelihood, Backend::cuda, 4);
  };
  const LoadedExpression a = bound(host), b = bound(device);
  EXPECT_EQ(b.standardized.mean, a.standardized.mean);
  EXPECT_EQ(b.standardized.sd, a.standardized.sd);
  EXPECT_EQ(b.generated, a.generated);
  EXPECT_EQ(HostTable::values(*b.loaded.data.on_device), a.loaded.data.values);
}

TEST(DeviceData, AreRefusedWhereTheyAreNotAllowed) {
  const Table host = read_table(kFaithful);
  std::vector<double> values = host.values;
  values[2 * 5 + 1] = NAN;
  EXPECT_EQ(refusal([&] {
              make_table({"duration", "waiting"}, HostTable::of(values, 2));
            }),
            "data: row 5, column waiting: nan is not a finite number");
  EXPECT_EQ(refusal([&] {
              make_table({"a", "a"}, HostTable::of(values, 2));
            }),
            "data: column a is there twice");
  EXPECT_EQ(refusal([&] { make_table({"a"}, HostTable::of(values, 2)); }), "data: 2 columns have 1 names");
  const Table device = as_if_on_gpu(host);
  EXPECT_EQ(
      refusal([&] { backend_for(Backend::cpu, device); }),
      "backend: cpu computes on the host, and the data are in the memory of GPU 0; allowed: auto, cuda, "
      "or a copy of the data in the host's memory");
  EXPECT_EQ(backend_for(Backend::automatic, device), Backend::cuda);
  EXPECT_EQ(backend_for(Backend::automatic, host), Backend::automatic);
  RunConfig config;
  config.devices = {1};
  const DataSet data = data_on_device(plain_rows(device.on_device));
  EXPECT_EQ(
      refusal([&] { first_device(config, Backend::cuda, data); }),
      "devices: the data are in the memory of GPU 0, which alone samples them; allowed: 0, or a copy of "
      "the data in the host's memory");
  // A function of the program runs on the CPU only.
  ExpressionSpec spec = line().likelihood;
  spec.log_density.text.clear();
  spec.derived.clear();
  spec.code = {.key = "log_density",
               .file = "log_density",
               .text = "f",
               .type = "a test",
               .columns = {"duration"},
               .function = [](const double*, const double*, std::int64_t, std::int64_t, double*) {}};
  EXPECT_NE(refusal([&] {
              prepare_expression(device, spec, Backend::automatic, 1);
            }).find("backend cuda cannot call this function"),
            std::string::npos);
}

class DeviceDataOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (list_cuda_devices().empty()) GTEST_SKIP() << "no GPU";
  }
};

template <class Model>
void expect_the_draws_of_the_host(const Model& model, SampleOptions options) {
  const Table host = read_table(kFaithful);
  const Posterior of_gpu(model, on_gpu(host));
  options.draws = 200;
  options.warmup = 200;
  const Draws drawn = sample(of_gpu, options);
  EXPECT_EQ(drawn.backend, "cuda");
  options.backend = Backend::cuda;
  const Draws expected = sample(Posterior(model, host), options);
  expect_equal(drawn.chains, expected.chains);
  EXPECT_EQ(drawn.run.draws.values, expected.run.draws.values);
}

TEST_F(DeviceDataOnGpu, DrawsAreThoseOfTheHostsValues) {
  expect_the_draws_of_the_host(GaussianMixture{.components = 2}, {.chains = 4, .seed = 1});
  expect_the_draws_of_the_host(GaussianMixture{.components = 2, .covariance = Covariance::full},
                               {.chains = 4, .seed = 2, .proposal = "nuts"});
  expect_the_draws_of_the_host(GaussianMixture{.components = 2, .standardize = false},
                               {.chains = 4, .seed = 3, .init = "clusters"});
  expect_the_draws_of_the_host(line(), {.chains = 4, .seed = 4});
  expect_the_draws_of_the_host(line(), {.chains = 4, .seed = 5, .proposal = "nuts"});
}

TEST_F(DeviceDataOnGpu, DensitiesAndFitsAreOfTheSameRows) {
  const Table host = read_table(kFaithful);
  const GaussianMixture mixture{.components = 2};
  const Posterior of_gpu(mixture, on_gpu(host)), of_host(mixture, host);
  const std::vector<double> u = of_gpu.initial(1);
  EXPECT_NEAR(of_gpu.log_density(u), of_host.log_density(u), 1e-5 * std::abs(of_host.log_density(u)));
  EXPECT_NEAR(fit(of_gpu).log_likelihood, fit(of_host).log_likelihood, 1e-6);
  EXPECT_NE(refusal([&] { of_gpu.row_log_likelihoods(fit(of_gpu).theta); }).find("leave-one-out"),
            std::string::npos);
  EXPECT_NE(refusal([&] { sample(of_gpu, {.backend = Backend::cpu}); }).find("backend: cpu"),
            std::string::npos);
}

TEST_F(DeviceDataOnGpu, RunsInDirectoriesGoOnWithDataOfAGpuAlone) {
  const Table host = read_table(kFaithful);
  const testing::ProgramFolder folder;
  const GaussianMixture mixture{.components = 2};
  const Posterior of_gpu(mixture, on_gpu(host));
  SampleOptions options{.chains = 2, .draws = 300, .warmup = 200, .seed = 6};
  const Draws memory = sample(of_gpu, options);
  options.directory = folder / "run";
  int calls = 0;
  options.on_progress = [&](const Progress&) { return ++calls < 3; };
  sample(of_gpu, options);
  options.on_progress = {};
  options.existing = ExistingRun::resume;
  options.backend = Backend::cuda;
  EXPECT_NE(refusal([&] {
              sample(Posterior(mixture, host), options);
            }).find("the run was begun with data in the memory of a GPU; go on with data there"),
            std::string::npos);
  std::vector<double> other = host.values;
  other[0] += 1;
  EXPECT_NE(refusal([&] {
              sample(Posterior(mixture, on_gpu(make_table(host.columns, other))), options);
            }).find("memory of a GPU has other values"),
            std::string::npos);
  expect_equal(sample(Posterior(mixture, on_gpu(host)), options).chains, memory.chains);
}

}  // namespace
}  // namespace emomc
