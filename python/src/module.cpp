// The extension module emomc._emomc, which the package's Python code (python/emomc) uses.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>

#include "conversions.hpp"
#include "emomc/posterior/gradient_check.hpp"
#include "emomc/posterior/leave_one_out.hpp"
#include "emomc/posterior/predictive.hpp"
#include "emomc/posterior/relabel.hpp"
#include "emomc/posterior/stacking.hpp"
#include "recordings.hpp"
#include "sampled.hpp"
#include "words.hpp"

namespace emomc::python {
namespace {

std::span<const double> span_of(const Vector& vector) { return {vector.data(), vector.size()}; }

/// Samples without the GIL. If a signal handler or `progress` raises an exception, the run ends; the
/// exception is raised again, unless it is KeyboardInterrupt.
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

/// Fits without the GIL. If a signal handler raises an exception, the fit ends, and the exception is raised
/// again.
MixtureFit fit_of(const Posterior& posterior, FitOptionsOfMixture options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kBetweenChecks{50};  // rounds may take microseconds
  const nb::object nothing = nb::none();
  Watch watch(nothing);
  Clock::time_point checked = Clock::now();
  options.on_round = [&] {
    if (Clock::now() - checked < kBetweenChecks) return;
    watch("fit", 0, 0);
    checked = Clock::now();
  };
  MixtureFit result;
  watch.run([&] { result = fit(posterior, options); });
  return result;
}

nb::dict dict_of(Stacking found) {
  nb::list clusters;
  for (const StackedCluster& cluster : found.clusters) {
    nb::dict values;
    values["chains"] = cluster.chains;
    values["weight"] = cluster.weight;
    values["mean_log_density"] = cluster.mean_log_density;
    values["elpd_loo"] = cluster.elpd;
    values["p_loo"] = cluster.p;
    values["num_bad_k"] = cluster.num_bad;
    values["worst_k"] = cluster.worst_k;
    clusters.append(values);
  }
  nb::dict result;
  result["clusters"] = clusters;
  result["weights"] = vector_of(std::move(found.chain_weights));
  result["elpd_loo"] = found.elpd;
  result["elpd_loo_of_equal_weights"] = found.elpd_of_equal_weights;
  for (std::string& warning : found.warnings) warning = in_python(std::move(warning));
  result["warnings"] = std::move(found.warnings);
  return result;
}

/// Returns the names of the variables, the numbers of the chosen draws, the number of draws of each chain,
/// the number of replicates that are not finite, and the values [variables x chains x draws x rows].
nb::tuple tuple_of(PredictiveDraws drawn) {
  const std::vector<std::size_t> shape{drawn.variables.size(), drawn.num_chains, drawn.draws.size(),
                                       drawn.num_rows};
  return nb::make_tuple(drawn.variables, drawn.draws, drawn.num_draws_of_chain, drawn.num_not_finite,
                        array_of(std::move(drawn.values), shape));
}

/// Translates C++ exceptions of the type `Exception` to Python exceptions of the type `type`, in Python's
/// words.
template <class Exception>
void word_in_python(const nb::object& type) {
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* to) {
        try {
          std::rethrow_exception(thrown);
        } catch (const Exception& error) {
          PyErr_SetString(static_cast<PyObject*>(to), in_python(error.what()).c_str());
        }
      },
      type.ptr());
}

void add_posterior(nb::module_& m) {
  nb::class_<Posterior>(m, "Posterior")
      .def_static(
          "mixture",
          [](const std::vector<std::string>& columns, const nb::list& arrays, int components,
             const std::string& covariance, const std::map<std::string, PriorTuple>& priors, bool standardize,
             bool ordered, double scale_floor, const std::string& precision) {
            return Posterior(GaussianMixture{.components = components,
                                             .covariance = covariance_of(covariance),
                                             .priors = priors_of(priors),
                                             .standardize = standardize,
                                             .ordered = ordered,
                                             .scale_floor = scale_floor,
                                             .precision = precision_of(precision)},
                             table_of(columns, arrays));
          },
          nb::arg("columns"), nb::arg("arrays"), nb::arg("components"), nb::arg("covariance"),
          nb::arg("priors"), nb::arg("standardize"), nb::arg("ordered"), nb::arg("scale_floor"),
          nb::arg("precision"))
      .def_static(
          "expression",
          [](const std::vector<std::string>& columns, const nb::list& arrays,
             std::vector<ParameterTuple> parameters, std::string log_density,
             const std::map<std::string, PriorTuple>& priors, NamedTexts where, NamedTexts prepare,
             NamedTexts derived, NamedTexts rows, NamedTexts simulate, std::vector<LinearTuple> linear,
             std::vector<ConstantTuple> constants, std::string weights, const std::string& precision,
             nb::object function) {
            ExpressionModel model;
            model.likelihood =
                spec_of({std::move(parameters), std::move(log_density), std::move(where), std::move(prepare),
                         std::move(derived), std::move(rows), std::move(simulate), std::move(linear),
                         std::move(constants), std::move(weights), std::move(function)});
            model.priors = priors_of(priors);
            model.precision = precision_of(precision);
            return Posterior(model, table_of(columns, arrays));
          },
          nb::arg("columns"), nb::arg("arrays"), nb::arg("parameters"), nb::arg("log_density"),
          nb::arg("priors"), nb::arg("where"), nb::arg("prepare"), nb::arg("derived"), nb::arg("rows"),
          nb::arg("simulate"), nb::arg("linear"), nb::arg("constants"), nb::arg("weights"),
          nb::arg("precision"), nb::arg("function").none())
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
      .def("check_gradient",  // number of compared coordinates, worst one, derivative, difference, bound
           [](const Posterior& p, const Vector& u) {
             const GradientCheck check = p.check_gradient(span_of(u));
             return nb::make_tuple(check.num_compared, check.worst, check.derivative, check.difference,
                                   check.bound);
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
             int superchains, int rungs, const std::vector<double>& ladder, std::int64_t every,
             const std::string& backend, int threads, const std::string& directory,
             const std::string& existing, double checkpoint_seconds, const nb::object& progress) {
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
                                  .tempering = {.rungs = rungs, .betas = ladder, .every = every},
                                  .directory = directory,
                                  .existing = existing == "resume"      ? ExistingRun::resume
                                              : existing == "overwrite" ? ExistingRun::overwrite
                                                                        : ExistingRun::refuse,
                                  .checkpoint = {.seconds = checkpoint_seconds},
                                  .backend = backend_named(backend),
                                  .threads = threads};
            return sample_of(posterior, std::move(options), progress);
          },
          nb::kw_only(), nb::arg("chains"), nb::arg("draws").none(), nb::arg("max_draws"),
          nb::arg("warmup").none(), nb::arg("thin"), nb::arg("seed"), nb::arg("init"), nb::arg("proposal"),
          nb::arg("shape"), nb::arg("target_acceptance"), nb::arg("until_ess"), nb::arg("until_seconds"),
          nb::arg("superchains"), nb::arg("rungs"), nb::arg("ladder"), nb::arg("every"), nb::arg("backend"),
          nb::arg("threads"), nb::arg("directory"), nb::arg("existing"), nb::arg("checkpoint_seconds"),
          nb::arg("progress").none())
      .def(
          "row_log_likelihoods",  // [points x rows], at points_of(draws, most)
          [](const Posterior& posterior, const Sampled& sampled, std::size_t most) {
            std::vector<double> values;
            const std::size_t rows = posterior.data().num_rows;
            {
              const nb::gil_scoped_release release;
              values = posterior.row_log_likelihoods(points_of(sampled.draws, most));
            }
            const std::size_t points = values.size() / rows;
            return array_of(std::move(values), {points, rows});
          },
          nb::arg("draws"), nb::arg("most"))
      .def(
          "leave_one_out",
          [](const Posterior& posterior, const Sampled& sampled, const std::vector<std::size_t>& groups,
             std::size_t most) {
            LeaveOneOut result;
            {
              const nb::gil_scoped_release release;
              result = leave_one_out(posterior, sampled.draws, groups, most);
            }
            return std::tuple(vector_of(std::move(result.elpd)), vector_of(std::move(result.p)),
                              vector_of(std::move(result.pareto_k)), result.num_draws);
          },
          nb::arg("draws"), nb::arg("groups"), nb::arg("most"))
      .def(
          "stack",
          [](const Posterior& posterior, const Sampled& sampled, const std::vector<std::size_t>& clusters,
             const std::vector<std::size_t>& groups, std::size_t draws_per_chain) {
            Stacking found;
            {
              const nb::gil_scoped_release release;
              found = stack(posterior, sampled.draws,
                            {.clusters = clusters, .groups = groups, .draws_per_chain = draws_per_chain});
            }
            return dict_of(std::move(found));
          },
          nb::arg("draws"), nb::arg("clusters"), nb::arg("groups"), nb::arg("draws_per_chain"))
      .def(
          "posterior_predictive",  // at `most` draws of each chain; None: as many as fit into 160 MB
          [](const Posterior& posterior, const Sampled& sampled, std::optional<std::size_t> most) {
            PredictiveDraws drawn;
            {
              const nb::gil_scoped_release release;
              drawn = posterior_predictive(posterior, sampled.draws, {.draws = most});
            }
            return tuple_of(std::move(drawn));
          },
          nb::arg("draws"), nb::arg("most").none())
      .def(
          "prior_predictive",  // draws from the prior, and the replicates at these draws
          [](const Posterior& posterior, const Sampled& sampled, std::optional<std::size_t> most) {
            if (sampled.draws.chains.empty()) throw InputError("there are no draws");
            Sampled prior;
            PredictiveDraws drawn;
            {
              const nb::gil_scoped_release release;
              PriorPredictive both =
                  prior_predictive(posterior, sampled.draws.chains[0].header.seed, {.draws = most});
              prior.draws.run.first_label_free = both.prior.num_quantities();
              prior.draws.run.facts.columns = sampled.draws.run.facts.columns;
              prior.draws.run.draws = std::move(both.prior);
              drawn = std::move(both.predictive);
            }
            return std::pair(nb::cast(std::move(prior)), tuple_of(std::move(drawn)));
          },
          nb::arg("draws"), nb::arg("most").none())
      .def_prop_ro("observed",  // names of the columns that the likelihood is a density of
                   [](const Posterior& p) {
                     const LikelihoodConfig& likelihood = p.config().likelihood;
                     return likelihood.is_expression()
                                ? observed_columns(likelihood.expression, p.data().columns)
                                : p.data().columns;
                   })
      .def_prop_ro("columns", [](const Posterior& p) { return p.data().columns; })
      .def("function_kernels",  // registers and bytes of code of each kernel for a compute capability
           [](const Posterior& p, int major, int minor) {
             std::vector<std::tuple<int, std::size_t>> kernels;
             for (const KernelCode& kernel : Expression(p.config().likelihood.expression, p.data().columns)
                                                 .compile_function(major, minor))
               kernels.emplace_back(kernel.registers, kernel.code.size());
             return kernels;
           })
      .def_prop_ro("num_rows", [](const Posterior& p) { return p.data().num_rows; })
      .def_prop_ro("gpu",  // the GPU whose memory has the data; None: the data are on the host
                   [](const Posterior& p) -> std::optional<int> {
                     if (!p.data().on_device) return std::nullopt;
                     return p.data().on_device->gpu();
                   })
      .def_prop_ro("data",
                   [](const Posterior& p) {
                     const Table& table = p.data();
                     if (table.on_device)
                       throw InputError("data: they are in the memory of GPU " +
                                        std::to_string(table.on_device->gpu()) +
                                        ", and are not copied to the host; allowed: a model of a copy there");
                     return array_of(table.values, {table.num_rows, table.columns.size()});
                   })
      .def(
          "fit",
          [](const Posterior& posterior, int restarts, int max_rounds, double tolerance, std::uint64_t seed,
             int threads) {
            MixtureFit result = fit_of(posterior, {.restarts = restarts,
                                                   .max_rounds = max_rounds,
                                                   .tolerance = tolerance,
                                                   .seed = seed,
                                                   .threads = threads});
            return std::tuple(vector_of(std::move(result.theta)), result.log_likelihood, result.rounds,
                              result.converged, result.degenerate);
          },
          nb::kw_only(), nb::arg("restarts"), nb::arg("max_rounds"), nb::arg("tolerance"), nb::arg("seed"),
          nb::arg("threads"));
}

}  // namespace
}  // namespace emomc::python

NB_MODULE(_emomc, m) {
  namespace nb = nanobind;
  // Leak warnings are off, because Numba keeps functions and their globals until the process ends.
  nb::set_leak_warnings(false);
  nb::exception<emomc::InputError>(m, "InputError", PyExc_ValueError).attr("__doc__") =
      "Raised if a request of the caller cannot be fulfilled. The message states the fault, the reason and "
      "what is allowed.\n\n"
      ">>> import emomc\n"
      ">>> try:\n"
      "...     emomc.GaussianMixture(0).fit([[1.0], [2.0]])\n"
      "... except emomc.InputError as error:\n"
      "...     print(error)\n"
      "components: 0 is out of range; allowed: 1 to 65536\n";
  nb::exception<emomc::MachineError>(m, "MachineError", PyExc_RuntimeError).attr("__doc__") =
      "Raised if memory, the disk, the compiler or the GPU fails.\n\n"
      ">>> import emomc\n"
      ">>> issubclass(emomc.MachineError, RuntimeError)\n"
      "True\n";
  nb::exception<emomc::DensityError>(m, "DensityError", PyExc_ArithmeticError).attr("__doc__") =
      "Raised if the density is not a number too often during a run, is not finite at a start that is not a "
      "draw from the prior, or if a log density that is a function raises an exception.\n\n"
      ">>> import emomc\n"
      ">>> issubclass(emomc.DensityError, ArithmeticError)\n"
      "True\n";
  emomc::python::word_in_python<emomc::InputError>(m.attr("InputError"));
  emomc::python::word_in_python<emomc::MachineError>(m.attr("MachineError"));
  emomc::python::word_in_python<emomc::DensityError>(m.attr("DensityError"));
  m.attr("version") = EMOMC_VERSION;
  emomc::python::add_posterior(m);
  emomc::python::add_draws(m);
  emomc::python::add_prediction(m);
  emomc::python::add_emotion(m);
  emomc::python::add_regression(m);
  m.def(
      "match_features",
      [](const emomc::python::Vector& features, std::size_t draws, int components, std::size_t count) {
        emomc::MatchedFeatures matched;
        {
          const nb::gil_scoped_release release;
          matched = emomc::match_features({features.data(), features.size()}, draws, components, count);
        }
        const auto K = static_cast<std::size_t>(components);
        return std::tuple(emomc::python::array_of(std::move(matched.permutation), {draws, K}),
                          matched.converged);
      },
      nb::arg("features"), nb::arg("draws"), nb::arg("components"), nb::arg("count"));
  m.def(
      "prior_arguments",
      [](const std::string& family) {
        return emomc::argument_names(emomc::python::family_of(family, "prior"));
      },
      nb::arg("family"));
  m.def(
      "functions", [] { return emomc::expression_functions(); },
      "Returns the functions of expressions, each with its arguments, such as normal_lpdf(y, mu, sigma).\n\n"
      ">>> import emomc\n"
      ">>> [f for f in emomc.functions() if f.startswith(\"normal_lpdf\")]\n"
      "['normal_lpdf(y, mu, sigma)']\n");
  m.def(
      "proposals", [] { return emomc::proposal_names(); },
      "Returns the names of the proposals that emomc.sample accepts.\n\n"
      ">>> import emomc\n"
      ">>> \"nuts\" in emomc.proposals()\n"
      "True\n");
}
