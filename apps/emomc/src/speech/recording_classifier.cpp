#include "recording_classifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/standardize.hpp"

namespace emomc::app {

RecordingClassifier::RecordingClassifier(ClassModel model, Backend backend, int threads)
    : model_(std::move(model)), backend_(backend), threads_(threads) {
  if (model_.config.corpus.kind == "tables")
    throw InputError(
        "the model was trained on tables, and it is not known how they were made from recordings; train it "
        "on the "
        "recordings themselves (corpus.kind emodb, folders, manifest, ...)");
  device_ = make_device(backend);
}

void RecordingClassifier::require_rate(double sample_rate) const {
  if (model_.sample_rate > 0 && sample_rate != model_.sample_rate && model_.config.features.mfcc.high_hz == 0)
    throw InputError(fmt::format(
        "{} Hz, but the model's recordings were at {} Hz, and its filters reach up to half of that; "
        "resample it, or train with features.high_hz",
        sample_rate, model_.sample_rate));
}

Frames RecordingClassifier::frames_of(const Recording& recording) {
  const FeaturesConfig& config = model_.config.features;
  require_rate(recording.sample_rate);
  Frames frames = extract_frames(recording, config, extractors_).frames;
  if (frames.num_frames() == 0) throw InputError("no frame: shorter than a window, or silent");
  if (config.remove_gain) {  // as in training, the mean of c0 (the first column) is removed
    const auto dim = static_cast<std::size_t>(frames.dim);
    double mean = 0;
    for (std::size_t at = 0; at < frames.values.size(); at += dim)
      mean += frames.values[at] / static_cast<double>(frames.num_frames());
    for (std::size_t at = 0; at < frames.values.size(); at += dim) frames.values[at] -= mean;
  }
  append_deltas(frames, config.deltas);
  return frames;
}

ColumnUnits RecordingClassifier::units_of(const std::vector<const Frames*>& recordings, Known known) const {
  std::vector<double> values;
  for (const Frames* frames : recordings)
    values.insert(values.end(), frames->values.begin(), frames->values.end());
  const std::size_t dim = model_.columns.size();
  ColumnUnits own = column_units(values, dim);
  if (known == Known::speaker) return own;
  const std::size_t num_rows = values.size() / dim;
  const auto rows = static_cast<double>(num_rows);
  const double share = rows / (rows + kCorpusFrames);
  ColumnUnits shrunk = model_.corpus;
  for (std::size_t j = 0; j < dim; ++j) {
    const double between = own.mean[j] - model_.corpus.mean[j];
    shrunk.mean[j] += share * between;
    shrunk.sd[j] =
        std::sqrt(share * own.sd[j] * own.sd[j] + (1 - share) * model_.corpus.sd[j] * model_.corpus.sd[j]);
  }
  return shrunk;
}

Classified RecordingClassifier::classify(const Frames& frames, const ColumnUnits& units) {
  DataSet data = DataSet::single_segment(frames.dim, frames.values);
  switch (model_.config.features.normalize) {
    case Normalization::none:
      break;
    case Normalization::corpus:
      standardize(model_.corpus, data.values);
      break;
    case Normalization::speaker:
      standardize(units, data.values);
      break;
    case Normalization::utterance:
      standardize(column_units(data.values, static_cast<std::size_t>(frames.dim)), data.values);
      break;
  }
  standardize(model_.units, data.values);
  const auto engine = make_engine(backend_, model_.likelihood(), model_.config.run.likelihood.precision, data,
                                  *device_, threads_);
  ClassLikelihoods likelihoods;
  likelihoods.num_utterances = 1;
  likelihoods.num_classes = static_cast<int>(model_.classes.size());
  likelihoods.num_draws = model_.num_draws;
  likelihoods.num_frames = {static_cast<double>(data.num_rows)};
  likelihoods.values.resize(model_.classes.size() * model_.num_draws);
  for (std::size_t c = 0; c < model_.classes.size(); ++c)
    engine->sums_by_segment(model_.theta[c].data(), static_cast<int>(model_.num_draws),
                            likelihoods.values.data() + c * model_.num_draws);
  Classified result;
  result.num_frames = data.num_rows;
  result.probability.resize(model_.classes.size());
  result.spread.resize(model_.classes.size());
  class_log_probabilities(model_.classifier, likelihoods, 0, result.probability);
  for (double& p : result.probability) p = std::exp(p);
  class_probability_spread(model_.classifier, likelihoods, 0, result.spread);
  result.predicted = static_cast<std::size_t>(
      std::max_element(result.probability.begin(), result.probability.end()) - result.probability.begin());
  return result;
}

}  // namespace emomc::app
