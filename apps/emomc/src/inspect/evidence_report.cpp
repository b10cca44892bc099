#include "evidence_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "emomc/posterior/text_table.hpp"
#include "input_kind.hpp"
#include "inspection.hpp"

namespace emomc::app {

RunEvidence read_evidence(const std::string& run) {
  refuse_if_no_run(run);
  if (!std::filesystem::is_directory(run))
    throw InputError(run + ": allowed: run directories, which have the draws of all rungs");
  RunEvidence result;
  result.run = run;
  result.rungs = read_rungs(run);
  result.evidence = estimate_evidence(result.rungs);
  const std::vector<Finding> findings = diagnose(inspect_run(run, Numbering::mended));
  if (!is_trusted(findings)) result.fault = findings.front().text;
  const nlohmann::json manifest = read_manifest(std::filesystem::path(run) / "manifest.json");
  if (manifest.is_object() && manifest.contains("data") && manifest["data"].is_object())
    result.data_sha256 = manifest["data"].value("sha256", "");
  return result;
}

void set_probabilities(std::vector<RunEvidence>& runs, const std::vector<double>& prior) {
  if (!prior.empty() && prior.size() != runs.size())
    throw InputError("--prior: " + std::to_string(prior.size()) + " numbers for " +
                     std::to_string(runs.size()) + " runs; allowed: one for each");
  std::vector<double> values, weights;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].data_sha256 != runs[0].data_sha256)
      throw InputError(runs[i].run + ": other data than " + runs[0].run +
                       "; evidences are compared on the same data");
    const double weight = prior.empty() ? 1.0 : prior[i];
    if (!(weight > 0 && std::isfinite(weight)))
      throw InputError("--prior: " + shortest_text(weight) + " is out of range; allowed: above 0");
    values.push_back(runs[i].evidence.stepping_stones.value);
    weights.push_back(weight);
  }
  const std::vector<double> probabilities = model_probabilities(values, weights);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].prior = weights[i];
    runs[i].probability = probabilities[i];
  }
}

nlohmann::ordered_json to_json(const RunEvidence& run) {
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json();
  };
  const Evidence& e = run.evidence;
  nlohmann::ordered_json json{{"run", run.run},
                              {"trusted", run.fault.empty()},
                              {"chains", run.rungs.num_chains},
                              {"draws", run.rungs.num_draws},
                              {"log_evidence", e.stepping_stones.value},
                              {"se_log_evidence", e.stepping_stones.standard_error},
                              {"thermodynamic",
                               {{"log_evidence", e.thermodynamic.value},
                                {"se_log_evidence", e.thermodynamic.standard_error},
                                {"rule_error", e.rule_error},
                                {"lower", e.lower},
                                {"upper", e.upper}}},
                              {"finite_share_of_prior", e.finite_share},
                              {"tempering", to_json(run.rungs.exchanges)},
                              {"rungs", nlohmann::ordered_json::array()},
                              {"warnings", warnings_of(run)}};
  for (std::size_t k = 0; k < run.rungs.betas.size(); ++k)
    json["rungs"].push_back({{"beta", run.rungs.betas[k]},
                             {"mean_log_likelihood", number(e.mean_log_likelihood[k])},
                             {"ess", number(e.ess[k])},
                             {"acceptance", number(run.rungs.acceptance[k])}});
  return json;
}

std::string rungs_text(const RunEvidence& run, std::size_t width) {
  TextTable table(
      {{"rung"}, {"beta"}, {"mean log likelihood"}, {"ess", 1}, {"acceptance", 2}, {"exchanges"}});
  const auto& rates = run.rungs.exchanges.swap_rates;
  for (std::size_t k = 0; k < run.rungs.betas.size(); ++k)
    table.add({std::to_string(k), significant_text(run.rungs.betas[k], 3),
               fmt::format("{:.2f}", run.evidence.mean_log_likelihood[k]),
               fmt::format("{:.0f}", run.evidence.ess[k]), fmt::format("{:.2f}", run.rungs.acceptance[k]),
               k < rates.size() ? fmt::format("{:.2f}", rates[k]) : std::string()});
  return table.text(width);
}

std::vector<std::string> warnings_of(const RunEvidence& run) {
  std::vector<std::string> lines = run.evidence.doubts;
  if (!run.fault.empty()) lines.push_back("emomc diagnose rejects this run (" + run.fault + ")");
  return lines;
}

}  // namespace emomc::app
