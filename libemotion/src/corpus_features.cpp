#include "emomc/emotion/corpus_features.hpp"

#include <fmt/format.h>

#include "corpus_problems.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/emotion/recordings.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/data_setup.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/speech/frame_functionals.hpp"
#include "recordings_of_corpus.hpp"

namespace emomc {
namespace {

CorpusFeatures read_tables(const CorpusConfig& corpus) {
  CorpusFeatures result;
  std::vector<std::filesystem::path> unmatched;
  result.features = read_feature_tables(corpus.path, corpus.pattern, &unmatched);
  std::vector<std::string*> emotions;
  for (UtteranceFrames& utterance : result.features.utterances) emotions.push_back(&utterance.emotion);
  rename_labels(corpus.labels, emotions);
  // Files with an extension other than the pattern's are not tables.
  std::erase_if(unmatched, [&](const auto& file) {
    return file.extension() != std::filesystem::path(corpus.pattern).extension();
  });
  if (!unmatched.empty()) {
    std::vector<std::string> names;
    for (const auto& file : unmatched) names.push_back(file.filename().string());
    const std::string what =
        fmt::format("{}: {} of its files do not match corpus.pattern {}: {}", corpus.path.string(),
                    names.size(), corpus.pattern, excerpt(joined(names)));
    if (corpus.refuse_unparsed) throw InputError(what + "; write corpus: {unparsed: skip} to leave them out");
    result.notes.push_back(what + "; left out");
  }
  if (const std::size_t repeated = drop_repeated_rows(result.features); repeated > 0)
    result.notes.push_back(
        fmt::format("corpus: {} frames equal to the one before (silence) are left out", repeated));
  return result;
}

std::string hash_features(const FeatureSet& features) {
  std::string labels;
  for (const auto& column : features.columns) labels += column + "\n";
  for (const UtteranceFrames& u : features.utterances)
    labels += u.id + "\t" + u.speaker + "\t" + u.emotion + "\t" + std::to_string(u.num_rows) + "\n";
  const std::string_view values(reinterpret_cast<const char*>(features.values.data()),
                                features.values.size() * sizeof(double));
  return sha256_hex(labels + sha256_hex(values));
}

CorpusFeatures normalised(CorpusFeatures result, const FeaturesConfig& features) {
  if (result.features.values.empty()) throw InputError("corpus: no utterance has a frame");
  for (const UtteranceFrames& u : result.features.utterances)
    result.fingerprint.parts.push_back(
        data_part(u.id, result.features.values, result.features.dim(), u.first_row, u.num_rows));
  if (features.remove_gain) centre_by_utterance(result.features, kGainColumn);
  append_deltas(result.features, features.deltas);
  result.units = column_units(result.features.values, result.features.dim());
  normalize(result.features, features.normalize);
  result.fingerprint.sha256 = hash_features(result.features);
  result.fingerprint.columns = result.features.columns;
  return result;
}

}  // namespace

CorpusFeatures load_corpus_features(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                                    const OnRecording& on_recording, Functionals functionals) {
  if (functionals == Functionals::wanted && !features.table.empty())
    return read_table_of_utterances(corpus, features);
  if (corpus.kind != "tables")
    return normalised(extract_corpus(corpus, features, threads, on_recording, functionals), features);
  CorpusFeatures tables = read_tables(corpus);
  if (functionals == Functionals::wanted) tables.functionals = frame_functionals(tables.features);
  return normalised(std::move(tables), features);
}

CorpusFeatures features_of_recordings(const GivenRecordings& recordings, const FeaturesConfig& features,
                                      int threads, const OnRecording& on_recording, Functionals functionals) {
  CorpusFeatures result;
  extract_recordings(recordings, features, threads, on_recording, functionals, result);
  return normalised(std::move(result), features);
}

}  // namespace emomc
