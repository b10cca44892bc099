// What the ranks of a run prepare together. Each call is collective, and every rank makes them in this order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc::app {

/// Whether the run goes on from a checkpoint, as rank 0 knows.
bool agree_on_resuming(bool resumes);
/// set_up() for this rank: its own device and processors. Throws InputError where ranks have other data or
/// compute with another engine than rank 0, since draws would then depend on the number of ranks.
RunSetup set_up_rank(const RunConfig& config, bool resumes);
/// The configuration of this rank: of the GPUs and processors of its machine, those that are its own.
RunConfig config_of_rank(RunConfig config);
/// The second half of set_up_rank(), for chains that were set up otherwise, of data of this hash.
void refuse_other_ranks(const RunConfig& config, const SampledChains& chains, const std::string& sha256);
/// Throws InputError with `message` where `own` is not what it is on rank 0.
void require_that_of_first(const std::string& own, const std::string& message);
/// The starts that rank 0 has found, on every rank.
std::vector<double> starts_of_first(std::vector<double> starts);

/// Samples with the other ranks and writes nothing.
RunResult sample_along(SampledChains& chains, std::span<const Target> targets, std::span<const double> starts,
                       const SamplerState* resume);
/// Waits while rank 0 writes its results. Returns its exit code.
int wait_for_first();

}  // namespace emomc::app
