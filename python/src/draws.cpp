// The class Draws of the extension module.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "emomc/posterior/stacking.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/evidence.hpp"
#include "sampled.hpp"
#include "words.hpp"

namespace emomc::python {
namespace {

std::vector<std::string> in_python(std::vector<std::string> messages) {
  for (std::string& message : messages) message = python::in_python(std::move(message));
  return messages;
}

nb::list rows_of(const RunSummary& summary) {
  nb::list rows;
  for (const SummaryRow& row : summary.rows) {
    const QuantitySummary& s = row.summary;
    nb::dict values;
    values["name"] = row.name;
    values["label"] = row.label;
    for (const auto& [key, value] : {std::pair("mean", s.mean),
                                     {"sd", s.sd},
                                     {"q5", s.q5},
                                     {"q50", s.q50},
                                     {"q95", s.q95},
                                     {"mcse_mean", s.mcse_mean},
                                     {"mcse_sd", s.mcse_sd},
                                     {"ess_bulk", s.ess_bulk},
                                     {"ess_tail", s.ess_tail},
                                     {"rhat", s.rhat}})
      values[key] = value;
    values["label_free"] = row.is_label_free;
    rows.append(values);
  }
  return rows;
}

nb::dict evidence_of(const Draws& draws) {
  if (!draws.rungs)
    throw InputError(
        "the draws have no rungs, from which the evidence is computed; sample with tempering, such as "
        "tempering=12");
  Evidence e;
  {
    const nb::gil_scoped_release release;
    e = estimate_evidence(*draws.rungs);
  }
  nb::dict values;
  for (const auto& [key, value] : {std::pair("log_evidence", e.stepping_stones.value),
                                   {"standard_error", e.stepping_stones.standard_error},
                                   {"thermodynamic", e.thermodynamic.value},
                                   {"thermodynamic_standard_error", e.thermodynamic.standard_error},
                                   {"rule_error", e.rule_error},
                                   {"lower", e.lower},
                                   {"upper", e.upper},
                                   {"finite_share", e.finite_share}})
    values[key] = value;
  values["mean_log_likelihood"] = vector_of(std::move(e.mean_log_likelihood));
  values["ess"] = vector_of(std::move(e.ess));
  values["warnings"] = in_python(std::move(e.doubts));
  return values;
}

}  // namespace

void add_draws(nb::module_& m) {
  nb::class_<Sampled>(m, "Draws")
      .def_prop_ro("interrupted", [](const Sampled& s) { return s.interrupted; })
      .def_prop_ro("finished", [](const Sampled& s) { return s.draws.finished; })
      .def_prop_ro("ended_by", [](const Sampled& s) { return s.draws.ended_by; })
      .def_prop_ro("warnings", [](const Sampled& s) { return in_python(s.draws.warnings); })
      .def_prop_ro("backend", [](const Sampled& s) { return s.draws.backend; })
      .def_prop_ro("names", [](const Sampled& s) { return s.draws.names(); })
      .def_prop_ro("directory", [](const Sampled& s) { return s.draws.directory.string(); })
      .def_prop_ro("status", [](const Sampled& s) { return s.draws.run.facts.status; })
      .def_prop_ro("labels", [](const Sampled& s) { return s.draws.run.quantity_labels; })
      .def_prop_ro("columns", [](const Sampled& s) { return s.draws.run.facts.columns; })
      .def_prop_ro("num_chains", [](const Sampled& s) { return s.draws.num_chains(); })
      .def_prop_ro("num_draws", [](const Sampled& s) { return s.draws.num_draws(); })
      .def_prop_ro("num_log_densities", [](const Sampled& s) { return s.draws.run.draws.num_log_densities; })
      .def_prop_ro("first_label_free", [](const Sampled& s) { return s.draws.run.first_label_free; })
      .def_prop_ro("seconds",
                   [](const Sampled& s) {
                     return std::pair(s.draws.run.draws.warmup_seconds, s.draws.run.draws.sampling_seconds);
                   })
      // An array quantities x chains x draws, which keeps this object alive.
      .def_prop_ro(
          "values",
          [](nb::handle self) {
            const DrawSet& set = nb::cast<const Sampled&>(self).draws.run.draws;
            const std::array<std::size_t, 3> shape{set.num_quantities(), set.num_chains(), set.num_draws};
            return nb::ndarray<nb::numpy, const double>(set.values.data(), 3, shape.data(), self);
          })
      // Name, shape, indices of quantities, axis of components (-1: none) and axes of columns of each
      // parameter.
      .def_prop_ro(
          "arrays",
          [](const Sampled& s) {
            const DrawSet& set = s.draws.run.draws;
            std::vector<
                std::tuple<std::string, std::vector<int>, std::vector<std::size_t>, int, std::vector<int>>>
                arrays;
            const std::size_t count = s.draws.run.first_label_free - set.num_log_densities;
            for (QuantityArray& array : arrays_of(set, count))
              arrays.emplace_back(std::move(array.name), std::move(array.shape), std::move(array.quantities),
                                  array.component_axis, std::move(array.feature_axes));
            return arrays;
          })
      // Statistics of gradient samplers by name, arrays chains x draws; empty for other proposals.
      .def_prop_ro("statistics",
                   [](const Sampled& s) {
                     const DrawSet& set = s.draws.run.draws;
                     nb::dict result;
                     const auto add = [&](const char* name, auto member) {
                       std::vector<double> values;
                       for (const DrawStatistics& at : set.statistics)
                         values.push_back(static_cast<double>(at.*member));
                       result[name] = array_of(std::move(values), {set.num_chains(), set.num_draws});
                     };
                     if (set.statistics.empty()) return result;
                     add("step_size", &DrawStatistics::step_size);
                     add("acceptance_rate", &DrawStatistics::acceptance);
                     add("energy", &DrawStatistics::energy);
                     add("tree_depth", &DrawStatistics::tree_depth);
                     add("n_steps", &DrawStatistics::num_leapfrogs);
                     add("diverging", &DrawStatistics::divergent);
                     return result;
                   })
      .def("chain",  // steps, theta, log prior and log likelihood, as sampled
           [](const Sampled& s, std::size_t index) {
             const ChainDraws& chain = s.draws.chains.at(index);
             const std::size_t count = chain.steps.size();
             return std::tuple(
                 array_of(chain.steps, {count}),
                 array_of(chain.parameters, {count, count ? chain.parameters.size() / count : 0}),
                 vector_of(chain.log_prior), vector_of(chain.log_likelihood));
           })
      // Powers, swap rates, round trips, acceptance of each rung, and log likelihoods [rungs x chains x
      // draws] of a run with tempering; None for other runs.
      .def_prop_ro(
          "rungs",
          [](const Sampled& s) -> nb::object {
            if (!s.draws.rungs) return nb::none();
            const RungDraws& rungs = *s.draws.rungs;
            return nb::cast(std::tuple(
                vector_of(rungs.betas), vector_of(rungs.exchanges.swap_rates), rungs.exchanges.round_trips,
                vector_of(rungs.acceptance),
                array_of(rungs.log_likelihood, {rungs.betas.size(), rungs.num_chains, rungs.num_draws})));
          })
      .def("evidence", [](const Sampled& s) { return evidence_of(s.draws); })
      .def("stacked_rows",
           [](const Sampled& s, const std::vector<double>& chain_weights,
              const std::vector<std::string>& patterns) {
             nb::list rows;
             for (const StackedRow& row : stacked_summary(s.draws.run, chain_weights, patterns)) {
               nb::dict values;
               values["name"] = row.name;
               values["label"] = row.label;
               for (const auto& [key, value] : {std::pair("mean", row.mean),
                                                {"sd", row.sd},
                                                {"q5", row.q5},
                                                {"q50", row.q50},
                                                {"q95", row.q95}})
                 values[key] = value;
               rows.append(values);
             }
             return rows;
           })
      .def("summary_text",
           [](const Sampled& s, const std::vector<std::string>& patterns, std::size_t most_rows) {
             return python::in_python(to_text(summary(s.draws, patterns), most_rows));
           })
      .def("summary_rows",
           [](const Sampled& s, const std::vector<std::string>& patterns) {
             return rows_of(summary(s.draws, patterns));
           })
      .def("findings", [](const Sampled& s) {
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> findings;
        for (const Finding& f : diagnose(s.draws))
          findings.emplace_back(severity_name(f.severity), f.check, python::in_python(f.text),
                                python::in_python(f.advice));
        return findings;
      });

  m.def(
      "read_run",
      [](const std::string& directory) {
        Sampled result;
        const nb::gil_scoped_release release;
        result.draws = read_run(directory);
        return result;
      },
      nb::arg("directory"));
}

}  // namespace emomc::python
