// Evidences of runs with tempering, for `emomc evidence` and `emomc compare --evidence`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emomc/sampler/evidence.hpp"

namespace emomc::app {

struct RunEvidence {
  std::string run;
  std::string data_sha256;  ///< empty: not known
  RungDraws rungs;
  Evidence evidence;
  std::string fault;       ///< the first finding of diagnose; empty: the run can be trusted
  double prior = 1;        ///< of the model, before normalisation
  double probability = 1;  ///< posterior, among the models that are compared
};

/// Reads a run directory. Throws InputError where it has no rungs, or is damaged.
RunEvidence read_evidence(const std::string& run);

/// Sets the probabilities, by stepping stones. `prior` [runs] or empty: equal. Throws InputError where the
/// runs have other data, or priors are not as many as runs, or not positive.
void set_probabilities(std::vector<RunEvidence>& runs, const std::vector<double>& prior);

nlohmann::ordered_json to_json(const RunEvidence& run);
/// A table of its rungs.
std::string rungs_text(const RunEvidence& run, std::size_t width);
/// What speaks against its evidence, a line each.
std::vector<std::string> warnings_of(const RunEvidence& run);

}  // namespace emomc::app
