// Tests runs in which a GPU fails or has no free memory: the exit code is 3, the files remain valid, and the
// run continues from them to the draws of an undisturbed run. device_faults_test.cpp tests every call of a
// device that merely reports a failure. While these tests run, other programs would find no memory on the
// same GPU.
#include <nlohmann/json.hpp>

#include "liblikelihood/random_mixture.hpp"
#include "struck_run.hpp"

#ifdef EMOMC_GPU_FAULT
#include <cuda_runtime_api.h>
#endif

namespace emomc {
namespace {

#ifdef EMOMC_GPU_FAULT

constexpr const char* kOnGpu =
    "backend: cuda\nlikelihood: {components: 2}\n"
    "sampler: {chains: 2, warmup: 5000, draws: 20000, thin: 10, seed: 3, proposal: {kind: component_wise}}\n";

class CudaFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
  static std::string status(const testing::StruckRun& run) {
    return nlohmann::json::parse(run.folder.read("run/manifest.json"))["status"];
  }
};

TEST_F(CudaFaults, ATrapAtAnyTimeLeavesTheLastCheckpointGood) {
  testing::StruckRun run(kOnGpu, 2000);
  int during_warmup = 0, later = 0;
  const int num_traps = testing::long_form() ? 60 : 6;
  for (int trap = 0; trap < num_traps; ++trap) {
    run.clear();
    const int after = trap * 600 / num_traps;
    const auto struck = run.folder.run("run config.yaml --output run -q",
                                       "env LD_PRELOAD='" EMOMC_GPU_FAULT "' EMOMC_GPU_FAULT_FILE='" +
                                           (run.folder / "run/checkpoint").string() +
                                           "' EMOMC_GPU_FAULT_AFTER=" + std::to_string(after));
    ASSERT_EQ(struck.exit_code, 3) << after << " ms: " << struck.err;
    const auto step = read_checkpoint(run.folder / "run/checkpoint").state.step;
    (step < 5000 ? during_warmup : later) += 1;
    EXPECT_NE(struck.err.find("cudaErrorLaunchFailure"), std::string::npos) << struck.err;
    EXPECT_NE(struck.err.find("the checkpoint of step " + std::to_string(step) + " is good"),
              std::string::npos)
        << struck.err;
    EXPECT_EQ(status(run), "failed");
    const auto resumed = run.resume();
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    run.expect_the_same_draws(std::to_string(after) + " ms after the first checkpoint");
  }
  EXPECT_GE(later, num_traps / 3);
  std::cout << num_traps << " traps, last checkpoint in warm-up " << during_warmup << ", later " << later
            << '\n';
}

// Allocates all memory of a GPU.
class Hog {
 public:
  Hog() {
    for (std::size_t bytes = std::size_t{1} << 34; bytes >= 1 << 20; bytes /= 2)
      for (void* part = nullptr; cudaMalloc(&part, bytes) == cudaSuccess;) parts_.push_back(part);
    cudaGetLastError();
  }
  ~Hog() {
    for (void* part : parts_) cudaFree(part);
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;

 private:
  std::vector<void*> parts_;
};

TEST_F(CudaFaults, NoMemoryIsSaidBeforeSamplingStarts) {
  testing::StruckRun run(kOnGpu, 2000);
  std::string csv = "x\n";
  for (int i = 0; i < 2'000'000; ++i) csv += std::to_string((i % 2 == 0 ? -3 : 2) + 0.37 * (i % 7)) + "\n";
  run.folder.write("large.csv", csv);
  const std::string large =
      "run config.yaml --output run -q --set data.file=large.csv --set sampler.warmup=100 "
      "--set sampler.draws=100 --set checkpoint.steps=200 ";
  {
    const Hog hog;
    const auto refused = run.folder.run(large);
    EXPECT_EQ(refused.exit_code, 3) << refused.err;
    EXPECT_NE(refused.err.find("memory"), std::string::npos) << refused.err;
    EXPECT_FALSE(run.folder.exists("run/chains/chain-00000.emc"));
  }
  const auto first = run.folder.run(large + "--resume");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string before = run.folder.read("run/checkpoint");
  {
    const Hog hog;
    const auto refused = run.folder.run(large + "--set sampler.draws=200 --resume");
    EXPECT_EQ(refused.exit_code, 3) << refused.err;
  }
  EXPECT_TRUE(run.folder.read("run/checkpoint") == before);
  const auto resumed = run.folder.run(large + "--set sampler.draws=200 --resume");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

#else

TEST(CudaFaults, ATrapAtAnyTimeLeavesTheLastCheckpointGood) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace
}  // namespace emomc
