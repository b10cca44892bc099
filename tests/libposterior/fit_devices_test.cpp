// Tests fits whose starts are divided among several devices of one process.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/mixture_fits.hpp"
#include "libposterior/device_runs.hpp"
#include "libposterior/equal_chains.hpp"

namespace emomc {
namespace {

using testing::small_config;
using testing::small_table;

struct Case {
  RunConfig config = small_config(Backend::cpu, "component_wise");
  Table table = small_table(400);
  RunSetup setup = set_up_fits(config, &table);
  std::vector<std::vector<double>> starts;

  Case() {
    for (std::uint32_t i = 0; i < 7; ++i) {
      std::vector<double> start = setup.target->draw_from_prior(3, i, 0);
      start.resize(static_cast<std::size_t>(setup.engine->layout().dim()));
      starts.push_back(std::move(start));
    }
  }
  std::shared_ptr<MixtureFitter> fitter() {
    return make_fitter(Backend::cpu, setup.model, setup.loaded.data, *setup.device, 1);
  }
};

void expect_equal(const FitResult& is, const FitResult& was) {
  EXPECT_EQ(is.theta, was.theta);
  EXPECT_EQ(is.log_likelihood, was.log_likelihood);
  EXPECT_EQ(is.objective, was.objective);
  EXPECT_EQ(is.rounds, was.rounds);
  EXPECT_EQ(is.converged, was.converged);
}

TEST(FitDevices, DoNotChangeTheFits) {
  Case of;
  const auto alone = of.fitter();
  std::vector<FitResult> expected;
  for (const auto& start : of.starts) expected.push_back(alone->fit(start, {}));
  EXPECT_NE(expected[0].rounds, expected[1].rounds);
  for (const int size : {1, 2, 3, 9}) {
    RankTeam<MixtureFitter> team(size, [&](Communicator&) { return of.fitter(); });
    std::vector<std::size_t> told;
    int rounds = 0;
    double seconds = 0;
    const auto results =
        fits_from(of.starts, team, {}, [&](std::size_t done, const FitResult& result, double took) {
          told.push_back(done);
          rounds += result.rounds;
          seconds += took;
        });
    std::vector<std::size_t> counted(of.starts.size());
    std::iota(counted.begin(), counted.end(), std::size_t{1});
    EXPECT_EQ(told, counted);
    EXPECT_GT(seconds, 0);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      SCOPED_TRACE(std::to_string(size) + " " + std::to_string(i));
      expect_equal(results[i], expected[i]);
      rounds -= results[i].rounds;
    }
    EXPECT_EQ(rounds, 0);
  }
}

// A fitter that fails, or that waits until another one has failed.
class FailingOrWaiting final : public MixtureFitter {
 public:
  explicit FailingOrWaiting(Communicator& ranks) : ranks_(ranks) {}
  FitResult fit(std::span<const double>, const FitOptions&) override {
    if (ranks_.rank() == 1) throw MachineError("out of memory");
    while (!ranks_.has_failed()) std::this_thread::yield();
    return {};
  }

 private:
  Communicator& ranks_;
};

TEST(FitDevices, AnErrorOfOneEndsTheOthersAfterTheirPresentFit) {
  RankTeam<MixtureFitter> team(3,
                               [](Communicator& ranks) { return std::make_shared<FailingOrWaiting>(ranks); });
  const std::vector<std::vector<double>> starts(20, std::vector<double>{0.0});
  std::size_t most = 0;
  EXPECT_THROW(fits_from(starts, team, {}, [&](std::size_t done, const FitResult&, double) { most = done; }),
               MachineError);
  EXPECT_LE(most, 2U);
}

TEST(FitDevices, OneIsMadeForEachStartAtTheMost) {
  Case of;
  EXPECT_EQ(make_fitters(of.config, of.setup, 7)->size(), 1);  // the CPU is one device
  EXPECT_TRUE(of.setup.further.empty());
  of.config.devices = {0, 1};
  EXPECT_EQ(testing::refusal([&] { set_up_fits(of.config, &of.table); }),
            "devices: several GPUs are named and the backend is cpu; allowed: all, or backend: cuda");
}

TEST(FitDevices, GpusHaveTheFitsOfOne) {
  const int gpus = static_cast<int>(list_cuda_devices().size());
  if (gpus < 2) GTEST_SKIP() << "fewer than two GPUs";
  RunConfig config = small_config(Backend::cuda, "component_wise");
  const Table table = small_table(3000);
  const RunSetup setup = set_up_fits(config, &table);
  const FitStarts starts = fit_starts(config, setup, 8);
  const auto fits = [&](std::vector<int> devices) {
    config.devices = std::move(devices);
    const auto team = make_fitters(config, setup, 8);
    EXPECT_EQ(team->size(), static_cast<int>(config.devices.size()));
    return fits_from(starts.points, *team, {}, [](std::size_t, const FitResult&, double) {});
  };
  const auto expected = fits({0}), results = fits({0, 1});
  for (std::size_t i = 0; i < results.size(); ++i) expect_equal(results[i], expected[i]);
  EXPECT_EQ(make_fitters(config, setup, 1)->size(), 1);
}

}  // namespace
}  // namespace emomc
