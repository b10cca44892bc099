// Computes and prints the evidences of runs with tempering, for `emomc evidence` and `emomc compare
// --evidence`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emomc/sampler/evidence.hpp"

namespace emomc::app {

struct RunEvidence {
  std::string run;
  std::string data_sha256;  ///< SHA-256 of the data; empty: unknown
  RungDraws rungs;
  Evidence evidence;
  std::string fault;       ///< the first finding of diagnose; empty: the run can be trusted
  double prior = 1;        ///< prior probability of the model, before normalisation
  double probability = 1;  ///< posterior probability of the model among the compared ones
};

/// Reads a run directory. Throws InputError if it has no rungs or is damaged.
RunEvidence read_evidence(const std::string& run);

/// Sets the posterior probabilities, from the evidences by stepping stones. `prior` [runs] has the prior
/// probabilities; empty: all are equal. Throws InputError if the runs have different data, or if the number
/// of prior probabilities is not that of the runs or one is not positive.
void set_probabilities(std::vector<RunEvidence>& runs, const std::vector<double>& prior);

nlohmann::ordered_json to_json(const RunEvidence& run);
/// Returns a table of the run's rungs.
std::string rungs_text(const RunEvidence& run, std::size_t width);
/// Returns the reasons to doubt the run's evidence, one line each.
std::vector<std::string> warnings_of(const RunEvidence& run);

}  // namespace emomc::app
