// Claims the directory of an evaluation or a training that has no checkpoint.
#pragma once

#include <filesystem>
#include <optional>

#include "emomc/posterior/run_claim.hpp"
#include "evaluation_config.hpp"

namespace emomc::app {

enum class ResultKind { evaluation, model };

/// Claims `directory` on the first rank; `claim` stays empty on the others. --resume starts such work again.
/// Throws InputError as RunClaim does, if the directory has chains of mixtures, and with --resume also if it
/// has results of the other kind or of another configuration than `config`.
void claim_to_restart(const std::filesystem::path& directory, ExistingRun policy, ResultKind kind,
                      const EvaluationConfig& config, std::optional<RunClaim>& claim);

}  // namespace emomc::app
