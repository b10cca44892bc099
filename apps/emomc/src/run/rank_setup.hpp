// Functions with which the ranks of a run prepare it together. Each call is collective, and every rank makes
// the calls in this order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emomc/posterior/run_setup.hpp"

namespace emomc::app {

/// Returns, on every rank, whether the run goes on from a checkpoint, which rank 0 decides.
bool agree_on_resuming(bool resumes);
/// Calls set_up() for this rank, with its own device and processors. Throws InputError if this rank has other
/// data than rank 0 or computes with another engine, since draws would then depend on the number of ranks.
RunSetup set_up_rank(const RunConfig& config, bool resumes);
/// Returns the configuration of this rank, with its own part of the GPUs and processors of the machine.
RunConfig config_of_rank(RunConfig config);
/// Does the second half of set_up_rank() for chains that were set up in another way. `sha256` is the hash of
/// their data.
void refuse_other_ranks(const RunConfig& config, const SampledChains& chains, const std::string& sha256);
/// Throws InputError with `message` if `own` differs from the text of rank 0.
void require_that_of_first(const std::string& own, const std::string& message);
/// Returns, on every rank, the starts that rank 0 has found.
std::vector<double> starts_of_first(std::vector<double> starts);

/// Samples together with the other ranks, without writing files.
RunResult sample_along(SampledChains& chains, std::span<const Target> targets, std::span<const double> starts,
                       const SamplerState* resume);
/// Waits while rank 0 writes its results. Returns its exit code.
int wait_for_first();

}  // namespace emomc::app
