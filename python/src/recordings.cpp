#include "recordings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/emotion/standardized_rows.hpp"
#include "sampled.hpp"

namespace emomc::python {
namespace {

Recording recording_of(const Source& source, const std::string& name) {
  if (!source.file.empty()) return read_audio(source.file);
  return emomc::recording_of(name, {source.samples.data(), source.samples.size()}, source.samples.shape(1),
                             source.sample_rate);
}

std::string name_of(const Source& source, const std::string& name) {
  return source.file.empty() ? name : source.file.string();
}

}  // namespace

std::vector<Source> sources_of(const nb::list& items) {
  std::vector<Source> sources;
  for (const nb::handle item : items) {
    Source source;
    if (nb::isinstance<nb::str>(item))
      source.file = nb::cast<std::string>(item);
    else
      std::tie(source.samples, source.sample_rate) = nb::cast<std::pair<Matrix, double>>(item);
    sources.push_back(std::move(source));
  }
  return sources;
}

void Watch::operator()(const std::string& stage, std::size_t done, std::size_t all) {
  const nb::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!show_.is_none()) show_(stage, done, all);
  } catch (nb::python_error&) {
    raised_ = std::current_exception();
    throw Raised();
  }
}

CorpusFeatures features_of(const std::vector<Source>& sources, const Texts& names, const Texts& emotions,
                           const Texts& speakers, bool refuse, const EvaluationConfig& config, Watch& watch) {
  GivenRecordings given;
  const auto& wanted = config.corpus.classes;
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), emotions[i]) == wanted.end()) continue;
    taken.push_back(i);
    given.utterances.push_back({names[i], speakers[i], emotions[i], name_of(sources[i], names[i])});
  }
  given.read = [&](std::size_t i) { return recording_of(sources[taken[i]], names[taken[i]]); };
  given.refuse_unreadable = refuse;
  given.advice = "unreadable=\"skip\" leaves them out";
  return features_of_recordings(
      given, config.features, config.run.threads,
      [&](std::size_t done, std::size_t all) { watch("features", done, all); }, Functionals::wanted);
}

FoldsConfig folds_of(const std::string& kind, int count, const Texts& names, const std::string& file,
                     const std::string& column) {
  if (kind == "file")
    return {.kind = FoldsKind::file, .test_speakers = {}, .file = file, .column = column, .test = names};
  return {.kind = kind == "speakers" ? FoldsKind::test_speakers
                  : kind == "k"      ? FoldsKind::k_fold_by_speaker
                                     : FoldsKind::leave_one_speaker_out,
          .count = count,
          .test_speakers = names};
}

std::vector<std::span<const double>> rows_of(const Matrix& values) {
  std::vector<std::span<const double>> rows;
  for (std::size_t i = 0; i < values.shape(0); ++i)
    rows.emplace_back(values.data() + i * values.shape(1), values.shape(1));
  return rows;
}

nb::tuple functionals_of(FunctionalSet set, const std::string& table, std::size_t columns,
                         const nb::list& recordings, const Texts& names, int threads) {
  if (!table.empty())
    throw InputError("the model was trained on the table " + table +
                     ", whose columns are not computed from recordings here");
  const std::vector<Source> sources = sources_of(recordings);
  std::vector<double> values(sources.size() * columns);
  std::vector<std::size_t> frames(sources.size());
  {
    const nb::gil_scoped_release release;
    ThreadPool pool(threads);
    std::vector<DescriptorExtractors> extractors(static_cast<std::size_t>(pool.num_threads()));
    pool.for_each(sources.size(), [&](std::size_t i, int worker) {
      const std::string name = name_of(sources[i], names[i]);
      try {
        const UtteranceRow row = utterance_row(recording_of(sources[i], names[i]), set,
                                               extractors[static_cast<std::size_t>(worker)]);
        std::copy(row.values.begin(), row.values.end(),
                  values.begin() + static_cast<std::ptrdiff_t>(i * columns));
        frames[i] = row.frames;
      } catch (const InputError& error) {
        const std::string why = error.what();
        throw InputError(why.starts_with(name) ? why : name + ": " + why);
      }
    });
  }
  return nb::make_tuple(array_of(std::move(values), {sources.size(), columns}), frames);
}

}  // namespace emomc::python
