// Runs `emomc run` in the test's own process, on a device that the test provides.
#pragma once

#include "config_identity.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/posterior/run_identity.hpp"
#include "sampling_run.hpp"

namespace emomc::testing {

inline const char* const kSmallMixture =
    "likelihood: {components: 2}\nthreads: 1\ncheckpoint: {steps: 20}\n"
    "sampler: {chains: 2, warmup: 60, draws: 50, seed: 3}\n";

/// Samples a small mixture into `directory`, from its checkpoint if there is one. `make` returns the device,
/// and `further` contains devices that take their part of the chains.
template <class MakeDevice>
RunResult run_on(const std::filesystem::path& data, const std::filesystem::path& directory,
                 const std::string& backend, const MakeDevice& make, const std::string& text = kSmallMixture,
                 std::vector<std::unique_ptr<Device>> further = {}) {
  using namespace app;
  const RunConfig config = parse_run_config(
      text, "config",
      {"data.file=" + data.string(), "output.directory=" + directory.string(), "backend=" + backend});
  RunClaim claim(directory, ExistingRun::resume);
  RunSetup setup = set_up(config);
  const EngineMaker engine_on = [&](Device& device, Communicator* ranks) {
    return make_engine(setup.backend, setup.model, config.likelihood.precision, setup.loaded.data, device,
                       config.threads, ranks);
  };
  setup.engine.reset();
  setup.device = make();
  setup.engine = engine_on(*setup.device, nullptr);
  add_devices(std::move(further), engine_on, setup);
  setup.options.segment_steps = 10;  // equal calls of devices, whatever time they take
  const std::vector<double> starts = claim.checkpoint() ? std::vector<double>{} : find_starts(config, setup);
  const RunIdentity identity = identity_of(config);
  app::RunFiles files(config, setup, Verbosity::quiet, identity);
  if (claim.checkpoint()) {
    refuse_another_run(*claim.checkpoint(), identity, config, setup, setup.loaded.fingerprint);
    files.check(*claim.checkpoint());
  }
  return with_way_on(directory, "emomc run", [&] {
    claim.begin();
    files.open(claim.checkpoint());
    return sample_into(files, setup, {setup.target.get(), 1}, starts, claim.checkpoint(), 0);
  });
}

}  // namespace emomc::testing
