// The functions and classes of the extension module on which emomc.evaluate and emomc.Classifier are built.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/regression_model_file.hpp"
#include "emomc/emotion/softmax_recordings.hpp"
#include "emomc/emotion/softmax_results.hpp"
#include "emomc/emotion/utterance_groups.hpp"
#include "emomc/sampler/files.hpp"
#include "emomc/speech/corpus.hpp"
#include "recordings.hpp"
#include "sampled.hpp"

namespace emomc::python {
namespace {

// Returns the configuration for the options that `evaluate` and `Classifier.fit` share.
EvaluationConfig config_of(const std::string& functionals, const std::string& class_prior,
                           const std::string& prior, std::vector<double> prior_sds, double relevant_share,
                           double slab_scale, double temperature, std::optional<double> temper, int chains,
                           int warmup, int draws, std::uint64_t seed, int threads, const Texts& classes) {
  EvaluationConfig config;
  config.corpus.kind = "folders";  // the corpus consists of recordings
  config.corpus.classes = classes;
  config.classifier = ClassifierKind::softmax;
  config.features.set = functional_set(functionals);
  config.classification.class_prior = class_prior == "observed" ? ClassPrior::observed : ClassPrior::uniform;
  config.softmax = {.prior = softmax_prior(prior),
                    .prior_sds = std::move(prior_sds),
                    .relevant_share = relevant_share,
                    .slab_scale = slab_scale,
                    .temperature = temperature,
                    .temper = temper,
                    .temper_frames = std::nullopt,
                    .chains = chains,
                    .warmup = warmup,
                    .draws = draws};
  config.run.sampler.seed = seed;
  config.run.threads = threads;
  require_few_columns(config, functional_names(config.features.set).size());
  return config;
}

nb::tuple evaluate(const nb::list& recordings, const Texts& names, const Texts& emotions,
                   const Texts& speakers, bool refuse, const std::string& folds, int count,
                   const Texts& tests, const std::string& folds_file, const std::string& folds_column,
                   const Texts& by_columns, const std::string& by_file, EvaluationConfig config,
                   const nb::object& progress) {
  const std::vector<Source> sources = sources_of(recordings);
  config.folds = folds_of(folds, count, tests, folds_file, folds_column);
  config.by = {.columns = by_columns, .file = by_file};
  check_tables(config);
  Watch watch(progress);
  CorpusFeatures corpus;
  LabelledFrames frames;
  SoftmaxEvaluation result;
  watch.run([&] {
    corpus = features_of(sources, names, emotions, speakers, refuse, config, watch);
    frames = label_frames(std::move(corpus.features), config.corpus);
    const EvaluationPlan plan = plan_evaluation(frames, config);
    frames.groups = groups_of(frames, config);
    if (const std::string text = folds_text(frames, plan, config.folds); !text.empty())
      corpus.notes.push_back(text);
    result = evaluate_softmax(frames, plan, config, corpus, [&](const auto&... args) { watch(args...); });
  });
  const std::size_t rows = result.results.utterances.size(), classes = frames.num_classes();
  Texts ids;
  std::map<std::size_t, std::size_t> place;
  for (const std::size_t u : result.results.utterances) {
    place[u] = ids.size();
    ids.push_back(frames.features.utterances[u].id);
  }
  const auto probabilities = [&](const MethodResult& method) {
    std::vector<double> p = method.predictions.log_probability;
    for (double& x : p) x = std::exp(x);
    return array_of(std::move(p), {rows, classes});
  };
  std::vector<double> sd(rows * classes);
  for (const SoftmaxFold& fold : result.folds)
    for (std::size_t i = 0; i < fold.rows.size(); ++i)
      std::copy_n(fold.probability_sd.begin() + static_cast<std::ptrdiff_t>(i * classes), classes,
                  sd.begin() + static_cast<std::ptrdiff_t>(place.at(fold.rows[i]) * classes));
  return nb::make_tuple(result.scores.dump(), ids, probabilities(result.results.posterior),
                        probabilities(*result.results.em), array_of(std::move(sd), {rows, classes}),
                        corpus.notes);
}

nb::tuple train(const nb::list& recordings, const Texts& names, const Texts& emotions, const Texts& speakers,
                bool refuse, const EvaluationConfig& config, const nb::object& progress) {
  const std::vector<Source> sources = sources_of(recordings);
  Watch watch(progress);
  CorpusFeatures corpus;
  TrainedSoftmax result;
  watch.run([&] {
    corpus = features_of(sources, names, emotions, speakers, refuse, config, watch);
    const LabelledFrames frames = label_frames(std::move(corpus.features), config.corpus);
    result = train_softmax(frames, corpus, config, [&](const auto&... args) { watch(args...); });
  });
  return nb::make_tuple(std::move(result.model), result.acceptance, result.converged, corpus.notes);
}

std::vector<GivenRow> given_rows(const Matrix& values, const std::vector<std::size_t>& frames) {
  std::vector<GivenRow> rows;
  for (const auto& row : rows_of(values)) rows.push_back({row, frames.at(rows.size())});
  return rows;
}

nb::tuple probabilities_of(const std::vector<ClassifiedRow>& rows, std::size_t classes) {
  std::vector<double> mean, sd;
  for (const ClassifiedRow& row : rows) {
    mean.insert(mean.end(), row.probability.mean.begin(), row.probability.mean.end());
    sd.insert(sd.end(), row.probability.sd.begin(), row.probability.sd.end());
  }
  return nb::make_tuple(array_of(std::move(mean), {rows.size(), classes}),
                        array_of(std::move(sd), {rows.size(), classes}));
}

}  // namespace

void add_emotion(nb::module_& m) {
  nb::class_<EvaluationConfig>(m, "SoftmaxOptions")
      .def_static("of", &config_of, nb::kw_only(), nb::arg("functionals"), nb::arg("class_prior"),
                  nb::arg("prior"), nb::arg("prior_sds"), nb::arg("relevant_share"), nb::arg("slab_scale"),
                  nb::arg("temperature"), nb::arg("temper").none(), nb::arg("chains"), nb::arg("warmup"),
                  nb::arg("draws"), nb::arg("seed"), nb::arg("threads"), nb::arg("classes"));
  m.attr("ridge_warmup") = SoftmaxConfig().warmup;
  m.attr("softmax_draws") = SoftmaxConfig().draws;
  m.attr("horseshoe_warmup") = kHorseshoeWarmup;
  nb::class_<SoftmaxModel>(m, "SoftmaxModel")
      .def_prop_ro("classes", [](const SoftmaxModel& model) { return model.classes; })
      .def_prop_ro("functionals",
                   [](const SoftmaxModel& model) {
                     return model.table.empty() ? functional_set_name(model.set) : std::string();
                   })
      .def_prop_ro("columns", [](const SoftmaxModel& model) { return model.classifier.columns; })
      .def_prop_ro("sample_rate", [](const SoftmaxModel& model) { return model.sample_rate; })
      .def_prop_ro("seed", [](const SoftmaxModel& model) { return model.classifier.seed; })
      .def_prop_ro("prior",
                   [](const SoftmaxModel& model) { return softmax_prior_name(model.classifier.prior); })
      .def_prop_ro("prior_sd_weights",
                   [](const SoftmaxModel& model) {
                     std::map<double, double> weights;
                     for (const DrawsOfSd& one : model.classifier.prior_sds)
                       weights[one.prior_sd] += static_cast<double>(one.num_draws) /
                                                static_cast<double>(model.classifier.num_draws);
                     return weights;
                   })
      .def_prop_ro("temper", [](const SoftmaxModel& model) { return model.classifier.tempers[0].temper; })
      .def_prop_ro("speakers", [](const SoftmaxModel& model) { return model.trained_on.speakers; })
      .def(
          "rows",
          [](const SoftmaxModel& model, const nb::list& recordings, const Texts& names, int threads) {
            return functionals_of(model.set, model.table, model.classifier.columns.size(), recordings, names,
                                  threads);
          },
          nb::arg("recordings"), nb::arg("names"), nb::arg("threads"))
      .def(
          "of_speaker",
          [](const SoftmaxModel& model, const Matrix& rows, const std::vector<std::size_t>& frames) {
            std::vector<ClassifiedRow> classified;
            {
              const nb::gil_scoped_release release;
              classified = classify_speaker(given_rows(rows, frames), model.classifier);
            }
            return probabilities_of(classified, model.classes.size());
          },
          nb::arg("rows"), nb::arg("frames"))
      .def(
          "by_enrolment",
          [](const SoftmaxModel& model, const Matrix& rows, const std::vector<std::size_t>& frames,
             const Matrix& others) {
            std::vector<ClassifiedRow> classified;
            {
              const nb::gil_scoped_release release;
              for (const GivenRow& row : given_rows(rows, frames))
                classified.push_back(classify_by_enrolment(row, rows_of(others), model.classifier));
            }
            return probabilities_of(classified, model.classes.size());
          },
          nb::arg("rows"), nb::arg("frames"), nb::arg("others"))
      .def(
          "save",
          [](const SoftmaxModel& model, const std::string& directory) {
            make_directories(directory);
            write_softmax_model(model, directory);
          },
          nb::arg("directory"))
      .def_static(
          "load",
          [](const std::string& directory) {
            if (is_regression_model(directory))
              throw InputError(directory + ": the model predicts numbers; allowed: emomc.Regressor.load");
            if (!is_softmax_model(directory))
              throw InputError(directory + ": no model of softmax regression, as emomc train writes it");
            return read_softmax_model(directory);
          },
          nb::arg("directory"));
  m.def("evaluate_softmax", &evaluate, nb::kw_only(), nb::arg("recordings"), nb::arg("names"),
        nb::arg("emotions"), nb::arg("speakers"), nb::arg("refuse"), nb::arg("folds"), nb::arg("count"),
        nb::arg("tests"), nb::arg("folds_file"), nb::arg("folds_column"), nb::arg("by_columns"),
        nb::arg("by_file"), nb::arg("options"), nb::arg("progress").none());
  m.def("train_softmax", &train, nb::kw_only(), nb::arg("recordings"), nb::arg("names"), nb::arg("emotions"),
        nb::arg("speakers"), nb::arg("refuse"), nb::arg("options"), nb::arg("progress").none());
  m.def(
      "list_corpus",
      [](const std::string& kind, const std::string& path) {
        const CorpusListing listing = list_corpus(kind, path);
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> utterances;
        for (const Utterance& u : listing.utterances)
          utterances.emplace_back(u.id, u.speaker, u.emotion, u.file.string());
        Texts unparsed;
        for (const UnparsedFile& file : listing.unparsed)
          unparsed.push_back(file.file.string() + ": " + file.why);
        return std::pair(utterances, unparsed);
      },
      nb::arg("kind"), nb::arg("path"));
}

}  // namespace emomc::python
