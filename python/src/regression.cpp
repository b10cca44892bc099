// The functions and classes of the extension module on which emomc.Regressor and emomc.evaluate are built.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "emomc/core/errors.hpp"
#include "emomc/emotion/dimension_labels.hpp"
#include "emomc/emotion/regression_results.hpp"
#include "emomc/emotion/softmax_model_file.hpp"
#include "emomc/emotion/standardized_rows.hpp"
#include "emomc/emotion/utterance_groups.hpp"
#include "emomc/sampler/files.hpp"
#include "recordings.hpp"
#include "sampled.hpp"

namespace emomc::python {
namespace {

EvaluationConfig config_of(const std::string& functionals, std::vector<double> prior_sds,
                           std::optional<double> sd_factor, std::uint64_t seed, int threads,
                           const Texts& dimensions) {
  for (const std::string& name : dimensions)
    if (is_taken_in_results(name))
      throw InputError("y: " + name + " names something else in results; allowed: other names");
  EvaluationConfig config;
  config.corpus.kind = "folders";  // the corpus consists of recordings
  config.corpus.dimensions = dimensions;
  config.classifier = ClassifierKind::regression;
  config.features.set = functional_set(functionals);
  config.regression = {.prior_sds = std::move(prior_sds), .sd_factor = sd_factor};
  config.run.sampler.seed = seed;
  config.run.threads = threads;
  return config;
}

/// Recordings with their numbers, in the form of an evaluation or a training.
struct NumberedCorpus {
  CorpusFeatures features;
  LabelledFrames frames;
};

/// `numbers` has a row for each of `names`, in their order.
NumberedCorpus numbered_corpus(const std::vector<Source>& sources, const Texts& names, const Texts& speakers,
                               const std::vector<std::span<const double>>& numbers, bool refuse,
                               const EvaluationConfig& config, Watch& watch) {
  std::map<std::string, std::span<const double>> numbers_of;
  for (std::size_t i = 0; i < names.size(); ++i) numbers_of[names[i]] = numbers[i];
  NumberedCorpus corpus;
  corpus.features = features_of(sources, names, Texts(names.size()), speakers, refuse, config, watch);
  corpus.frames =
      label_with_numbers(corpus.features, config.corpus, [&](const std::vector<UtteranceFrames>& utterances) {
        std::vector<double> labels;
        for (const UtteranceFrames& u : utterances)
          labels.insert(labels.end(), numbers_of.at(u.id).begin(), numbers_of.at(u.id).end());
        return labels;
      });
  return corpus;
}

/// `numbers` are recordings x dimensions. Returns the model, and notes about the recordings that were read.
nb::tuple train(const nb::list& recordings, const Texts& names, const Texts& speakers, const Matrix& numbers,
                bool refuse, const EvaluationConfig& config, const nb::object& progress) {
  const std::vector<Source> sources = sources_of(recordings);
  Watch watch(progress);
  NumberedCorpus corpus;
  RegressionModel model;
  watch.run([&] {
    corpus = numbered_corpus(sources, names, speakers, rows_of(numbers), refuse, config, watch);
    model = train_regression(corpus.frames, corpus.features, config,
                             [&](const auto&... args) { watch(args...); });
  });
  return nb::make_tuple(std::move(model), corpus.features.notes);
}

/// Returns arrays [recordings x dimensions] about the tested recordings: true numbers; means, scales and sds
/// of predictive distributions, ends of their intervals of kPredictiveLevel, and log densities of the true
/// numbers.
nb::tuple arrays_of(const RegressionEvaluation& evaluation) {
  const std::size_t rows = evaluation.utterances.size(), dimensions = evaluation.predictions.size();
  std::vector<double> truth, mean, scale, sd, low, high, log_density;
  for (std::size_t i = 0; i < rows; ++i)
    for (const NumberPredictions& of_dimension : evaluation.predictions) {
      const PredictiveT& one = of_dimension.predicted[i];
      const Interval interval = one.interval(kPredictiveLevel);
      truth.push_back(of_dimension.truth[i]);
      mean.push_back(one.mean);
      scale.push_back(one.scale);
      sd.push_back(one.sd());
      low.push_back(interval.low);
      high.push_back(interval.high);
      log_density.push_back(one.log_density(of_dimension.truth[i]));
    }
  const std::vector<std::size_t> shape{rows, dimensions};
  return nb::make_tuple(array_of(std::move(truth), shape), array_of(std::move(mean), shape),
                        array_of(std::move(scale), shape), array_of(std::move(sd), shape),
                        array_of(std::move(low), shape), array_of(std::move(high), shape),
                        array_of(std::move(log_density), shape));
}

/// Returns scores.json without `seconds`, the names of the tested recordings, arrays_of() these, and notes.
nb::tuple evaluate(const nb::list& recordings, const Texts& names, const Texts& speakers,
                   const Matrix& numbers, bool refuse, const std::string& folds, int count,
                   const Texts& tests, const std::string& folds_file, const std::string& folds_column,
                   const Texts& by_columns, const std::string& by_file, EvaluationConfig config,
                   const nb::object& progress) {
  const std::vector<Source> sources = sources_of(recordings);
  config.folds = folds_of(folds, count, tests, folds_file, folds_column);
  config.by = {.columns = by_columns, .file = by_file};
  EvaluationConfig without_numbers = config;  // which are not in a table here
  without_numbers.classifier = ClassifierKind::softmax;
  check_tables(without_numbers);
  Watch watch(progress);
  NumberedCorpus corpus;
  RegressionEvaluation evaluation;
  watch.run([&] {
    corpus = numbered_corpus(sources, names, speakers, rows_of(numbers), refuse, config, watch);
    const EvaluationPlan plan = plan_evaluation(corpus.frames, config);
    corpus.frames.groups = groups_of(corpus.frames, config);
    if (const std::string text = folds_text(corpus.frames, plan, config.folds); !text.empty())
      corpus.features.notes.push_back(text);
    evaluation = evaluate_regression(corpus.frames, plan, config, corpus.features,
                                     [&](const auto&... args) { watch(args...); });
  });
  Texts ids;
  for (const std::size_t u : evaluation.utterances) ids.push_back(corpus.frames.features.utterances[u].id);
  return nb::make_tuple(evaluation.scores.dump(), ids, arrays_of(evaluation), corpus.features.notes);
}

/// Returns the means, scales and sds [rows x dimensions] and the degrees of freedom of predictive
/// distributions for the rows that `standardized_rows()` returns; both are computed without the GIL.
template <class StandardizedRows>
nb::tuple predicted(const RegressionModel& model, const StandardizedRows& standardized_rows) {
  std::vector<double> mean, scale, sd;
  double freedom = static_cast<double>(model.regressor.num_rows) - 1;
  std::size_t num_rows = 0;
  {
    const nb::gil_scoped_release release;
    const std::vector<StandardizedRow> rows = standardized_rows();
    num_rows = rows.size();
    for (const StandardizedRow& row : rows)
      for (const PredictiveT& one : predict_numbers(model.regressor, row.values, row.knowledge)) {
        mean.push_back(one.mean);
        scale.push_back(one.scale);
        sd.push_back(one.sd());
        freedom = one.freedom;
      }
  }
  const std::vector<std::size_t> shape{num_rows, model.regressor.dimensions.size()};
  return nb::make_tuple(array_of(std::move(mean), shape), array_of(std::move(scale), shape),
                        array_of(std::move(sd), shape), freedom);
}

template <class Value>
std::vector<Value> of_dimensions(const RegressionModel& model, Value Regressor::Dimension::*member) {
  std::vector<Value> values;
  for (const Regressor::Dimension& dimension : model.regressor.dimensions)
    values.push_back(dimension.*member);
  return values;
}

}  // namespace

void add_regression(nb::module_& m) {
  nb::class_<RegressionModel>(m, "RegressionModel")
      .def_prop_ro(
          "dimensions",
          [](const RegressionModel& model) { return of_dimensions(model, &Regressor::Dimension::name); })
      .def_prop_ro(
          "prior_sds",
          [](const RegressionModel& model) { return of_dimensions(model, &Regressor::Dimension::prior_sd); })
      .def_prop_ro(
          "noise_sds",
          [](const RegressionModel& model) { return of_dimensions(model, &Regressor::Dimension::noise_sd); })
      .def_prop_ro("sd_factors",  // the factors for speakers whose recordings are all known
                   [](const RegressionModel& model) {
                     std::vector<double> factors;
                     for (const Regressor::Dimension& dimension : model.regressor.dimensions)
                       factors.push_back(dimension.factors[0].factor);
                     return factors;
                   })
      .def_prop_ro("functionals",
                   [](const RegressionModel& model) {
                     return model.table.empty() ? functional_set_name(model.set) : std::string();
                   })
      .def_prop_ro("sample_rate", [](const RegressionModel& model) { return model.sample_rate; })
      .def_prop_ro("seed", [](const RegressionModel& model) { return model.seed; })
      .def_prop_ro("speakers", [](const RegressionModel& model) { return model.trained_on.speakers; })
      .def(
          "rows",
          [](const RegressionModel& model, const nb::list& recordings, const Texts& names, int threads) {
            return functionals_of(model.set, model.table, model.regressor.columns.size(), recordings, names,
                                  threads);
          },
          nb::arg("recordings"), nb::arg("names"), nb::arg("threads"))
      .def(
          "of_speaker",
          [](const RegressionModel& model, const Matrix& rows, const std::vector<std::size_t>&) {
            return predicted(model,
                             [&] { return standardized_speaker(rows_of(rows), model.regressor.corpus); });
          },
          nb::arg("rows"), nb::arg("frames"))
      .def(
          "by_enrolment",
          [](const RegressionModel& model, const Matrix& rows, const std::vector<std::size_t>&,
             const Matrix& others) {
            return predicted(model, [&] {
              std::vector<StandardizedRow> standardized;
              for (const auto& row : rows_of(rows))
                standardized.push_back(
                    standardized_by_enrolment(row, rows_of(others), model.regressor.corpus));
              return standardized;
            });
          },
          nb::arg("rows"), nb::arg("frames"), nb::arg("others"))
      .def(
          "save",
          [](const RegressionModel& model, const std::string& directory) {
            make_directories(directory);
            write_regression_model(model, directory);
          },
          nb::arg("directory"))
      .def_static(
          "load",
          [](const std::string& directory) {
            if (is_softmax_model(directory))
              throw InputError(directory + ": the model predicts classes; allowed: emomc.Classifier.load");
            if (!is_regression_model(directory))
              throw InputError(directory + ": no model of a regression of numbers, as emomc train writes it");
            return read_regression_model(directory);
          },
          nb::arg("directory"));
  m.def("regression_options", &config_of, nb::kw_only(), nb::arg("functionals"), nb::arg("prior_sds"),
        nb::arg("sd_factor").none(), nb::arg("seed"), nb::arg("threads"), nb::arg("dimensions"));
  m.def("train_regression", &train, nb::kw_only(), nb::arg("recordings"), nb::arg("names"),
        nb::arg("speakers"), nb::arg("numbers"), nb::arg("refuse"), nb::arg("options"),
        nb::arg("progress").none());
  m.def("evaluate_regression", &evaluate, nb::kw_only(), nb::arg("recordings"), nb::arg("names"),
        nb::arg("speakers"), nb::arg("numbers"), nb::arg("refuse"), nb::arg("folds"), nb::arg("count"),
        nb::arg("tests"), nb::arg("folds_file"), nb::arg("folds_column"), nb::arg("by_columns"),
        nb::arg("by_file"), nb::arg("options"), nb::arg("progress").none());
  m.def(
      "predictive_intervals",  // ends of central intervals of Student's t distributions [rows x 2]
      [](const Vector& mean, const Vector& scale, double freedom, double level) {
        std::vector<double> ends;
        for (std::size_t i = 0; i < mean.size(); ++i) {
          const Interval interval = PredictiveT{mean.data()[i], scale.data()[i], freedom}.interval(level);
          ends.push_back(interval.low);
          ends.push_back(interval.high);
        }
        return array_of(std::move(ends), {mean.size(), 2});
      },
      nb::arg("mean"), nb::arg("scale"), nb::arg("freedom"), nb::arg("level"));
}

}  // namespace emomc::python
