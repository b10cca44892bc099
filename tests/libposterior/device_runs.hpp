// Makes small runs on several devices of one process. On the CPU each "device" is the host, with a thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/rank_gather.hpp"
#include "emomc/posterior/memory_table.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "thread_ranks.hpp"

namespace emomc::testing {

inline RunConfig small_config(Backend backend, const std::string& proposal) {
  RunConfig config;
  config.likelihood.components = 2;
  set_likelihood_defaults(config);
  config.sampler.proposal.kind = proposal;
  set_proposal_defaults(config);
  config.sampler.chains = 2;
  config.sampler.warmup = 12;
  config.sampler.draws = 8;
  config.sampler.thin = 1;
  config.sampler.seed = 5;
  config.backend = backend;
  if (backend == Backend::cuda) config.devices = {0};
  config.threads = 1;
  return config;
}

inline Table small_table(std::size_t num_rows) {
  std::vector<double> values;
  for (std::size_t i = 0; i < num_rows; ++i)
    values.push_back(static_cast<double>(i * 37 % 101) / 50 + (i % 3 == 0 ? 4 : 0));
  return make_table({"x"}, values);
}

inline std::vector<std::unique_ptr<Device>> hosts(int number) {
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < number; ++i) devices.push_back(make_host_device());
  return devices;
}

/// Returns a function that makes engines of the rows of `setup`.
inline EngineMaker engine_maker(const RunSetup& setup, const RunConfig& config) {
  return [&](Device& device, Communicator* ranks) {
    return make_engine(setup.backend, setup.model, config.likelihood.precision, setup.loaded.data, device,
                       config.threads, ranks);
  };
}

/// Skips a test on GPUs if there are fewer than two of them, or no NCCL.
class OnDevices : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (rank_counts(GetParam()).empty()) GTEST_SKIP() << "fewer than two GPUs";
    if (GetParam() == Backend::cuda && !nccl_problem().empty()) GTEST_SKIP() << nccl_problem();
  }
};
inline std::string name_of(const ::testing::TestParamInfo<Backend>& backend) {
  return backend.param == Backend::cpu ? "cpu" : "cuda";
}

}  // namespace emomc::testing
