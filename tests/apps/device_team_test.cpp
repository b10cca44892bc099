// Tests chains that move by the states of other chains on several devices of one process: faults, signals and
// resuming. Host devices, each with a thread, replace GPUs; the last test needs two GPUs.
#include <csignal>
#include <nlohmann/json.hpp>

#include "device_run.hpp"
#include "emomc/core/rank_gather.hpp"
#include "observed_device.hpp"
#include "program.hpp"
#include "signals.hpp"

namespace emomc {
namespace {

using testing::ProgramFolder;

const std::string kMoves =
    "threads: 1\ncheckpoint: {steps: 20}\nlikelihood: {components: 1}\n"
    "sampler: {chains: 8, warmup: 40, draws: 60, seed: 5, proposal: {kind: differential_evolution}}\n";

class DeviceTeam : public ::testing::Test {
 protected:
  using Devices = std::vector<std::unique_ptr<Device>>;

  DeviceTeam() {
    std::string csv = "x\n";
    for (int i = 0; i < 60; ++i) csv += std::to_string((i % 2 == 0 ? -3 : 2) + 0.37 * (i % 7)) + "\n";
    folder.write("data.csv", csv);
  }
  RunResult run(const std::string& directory, Devices further) const {
    return testing::run_on(folder / "data.csv", folder / directory, "cpu", make_host_device, kMoves,
                           std::move(further));
  }
  static Devices hosts(int number) {
    Devices devices;
    for (int i = 0; i < number; ++i) devices.push_back(make_host_device());
    return devices;
  }
  void expect_draws_of_one() {
    if (!folder.exists("alone")) run("alone", {});
    const auto expected = read_chains(folder / "alone"), chains = read_chains(folder / "run");
    ASSERT_EQ(chains.size(), 8U);
    for (std::size_t c = 0; c < expected.size(); ++c) {
      EXPECT_EQ(chains[c].steps, expected[c].steps) << c;
      EXPECT_EQ(chains[c].parameters, expected[c].parameters) << c;
      EXPECT_EQ(chains[c].log_likelihood, expected[c].log_likelihood) << c;
      EXPECT_EQ(chains[c].accepted, expected[c].accepted) << c;
    }
  }
  nlohmann::json manifest() const { return nlohmann::json::parse(folder.read("run/manifest.json")); }

  ProgramFolder folder;
};

TEST_F(DeviceTeam, ARunSaysHowManyDevicesItHad) {
  ASSERT_TRUE(run("run", hosts(2)).finished);
  EXPECT_EQ(manifest()["devices"], 3);
  expect_draws_of_one();
}

TEST_F(DeviceTeam, AFaultOfOneEndsAllAndTheRunGoesOnWithAnotherNumber) {
  constexpr long kNever = 1L << 40;
  long calls = 0;
  const auto with_fault_at = [&](long at) {
    calls = 0;
    Devices further = hosts(1);
    further.push_back(testing::failing_device(at, &calls));
    return run("run", std::move(further));
  };
  ASSERT_TRUE(with_fault_at(kNever).finished);
  const long all = calls;
  int with_checkpoint = 0;
  for (long at = 1; at <= all; at += std::max(1L, all / 9)) {
    SCOPED_TRACE(at);
    std::filesystem::remove_all(folder / "run");
    std::string message;
    try {
      with_fault_at(at);
      ADD_FAILURE() << "did not fail";
    } catch (const MachineError& error) {
      message = error.what();
    }
    EXPECT_EQ(calls, at) << "the device was asked for more after it had failed";
    EXPECT_NE(message.find("cudaErrorLaunchFailure"), std::string::npos) << message;
    if (folder.exists("run/checkpoint")) {
      ++with_checkpoint;
      EXPECT_NE(message.find("is good; when this is fixed, go on"), std::string::npos) << message;
      EXPECT_EQ(manifest()["status"], "failed");
    }
    EXPECT_TRUE(run("run", hosts(with_checkpoint % 3)).finished);
    expect_draws_of_one();
  }
  EXPECT_GE(with_checkpoint, 3);
}

// The test runs in a process of its own, since the state of signals belongs to the process. A thread of
// another rank than the first receives the signal.
TEST_F(DeviceTeam, ASignalStopsAllAtACheckpoint) {
  EXPECT_EXIT(
      {
        int launches = 0;
        Devices further = hosts(1);
        further.push_back(std::make_unique<testing::ObservedDevice>([&](std::string_view call) {
          if (call == "launch" && ++launches == 50) std::raise(SIGTERM);  // in the 50th of 100 steps
        }));
        const RunResult result = run("run", std::move(further));
        std::_Exit(result.finished ? 0 : app::signal_exit_code());
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "");
  EXPECT_EQ(manifest()["status"], "interrupted");
  const auto step = read_checkpoint(folder / "run/checkpoint").state.step;
  EXPECT_GE(step, 50);
  EXPECT_LE(step, 60);
  ASSERT_TRUE(run("run", hosts(1)).finished);
  expect_draws_of_one();
}

// The test runs the program on GPUs.
TEST_F(DeviceTeam, TwoGpusOfAProcessHaveTheDrawsOfOne) {
  if (list_cuda_devices().size() < 2) GTEST_SKIP() << "fewer than two GPUs";
  if (!nccl_problem().empty()) GTEST_SKIP() << nccl_problem();
  folder.write("config.yaml", kMoves + "data: {file: data.csv}\nbackend: cuda\n");
  const auto on = [&](const std::string& command, const std::string& devices) {
    auto result = folder.run(command + " config.yaml --set 'devices=" + devices + "'");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result;
  };
  on("run --output alone -q", "[0]");
  EXPECT_NE(on("run --output run", "[0, 1]").err.find("chains are spread over 2 GPUs, which gather"),
            std::string::npos);
  EXPECT_EQ(manifest()["devices"], 2);
  expect_draws_of_one();
  // With so few rows a second GPU would not make the run faster.
  EXPECT_NE(on("check", "all").out.find("one GPU is used: differential_evolution gathers log likelihoods"),
            std::string::npos);
  EXPECT_NE(on("check", "[0, 1]").out.find("GPUs 0, 1: 4 chains and "), std::string::npos);
  const auto gpus = nlohmann::json::parse(on("check --json", "[1, 0]").out)["gpus"];
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0]["gpu"], 1);
  EXPECT_EQ(gpus[1]["chains"], 4);
  on("fit --output one.json -q", "[0]");
  on("fit --output two.json -q", "[0, 1]");
  EXPECT_EQ(folder.read("two.json"), folder.read("one.json"));
}

}  // namespace
}  // namespace emomc
