// Makes the configuration of a run from SampleOptions and a model.
#pragma once

#include "emomc/posterior.hpp"

namespace emomc {

/// `config` with these options; empty options leave the values of `config`. Throws InputError if an option is
/// out of range.
RunConfig with_options(RunConfig config, const SampleOptions& options);

/// The configuration of a model of `data`, with default values set. Throws InputError if the model or a prior
/// is not allowed.
RunConfig config_of(const GaussianMixture& model, const Table& data);
RunConfig config_of(const ExpressionModel& model);

/// Throws InputError if `config` has no prior for a parameter of its likelihood, or a prior that is not
/// allowed.
void check_model(const RunConfig& config, const Table& data);

}  // namespace emomc
