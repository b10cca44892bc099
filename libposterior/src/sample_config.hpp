// The configuration of a run that SampleOptions describe.
#pragma once

#include "emomc/posterior.hpp"

namespace emomc {

/// `config` with these options; what they leave empty is as in `config`. Throws InputError where an option is
/// out of range.
RunConfig with_options(RunConfig config, const SampleOptions& options);

/// The configuration of a model of `data`, whose default values are set. Throws InputError where the model or
/// a prior is not allowed.
RunConfig config_of(const GaussianMixture& model, const Table& data);
RunConfig config_of(const ExpressionModel& model);

/// Throws InputError where `config` has no prior for a parameter of its likelihood, or one that is not
/// allowed.
void check_model(const RunConfig& config, const Table& data);

}  // namespace emomc
