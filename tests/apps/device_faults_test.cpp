// Tests runs in which a device fails: the last checkpoint is valid, the device is not called again, and the
// run continues from the checkpoint. A host device that throws the exceptions of a GPU replaces the GPU.
#include <nlohmann/json.hpp>

#include "device_run.hpp"
#include "observed_device.hpp"
#include "struck_run.hpp"

namespace emomc {
namespace {

constexpr long kNever = 1L << 40;

TEST(DeviceFaults, AtAnyCallLeaveTheLastCheckpointGood) {
  testing::StruckRun run(testing::kComponentWise);
  const auto data = run.folder / "data.csv";
  long calls = 0;
  const auto struck_at = [&](long at) {
    calls = 0;
    return testing::run_on(data, run.folder / "run", "reference",
                           [&] { return testing::failing_device(at, &calls); });
  };
  ASSERT_TRUE(struck_at(kNever).finished);
  std::filesystem::rename(run.folder / "run", run.folder / "undisturbed");
  const long all = calls, stride = testing::long_form() ? 1 : std::max(1L, all / 20);
  int with_checkpoint = 0;
  for (long at = 1; at <= all; at += stride) {
    std::filesystem::remove_all(run.folder / "run");
    std::string message;
    try {
      struck_at(at);
      ADD_FAILURE() << "call " << at << " did not fail";
    } catch (const MachineError& error) {  // the program returns exit code 3 in this case
      message = error.what();
    }
    EXPECT_EQ(calls, at) << "the device was asked for more after it had failed";
    EXPECT_NE(message.find("cudaErrorLaunchFailure"), std::string::npos) << message;
    if (run.folder.exists("run/checkpoint")) {
      ++with_checkpoint;
      const auto step = read_checkpoint(run.folder / "run/checkpoint").state.step;
      EXPECT_NE(message.find("the checkpoint of step " + std::to_string(step) + " is good"),
                std::string::npos)
          << message;
      EXPECT_EQ(nlohmann::json::parse(run.folder.read("run/manifest.json"))["status"], "failed");
    }
    EXPECT_TRUE(struck_at(kNever).finished);
    const auto expected = read_chains(run.folder / "undisturbed"), chains = read_chains(run.folder / "run");
    for (std::size_t c = 0; c < expected.size(); ++c) {
      EXPECT_EQ(chains[c].parameters, expected[c].parameters) << "call " << at;
      EXPECT_EQ(chains[c].log_likelihood, expected[c].log_likelihood) << "call " << at;
    }
  }
  EXPECT_GE(with_checkpoint, 8);
  std::cout << all << " calls, " << with_checkpoint << " faults after a checkpoint\n";
}

}  // namespace
}  // namespace emomc
