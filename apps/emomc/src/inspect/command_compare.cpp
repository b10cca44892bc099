#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "code_options.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/cross_validation.hpp"
#include "evaluation_comparison.hpp"
#include "evidence_report.hpp"
#include "input_kind.hpp"
#include "inspection.hpp"
#include "netcdf_file.hpp"
#include "pointwise.hpp"

namespace emomc::app {
namespace {

constexpr double kGoodShape = 0.7;  // threshold of Pareto k; Vehtari et al. 2024
// Smaller differences do not show which model predicts better (Sivula, Magnusson and Vehtari 2020, 6).
constexpr double kSmallDifference = 4, kStandardErrors = 2;
// If p_loo is above this many times the number of parameters, the model does not fit or the run has not
// converged.
constexpr double kTimesParameters = 1.5;

struct Options {
  std::vector<std::string> runs;
  std::string by;
  bool evidence = false;
  std::vector<double> prior;  ///< prior probabilities of the models, with `evidence`
  std::size_t draws = 1000;
  bool json = false, draws_given = false;
};

struct Model {
  std::string run;
  std::vector<std::string> notes;  ///< notes of the reader of the file
  PointwiseRun facts;
  std::vector<double> elpd, p, waic_elpd;
  std::size_t num_bad = 0;
  double worst_k = -1e300;
  std::size_t worst = 0;                     ///< the group of worst_k
  std::string fault;                         ///< the first finding of diagnose; empty: the run can be trusted
  double num_free = 0;                       ///< number of free parameters; 0: unknown
  std::vector<std::string> skipped_columns;  ///< columns of the data that the likelihood does not use

  double elpd_loo() const { return total(elpd).value; }
};

// Adds the verdict of diagnose and the facts from the manifest of a run directory.
void add_verdict(Model& model) {
  const Inspection run = inspect_run(model.run, Numbering::mended);
  const std::vector<Finding> findings = diagnose(run);
  if (!is_trusted(findings)) model.fault = findings.front().text;
  const nlohmann::json manifest = read_manifest(std::filesystem::path(model.run) / "manifest.json");
  if (!manifest.is_object()) return;
  if (manifest.contains("data"))
    model.skipped_columns = manifest["data"].value("skipped_columns", std::vector<std::string>{});
  if (manifest.contains("parameters")) model.num_free = manifest["parameters"].value("free", 0.0);
}

Model evaluate(const std::string& run, const Options& options) {
  Model model;
  model.run = run;
  const auto add = [&](std::span<const double> values, double efficiency) {
    const LeftOut out = leave_out(values, efficiency);
    const Waic information = waic(values);
    model.elpd.push_back(out.elpd);
    model.p.push_back(out.p);
    model.waic_elpd.push_back(information.elpd);
    model.num_bad += out.pareto_k > kGoodShape ? 1 : 0;
    if (out.pareto_k > model.worst_k) {
      model.worst_k = out.pareto_k;
      model.worst = model.elpd.size() - 1;
    }
  };
  if (!is_netcdf(run)) {
    refuse_if_no_run(run);
    if (std::filesystem::is_regular_file(run))
      throw InputError(run +
                       ": a file has no data to leave out; allowed: run directories, and .nc files of "
                       "ArviZ with a group log_likelihood");
    model.facts = pointwise({run, options.by, options.draws}, add);
    add_verdict(model);
    return model;
  }
  if (!options.by.empty() && options.by != "observation")
    throw InputError("--loo-by " + options.by + ": " + run + " names no groups; allowed: observation");
  const ForeignLogLikelihood read = read_netcdf_log_likelihood(run);
  model.notes = read.notes;
  model.facts.num_draws = read.num_draws;
  model.facts.grouping.by = "observation";
  model.facts.grouping.num_groups = read.values.size() / read.num_draws;
  for (std::size_t i = 0; i < model.facts.grouping.num_groups; ++i)
    add({read.values.data() + i * read.num_draws, read.num_draws}, 1);
  return model;
}

Estimate difference(const Model& model, const Model& best) {
  std::vector<double> pointwise(model.elpd.size());
  for (std::size_t i = 0; i < pointwise.size(); ++i) pointwise[i] = model.elpd[i] - best.elpd[i];
  return total(pointwise);
}

// Returns a text such as ", school = west" that names the group with the worst Pareto k; empty if groups have
// no names.
std::string worst_of(const Model& model) {
  const Grouping& grouping = model.facts.grouping;
  return model.worst < grouping.names.size() ? ", " + grouping.by + " = " + grouping.names[model.worst] : "";
}

std::vector<std::string> warnings_about(const std::vector<Model>& models, const Options& options) {
  std::vector<std::string> lines;
  const auto& facts = models[0].facts;
  // The warning concerns data with a column that identifies rows which belong together.
  const auto& skipped = models[0].skipped_columns;
  for (const char* column : {"speaker", "file", "frame"})
    if (facts.grouping.by == "row" && options.by.empty() &&
        std::find(skipped.begin(), skipped.end(), column) != skipped.end()) {
      lines.push_back(
          fmt::format("rows are left out one by one, as if they were independent; the data have a column {}: "
                      "--loo-by names a column whose rows belong together",
                      column));
      break;
    }
  for (const Model& model : models)
    if (!model.facts.weights.empty())
      lines.push_back(
          fmt::format("{}: rows are weighted by column {}: a row of weight w is left out and predicted as w "
                      "equal rows at "
                      "once, and the standard errors count rows, not weights",
                      model.run, model.facts.weights));
  if (facts.grouping.num_groups < 10)
    lines.push_back(fmt::format("{} groups are few for a standard error", facts.grouping.num_groups));
  for (const Model& model : models)
    for (const auto& note : model.notes) lines.push_back(model.run + ": " + note);
  for (const Model& model : models)
    if (!model.fault.empty())
      lines.push_back(model.run + ": emomc diagnose rejects this run (" + model.fault +
                      "); it is ranked behind the others, and its elpd cannot be relied on");
  for (std::size_t i = 1; i < models.size(); ++i) {
    if (!models[i].fault.empty() || !models[0].fault.empty()) continue;
    const Estimate behind = difference(models[i], models[0]);
    if (std::abs(behind.value) < kSmallDifference ||
        std::abs(behind.value) < kStandardErrors * behind.standard_error)
      lines.push_back(
          fmt::format("{} and {} are tied: a difference of {:.1f} with a standard error of {:.1f} does not "
                      "tell which predicts better",
                      models[i].run, models[0].run, std::abs(behind.value), behind.standard_error));
  }
  for (const Model& model : models) {
    const double p = total(model.p).value, groups = static_cast<double>(model.elpd.size());
    if (model.num_free > 0 && p > kTimesParameters * model.num_free)
      lines.push_back(
          fmt::format("{}: p_loo = {:.1f} is more than {} times the {:.0f} free parameters: the model does "
                      "not fit these data, or the run has not converged",
                      model.run, p, kTimesParameters, model.num_free));
    else if (p > groups / 2)
      lines.push_back(
          fmt::format("{}: p_loo = {:.1f} is more than half of the {:.0f} that are left out: the model is "
                      "too flexible for an estimate by leaving out",
                      model.run, p, groups));
  }
  for (const Model& model : models)
    if (model.num_bad > 0) {
      const bool by_groups = model.facts.grouping.largest > 1;
      lines.push_back(
          fmt::format("{}: Pareto k above {} for {} of {} ({:.2f} at worst{}): leaving these out changes the "
                      "posterior too much for importance sampling, its elpd is not to be relied on{}",
                      model.run, kGoodShape, model.num_bad, model.elpd.size(), model.worst_k, worst_of(model),
                      by_groups ? "; refit without each of them, or leave out smaller groups" : ""));
    }
  for (const Model& model : models)
    if (const std::string& by = model.facts.grouping.by; model.facts.groups_have_parameters)
      lines.push_back(fmt::format(
          "{}: each {} has parameters of its own, which the draws have learned from the rows that "
          "are left out: importance sampling is usually unreliable then (Pareto k); only a run without a {} "
          "shows how well it is predicted",
          model.run, by, by));
  return lines;
}

int status_of(const std::vector<Model>& models) {
  return std::all_of(models.begin(), models.end(), [](const Model& model) { return model.fault.empty(); })
             ? kDone
             : kCheckFailed;
}

int compare_evidence(const Options& options) {
  std::vector<RunEvidence> runs;
  for (const auto& run : options.runs) runs.push_back(read_evidence(run));
  set_probabilities(runs, options.prior);
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunEvidence& a, const RunEvidence& b) { return a.probability > b.probability; });
  double total_prior = 0;
  for (const RunEvidence& run : runs) total_prior += run.prior;
  bool trusted = true;
  nlohmann::ordered_json json{{"by", "evidence"}, {"runs", nlohmann::ordered_json::array()}};
  TextTable table({{"run"}, {"log evidence"}, {"se"}, {"difference", 2}, {"prior", 1}, {"probability"}});
  for (const RunEvidence& run : runs) {
    const EvidenceEstimate& e = run.evidence.stepping_stones;
    trusted = trusted && warnings_of(run).empty();
    json["runs"].push_back(to_json(run));
    json["runs"].back()["prior"] = run.prior / total_prior;
    json["runs"].back()["probability"] = run.probability;
    table.add({run.run, fmt::format("{:.2f}", e.value), fmt::format("{:.2f}", e.standard_error),
               fmt::format("{:.2f}", e.value - runs[0].evidence.stepping_stones.value),
               fmt::format("{:.3f}", run.prior / total_prior), fmt::format("{:.4f}", run.probability)});
  }
  if (options.json) {
    std::cout << json.dump(1) << '\n';
    return trusted ? kDone : kCheckFailed;
  }
  std::cout << "by evidence, with the prior probabilities of the models "
            << (options.prior.empty() ? "equal (--prior sets others)" : "as given") << "; the best first\n\n"
            << table.text(terminal_width(STDOUT_FILENO));
  for (const RunEvidence& run : runs)
    for (const auto& line : warnings_of(run)) std::cout << "warning: " << run.run << ": " << line << '\n';
  return trusted ? kDone : kCheckFailed;
}

// Compares directories of emomc evaluate.
int compare_all_evaluations(const Options& options) {
  if (!options.by.empty() || options.draws_given)
    throw InputError("--loo-by, --draws: are for runs; " + options.runs[0] +
                     " is an evaluation, whose test speakers are left out already");
  const auto comparison = compare_evaluations({options.runs.begin(), options.runs.end()});
  std::cout << (options.json ? comparison.dump(1) + "\n"
                             : comparison_text(comparison, terminal_width(STDOUT_FILENO)));
  return kDone;
}

int compare(const Options& options) {
  if (options.evidence) return compare_evidence(options);
  if (!options.prior.empty()) throw InputError("--prior: allowed with --evidence only");
  if (kind_of(options.runs[0]) == InputKind::evaluation) return compare_all_evaluations(options);
  std::vector<Model> models;
  for (const auto& run : options.runs) {
    models.push_back(evaluate(run, options));
    if (models.back().facts.data_sha256 != models[0].facts.data_sha256)
      throw InputError(run + ": other data than " + models[0].run + "; runs are compared on the same data");
    const Grouping &own = models.back().facts.grouping, &first = models[0].facts.grouping;
    if (own.by != first.by || own.num_groups != first.num_groups)
      throw InputError(run + ": left out by " + own.by + " (" + std::to_string(own.num_groups) +
                       " of them), but " + models[0].run + " by " + first.by + " (" +
                       std::to_string(first.num_groups) + "); --loo-by names one for both");
  }
  std::stable_sort(models.begin(), models.end(), [](const Model& a, const Model& b) {
    if (a.fault.empty() != b.fault.empty()) return a.fault.empty();
    return a.elpd_loo() > b.elpd_loo();
  });
  const auto& facts = models[0].facts;
  const auto warnings = warnings_about(models, options);
  if (options.json) {
    nlohmann::ordered_json json;
    json["left_out_by"] = facts.grouping.by;
    json["groups"] = facts.grouping.num_groups;
    json["rows_of_group"] = {{"least", facts.grouping.smallest}, {"most", facts.grouping.largest}};
    json["runs"] = nlohmann::ordered_json::array();
    for (const Model& model : models) {
      const Estimate elpd = total(model.elpd), p = total(model.p), information = total(model.waic_elpd),
                     behind = difference(model, models[0]);
      json["runs"].push_back(
          {{"run", model.run},
           {"draws", model.facts.num_draws},
           {"trusted", model.fault.empty()},
           {"elpd_loo", elpd.value},
           {"se_elpd_loo", elpd.standard_error},
           {"p_loo", p.value},
           {"elpd_difference", behind.value},
           {"se_difference", behind.standard_error},
           {"elpd_waic", information.value},
           {"pareto_k_above_0.7", model.num_bad},
           {"worst_pareto_k", std::isfinite(model.worst_k) ? nlohmann::ordered_json(model.worst_k)
                                                           : nlohmann::ordered_json()}});
      if (!model.facts.grouping.names.empty())
        json["runs"].back()["worst_group"] = model.facts.grouping.names.at(model.worst);
    }
    json["warnings"] = warnings;
    std::cout << json.dump(1) << '\n';
    return status_of(models);
  }
  TextTable table(
      {{"run"}, {"elpd"}, {"se", 1}, {"p", 2}, {"difference"}, {"se"}, {"k > 0.7", 3}, {"worst k", 4}});
  for (const Model& model : models) {
    const Estimate elpd = total(model.elpd), behind = difference(model, models[0]);
    const auto two = [](double x) { return fmt::format("{:.2f}", x); };
    table.add({model.run, two(elpd.value), two(elpd.standard_error), two(total(model.p).value),
               two(behind.value), two(behind.standard_error), std::to_string(model.num_bad),
               two(model.worst_k)});
  }
  const Grouping& by = facts.grouping;
  const std::string sizes = by.largest == 1 ? ""
                            : by.smallest == by.largest
                                ? fmt::format(", of {} rows each", by.largest)
                                : fmt::format(", of {} to {} rows each", by.smallest, by.largest);
  std::cout << fmt::format("left out by {}: {} of them{}; the best first\n\n", by.by, by.num_groups, sizes)
            << table.text(terminal_width(STDOUT_FILENO));
  for (const auto& line : warnings) std::cout << "warning: " << line << '\n';
  return status_of(models);
}

}  // namespace

void add_compare(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "compare", "Rank runs on the same data by expected log predictive density; or compare evaluations");
  auto options = std::make_shared<Options>();
  command
      ->add_option("RUN", options->runs,
                   "Run directories; .nc files of ArviZ with a group log_likelihood; or directories of emomc "
                   "evaluate, of the same utterances and folds")
      ->required();
  command->add_option("--loo-by,--by", options->by,
                      "What is left out together: row, file, or a column of the data, of numbers or texts, "
                      "such as speaker or "
                      "school (default: utterance where the data have it, else row)");
  command->add_flag(
      "--evidence", options->evidence,
      "Posterior probabilities of the models by their evidence; of runs with sampler.tempering");
  command
      ->add_option(
          "--prior", options->prior,
          "With --evidence, the models' prior probabilities in the order of the runs, up to a factor; "
          "default: equal")
      ->delimiter(',');
  auto* draws = command->add_option("--draws", options->draws, "Draws of each run that are used")
                    ->check(CLI::Range(100, 1000000))
                    ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Example: emomc compare runs/k4 runs/k8 runs/k16 --loo-by speaker\n"
      "         emomc compare runs/k2 runs/k3 --evidence --prior 1,2\n"
      "         emomc compare runs/softmax runs/mixtures\n"
      "Exit code 1 where emomc diagnose rejects one of the runs; these are ranked behind the others.");
  add_code_options(*command);
  command->callback([options, draws, &status] {
    options->draws_given = draws->count() > 0;
    status = compare(*options);
  });
}

}  // namespace emomc::app
