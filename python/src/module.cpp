// The extension module emomc._emomc: what the package's Python code (python/emomc) is built on.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "conversions.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/draw_set.hpp"

namespace emomc::python {
namespace {

/// An array of NumPy that owns `values`.
template <class Value>
nb::object array_of(std::vector<Value> values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<Value>(std::move(values));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Value>(owned->data(), shape.size(), shape.data(), owner));
}

nb::object vector_of(std::vector<double> values) {
  const std::size_t size = values.size();
  return array_of(std::move(values), {size});
}

std::span<const double> span_of(const Vector& vector) { return {vector.data(), vector.size()}; }

/// The draws, and whether Ctrl-C has ended the run.
struct Sampled {
  Draws draws;
  bool interrupted = false;
};

/// Samples without the GIL. A signal's handler or `progress` may raise: KeyboardInterrupt ends the run, and
/// other exceptions are raised again.
Sampled sample_of(const Posterior& posterior, SampleOptions options, const nb::object& progress) {
  std::exception_ptr raised;
  Sampled result;
  options.on_progress = [&](const Progress& at) {
    const nb::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none()) progress(at.step, at.num_steps, at.warmup, at.mean_acceptance, at.seconds);
      return true;
    } catch (nb::python_error& error) {
      result.interrupted = error.matches(PyExc_KeyboardInterrupt);
      if (!result.interrupted) raised = std::current_exception();
      return false;
    }
  };
  {
    const nb::gil_scoped_release release;
    result.draws = sample(posterior, options);
  }
  if (raised) std::rethrow_exception(raised);
  return result;
}

void add_posterior(nb::module_& m) {
  nb::class_<Posterior>(m, "Posterior")
      .def_static(
          "mixture",
          [](const std::vector<std::string>& columns, const Matrix& values, int components,
             const std::string& covariance, const std::map<std::string, PriorTuple>& priors, bool standardize,
             bool ordered, double scale_floor, const std::string& precision) {
            return Posterior(GaussianMixture{.components = components,
                                             .covariance = covariance_of(covariance),
                                             .priors = priors_of(priors),
                                             .standardize = standardize,
                                             .ordered = ordered,
                                             .scale_floor = scale_floor,
                                             .precision = precision_of(precision)},
                             table_of(columns, values));
          },
          nb::arg("columns"), nb::arg("values"), nb::arg("components"), nb::arg("covariance"),
          nb::arg("priors"), nb::arg("standardize"), nb::arg("ordered"), nb::arg("scale_floor"),
          nb::arg("precision"))
      .def_static(
          "expression",
          [](const std::vector<std::string>& columns, const Matrix& values,
             std::vector<ParameterTuple> parameters, std::string log_density,
             const std::map<std::string, PriorTuple>& priors, NamedTexts where, NamedTexts prepare,
             NamedTexts derived, std::vector<LinearTuple> linear, std::vector<ConstantTuple> constants,
             std::string weights, const std::string& precision) {
            ExpressionModel model;
            model.likelihood =
                spec_of({std::move(parameters), std::move(log_density), std::move(where), std::move(prepare),
                         std::move(derived), std::move(linear), std::move(constants), std::move(weights)});
            model.priors = priors_of(priors);
            model.precision = precision_of(precision);
            return Posterior(model, table_of(columns, values));
          },
          nb::arg("columns"), nb::arg("values"), nb::arg("parameters"), nb::arg("log_density"),
          nb::arg("priors"), nb::arg("where"), nb::arg("prepare"), nb::arg("derived"), nb::arg("linear"),
          nb::arg("constants"), nb::arg("weights"), nb::arg("precision"))
      .def_prop_ro("names", &Posterior::names)
      .def_prop_ro("num_parameters", &Posterior::num_parameters)
      .def_prop_ro("num_unconstrained", &Posterior::num_unconstrained)
      .def("log_posterior",
           [](const Posterior& p, const Vector& theta) { return p.log_posterior(span_of(theta)); })
      .def("log_density", [](const Posterior& p, const Vector& u) { return p.log_density(span_of(u)); })
      .def("log_density_and_gradient",
           [](const Posterior& p, const Vector& u) {
             LogDensityAndGradient at = p.log_density_and_gradient(span_of(u));
             return std::pair(at.log_density, vector_of(std::move(at.gradient)));
           })
      .def("constrain",
           [](const Posterior& p, const Vector& u) { return vector_of(p.constrain(span_of(u))); })
      .def("unconstrain",
           [](const Posterior& p, const Vector& theta) { return vector_of(p.unconstrain(span_of(theta))); })
      .def("initial", [](const Posterior& p, std::uint64_t seed) { return vector_of(p.initial(seed)); })
      .def(
          "sample",
          [](const Posterior& posterior, int chains, std::optional<std::int64_t> draws,
             std::int64_t max_draws, std::optional<std::int64_t> warmup, std::int64_t thin,
             std::uint64_t seed, const std::string& init, const std::string& proposal,
             const std::string& shape, double target_acceptance, double until_ess, double until_seconds,
             int superchains, const std::string& backend, int threads, const nb::object& progress) {
            SampleOptions options{.chains = chains,
                                  .draws = draws,
                                  .max_draws = max_draws,
                                  .warmup = warmup,
                                  .thin = thin,
                                  .seed = seed,
                                  .init = init,
                                  .proposal = proposal,
                                  .shape = shape,
                                  .target_acceptance = target_acceptance,
                                  .until = {.ess = until_ess, .seconds = until_seconds},
                                  .superchains = superchains,
                                  .backend = backend_named(backend),
                                  .threads = threads};
            return sample_of(posterior, std::move(options), progress);
          },
          nb::kw_only(), nb::arg("chains"), nb::arg("draws").none(), nb::arg("max_draws"),
          nb::arg("warmup").none(), nb::arg("thin"), nb::arg("seed"), nb::arg("init"), nb::arg("proposal"),
          nb::arg("shape"), nb::arg("target_acceptance"), nb::arg("until_ess"), nb::arg("until_seconds"),
          nb::arg("superchains"), nb::arg("backend"), nb::arg("threads"), nb::arg("progress").none())
      .def(
          "fit",
          [](const Posterior& posterior, int restarts, int max_rounds, double tolerance, std::uint64_t seed,
             int threads) {
            MixtureFit result;
            {
              const nb::gil_scoped_release release;
              result = fit(posterior, {.restarts = restarts,
                                       .max_rounds = max_rounds,
                                       .tolerance = tolerance,
                                       .seed = seed,
                                       .threads = threads});
            }
            return std::tuple(vector_of(std::move(result.theta)), result.log_likelihood, result.rounds,
                              result.converged, result.degenerate);
          },
          nb::kw_only(), nb::arg("restarts"), nb::arg("max_rounds"), nb::arg("tolerance"), nb::arg("seed"),
          nb::arg("threads"));
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

void add_draws(nb::module_& m) {
  nb::class_<Sampled>(m, "Draws")
      .def_prop_ro("interrupted", [](const Sampled& s) { return s.interrupted; })
      .def_prop_ro("finished", [](const Sampled& s) { return s.draws.finished; })
      .def_prop_ro("ended_by", [](const Sampled& s) { return s.draws.ended_by; })
      .def_prop_ro("warnings", [](const Sampled& s) { return s.draws.warnings; })
      .def_prop_ro("backend", [](const Sampled& s) { return s.draws.backend; })
      .def_prop_ro("names", [](const Sampled& s) { return s.draws.names(); })
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
      // quantities x chains x draws; the array keeps this object alive.
      .def_prop_ro(
          "values",
          [](nb::handle self) {
            const DrawSet& set = nb::cast<const Sampled&>(self).draws.run.draws;
            const std::array<std::size_t, 3> shape{set.num_quantities(), set.num_chains(), set.num_draws};
            return nb::ndarray<nb::numpy, const double>(set.values.data(), 3, shape.data(), self);
          })
      // Name, shape, indices of quantities, axis of components (-1: none), axes of columns.
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
      // chains x draws, of gradient samplers; otherwise empty.
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
      .def("chain",  // as sampled: steps, theta, log prior, log likelihood
           [](const Sampled& s, std::size_t index) {
             const ChainDraws& chain = s.draws.chains.at(index);
             const std::size_t count = chain.steps.size();
             return std::tuple(
                 array_of(chain.steps, {count}),
                 array_of(chain.parameters, {count, count ? chain.parameters.size() / count : 0}),
                 vector_of(chain.log_prior), vector_of(chain.log_likelihood));
           })
      .def("summary_text",
           [](const Sampled& s, const std::vector<std::string>& patterns, std::size_t most_rows) {
             return to_text(summary(s.draws, patterns), most_rows);
           })
      .def("summary_rows",
           [](const Sampled& s, const std::vector<std::string>& patterns) {
             return rows_of(summary(s.draws, patterns));
           })
      .def("findings", [](const Sampled& s) {
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> findings;
        for (const Finding& f : diagnose(s.draws))
          findings.emplace_back(severity_name(f.severity), f.check, f.text, f.advice);
        return findings;
      });

  m.def(
      "read_run",
      [](const std::string& directory, bool exchangeable, const std::vector<std::string>& columns,
         bool ensemble, std::size_t superchains, std::optional<double> warmup_seconds,
         std::optional<double> sampling_seconds, const std::string& status) {
        Sampled result;
        const nb::gil_scoped_release release;
        result.draws.chains = read_chains(directory);
        DrawSet set = draw_set_of(result.draws.chains, directory);
        if (ensemble) set.chains_per_ensemble = set.num_chains();
        if (superchains > 1 && set.num_chains() % superchains == 0)
          set.chains_per_superchain = set.num_chains() / superchains;
        set.warmup_seconds = warmup_seconds;
        set.sampling_seconds = sampling_seconds;
        RunFacts facts;
        facts.status = status;
        facts.exchangeable_components = exchangeable;
        facts.columns = columns;
        result.draws.finished = status == "finished";
        result.draws.run = inspect_draws(std::move(set), std::move(facts), Numbering::mended);
        return result;
      },
      nb::arg("directory"), nb::kw_only(), nb::arg("exchangeable"), nb::arg("columns"), nb::arg("ensemble"),
      nb::arg("superchains"), nb::arg("warmup_seconds").none(), nb::arg("sampling_seconds").none(),
      nb::arg("status"));
}

}  // namespace
}  // namespace emomc::python

NB_MODULE(_emomc, m) {
  namespace nb = nanobind;
  nb::exception<emomc::InputError>(m, "InputError", PyExc_ValueError).attr("__doc__") =
      "Something that the caller asked for cannot be done; the message says what, why and what is allowed.";
  nb::exception<emomc::MachineError>(m, "MachineError", PyExc_RuntimeError).attr("__doc__") =
      "Memory, disk, compiler or GPU failed.";
  nb::exception<emomc::DensityError>(m, "DensityError", PyExc_ArithmeticError).attr("__doc__") =
      "The density was not a number at a start, or too often.";
  emomc::python::add_posterior(m);
  emomc::python::add_draws(m);
  m.def(
      "functions", [] { return emomc::expression_functions(); },
      "The functions of expressions, each with its arguments: normal_lpdf(x, mu, sigma).");
  m.def(
      "proposals", [] { return emomc::proposal_names(); }, "The kinds of proposals, for emomc.sample.");
}
