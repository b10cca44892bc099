#include "rank_setup.hpp"

#include <algorithm>
#include <array>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_identity.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/posterior/spread_chains.hpp"
#include "ranks.hpp"
#include "signals.hpp"

namespace emomc::app {
namespace {

std::string text_of_first(const std::string& own) {
  const std::size_t size = from_first(world(), own.size());
  std::string text = own;
  text.resize(size);
  world().broadcast(text.data(), size);
  return text;
}

}  // namespace

bool agree_on_resuming(bool resumes) {
  settle();
  return from_first(world(), resumes);
}

RunConfig config_of_rank(RunConfig config) {
  if (!is_several()) return config;
  config.threads = threads_of_rank(config.threads);
  std::vector<int> devices = config.devices;
  if (devices.empty())
    for (const CudaDeviceInfo& device : list_cuda_devices()) devices.push_back(device.index);
  if (!devices.empty())
    config.devices = {devices[static_cast<std::size_t>(world().rank_of_host()) % devices.size()]};
  return config;
}

void refuse_other_ranks(const RunConfig& config, const SampledChains& chains, const std::string& sha256) {
  if (!is_several()) return;
  const std::string engine = arithmetic_text(config, chains) + ", proposal " + chains.proposal.kind + ' ' +
                             name_of_shape(chains.proposal.shape);
  settle();
  const std::string engine_of_first = text_of_first(engine);
  if (engine != engine_of_first)
    throw InputError("this rank computes with " + engine + ", and rank 0 with " + engine_of_first +
                     "; draws would depend on the number of ranks; use equal machines, or --backend cpu");
  require_that_of_first(sha256, "this rank reads other data than rank 0; all ranks need the same files");
}

void require_that_of_first(const std::string& own, const std::string& message) {
  settle();
  if (text_of_first(own) != own) throw InputError(message);
  settle();
}

RunSetup set_up_rank(const RunConfig& config, bool resumes) {
  if (config.shard == Shard::chains)
    check_ranks(world().size(), static_cast<std::size_t>(config.sampler.chains) *
                                    static_cast<std::size_t>(config.sampler.tempering.rungs));
  const RunConfig own = config_of_rank(config);
  RunSetup setup = set_up(own, nullptr, resumes ? kept_proposal(own.output.directory) : std::nullopt,
                          is_several() ? &world() : nullptr);
  refuse_other_ranks(own, setup, setup.loaded.fingerprint.sha256);
  return setup;
}

std::vector<double> starts_of_first(std::vector<double> starts) {
  settle();
  starts.resize(from_first(world(), starts.size()));
  world().broadcast(starts.data(), starts.size() * sizeof(double));
  return starts;
}

RunResult sample_along(SampledChains& chains, std::span<const Target> targets, std::span<const double> starts,
                       const SamplerState* resume) {
  enter(RankPhase::sampling);
  stop_on_signals();
  IgnoreDraws ignored;
  return run_spread_chains(chains, targets, starts, ignored, resume);
}

int wait_for_first() {
  enter(RankPhase::finishing);
  return code_of_first();
}

}  // namespace emomc::app
