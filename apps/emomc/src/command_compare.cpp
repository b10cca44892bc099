#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/cross_validation.hpp"
#include "netcdf_file.hpp"
#include "pointwise.hpp"

namespace emomc::app {
namespace {

constexpr double kGoodShape = 0.7;  // Vehtari et al. 2024

struct Options {
  std::vector<std::string> runs;
  std::string by;
  std::size_t draws = 1000;
  bool json = false;
};

struct Model {
  std::string run;
  std::vector<std::string> notes;  ///< of its reader
  PointwiseRun facts;
  std::vector<double> elpd, p, waic_elpd;
  std::size_t num_bad = 0;
  double worst_k = -1e300;
};

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
    model.worst_k = std::max(model.worst_k, out.pareto_k);
  };
  if (std::filesystem::path(run).extension() != ".nc") {
    model.facts = pointwise({run, options.by, options.draws}, add);
    return model;
  }
  if (!options.by.empty() && options.by != "observation")
    throw InputError("--loo-by " + options.by + ": " + run + " names no groups; allowed: observation");
  const ForeignLogLikelihood read = read_netcdf_log_likelihood(run);
  model.notes = read.notes;
  model.facts.num_draws = read.num_draws;
  model.facts.grouping = {"observation", read.values.size() / read.num_draws};
  for (std::size_t i = 0; i < model.facts.grouping.num_groups; ++i)
    add({read.values.data() + i * read.num_draws, read.num_draws}, 1);
  return model;
}

Estimate difference(const Model& model, const Model& best) {
  std::vector<double> pointwise(model.elpd.size());
  for (std::size_t i = 0; i < pointwise.size(); ++i) pointwise[i] = model.elpd[i] - best.elpd[i];
  return total(pointwise);
}

std::vector<std::string> warnings_about(const std::vector<Model>& models, const Options& options) {
  std::vector<std::string> lines;
  const auto& facts = models[0].facts;
  if (facts.grouping.by == "row" && options.by.empty())
    lines.emplace_back(
        "rows are left out one by one, as if they were independent: frames of an utterance are not; --loo-by "
        "names a "
        "column that groups them");
  if (facts.grouping.num_groups < 10)
    lines.push_back(fmt::format("{} groups are few for a standard error", facts.grouping.num_groups));
  for (const Model& model : models)
    for (const auto& note : model.notes) lines.push_back(model.run + ": " + note);
  for (const Model& model : models)
    if (model.num_bad > 0)
      lines.push_back(
          fmt::format("{}: Pareto k above {} for {} of {} ({:.2f} at worst): leaving these out changes the "
                      "posterior too much for importance sampling, its elpd is not to be relied on",
                      model.run, kGoodShape, model.num_bad, model.elpd.size(), model.worst_k));
  return lines;
}

void compare(const Options& options) {
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
  std::stable_sort(models.begin(), models.end(),
                   [](const Model& a, const Model& b) { return total(a.elpd).value > total(b.elpd).value; });
  const auto& facts = models[0].facts;
  const auto warnings = warnings_about(models, options);
  if (options.json) {
    nlohmann::ordered_json json;
    json["left_out_by"] = facts.grouping.by;
    json["groups"] = facts.grouping.num_groups;
    json["runs"] = nlohmann::ordered_json::array();
    for (const Model& model : models) {
      const Estimate elpd = total(model.elpd), p = total(model.p), information = total(model.waic_elpd),
                     behind = difference(model, models[0]);
      json["runs"].push_back(
          {{"run", model.run},
           {"draws", model.facts.num_draws},
           {"elpd_loo", elpd.value},
           {"se_elpd_loo", elpd.standard_error},
           {"p_loo", p.value},
           {"elpd_difference", behind.value},
           {"se_difference", behind.standard_error},
           {"elpd_waic", information.value},
           {"pareto_k_above_0.7", model.num_bad},
           {"worst_pareto_k", std::isfinite(model.worst_k) ? nlohmann::ordered_json(model.worst_k)
                                                           : nlohmann::ordered_json()}});
    }
    json["warnings"] = warnings;
    std::cout << json.dump(1) << '\n';
    return;
  }
  std::size_t width = 3;
  for (const Model& model : models) width = std::max(width, model.run.size());
  std::cout << fmt::format("left out by {}: {} of them; the best first\n\n", facts.grouping.by,
                           facts.grouping.num_groups)
            << fmt::format("{:<{}} {:>13} {:>9} {:>9} {:>12} {:>9} {:>8} {:>8}\n", "run", width, "elpd", "se",
                           "p", "difference", "se", "k > 0.7", "worst k");
  for (const Model& model : models) {
    const Estimate elpd = total(model.elpd), behind = difference(model, models[0]);
    std::cout << fmt::format("{:<{}} {:>13.2f} {:>9.2f} {:>9.2f} {:>12.2f} {:>9.2f} {:>8} {:>8.2f}\n",
                             model.run, width, elpd.value, elpd.standard_error, total(model.p).value,
                             behind.value, behind.standard_error, model.num_bad, model.worst_k);
  }
  for (const auto& line : warnings) std::cout << "warning: " << line << '\n';
}

}  // namespace

void add_compare(CLI::App& app, int&) {
  auto* command =
      app.add_subcommand("compare", "Rank runs on the same data by expected log predictive density");
  auto options = std::make_shared<Options>();
  command
      ->add_option("RUN", options->runs, "Run directories; or .nc files of ArviZ with a group log_likelihood")
      ->required();
  command->add_option(
      "--loo-by", options->by,
      "What is left out together: row, file, or a label column such as utterance or speaker (default: "
      "utterance where the data have it, else row)");
  command->add_option("--draws", options->draws, "Draws of each run that are used")
      ->check(CLI::Range(100, 1000000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: emomc compare runs/k4 runs/k8 runs/k16 --loo-by speaker");
  command->callback([options] { compare(*options); });
}

}  // namespace emomc::app
