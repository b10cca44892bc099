// Computes MFCCs and functionals of recordings, in parallel.
#include "emomc/emotion/recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>

#include "corpus_problems.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/standardized_rows.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/speech/clips.hpp"
#include "recordings_of_corpus.hpp"

namespace emomc {
namespace {

/// The result of one recording.
struct Extracted {
  Frames frames;
  UtteranceRow functionals;
  std::vector<UtteranceRow> clips;
  Dropped dropped;
  double sample_rate = 0, seconds = 0;
  std::string sound;    ///< SHA-256 of the samples rounded to 16 bits: equal for copies in other formats
  std::string problem;  ///< reason why the recording could not be read
};

std::string hash_of_sound(const Recording& recording) {
  std::string bytes;
  bytes.reserve(2 * recording.samples.size());
  for (const double sample : recording.samples) {
    const auto rounded = static_cast<std::int16_t>(std::lround(std::clamp(sample, -1.0, 1.0) * 32767));
    bytes += static_cast<char>(rounded & 0xff);
    bytes += static_cast<char>((rounded >> 8) & 0xff);
  }
  return sha256_hex(bytes);
}

/// The extractors of one thread.
struct Tools {
  Extractors frames;
  DescriptorExtractors functionals;
};

void add_functionals(const Recording& recording, FunctionalSet set, Tools& tools, Extracted& result) {
  const FrameDescriptors frames = describe_recording(recording, tools.functionals);
  result.functionals = {frames.num_frames, functionals(frames, set)};
  for (const std::size_t count : kClipFrames)
    if (count < frames.num_frames)
      result.clips.push_back({count, functionals(middle_of(frames, count), set)});
}

Extracted extract(const GivenRecordings& recordings, std::size_t i, const FeaturesConfig& config,
                  Functionals wanted, Tools& tools) {
  Extracted result;
  try {
    const Recording recording = recordings.read(i);
    result.sample_rate = recording.sample_rate;
    result.seconds = static_cast<double>(recording.samples.size()) / recording.sample_rate;
    auto [frames, dropped] = extract_frames(recording, config, tools.frames);
    result.frames = std::move(frames);
    result.dropped = dropped;
    if (wanted == Functionals::wanted) add_functionals(recording, config.set, tools, result);
    result.sound = hash_of_sound(recording);
  } catch (const std::exception& error) {
    // The message about a setting that this sample rate does not allow has no file name.
    const std::string why = error.what(), name = recordings.utterances[i].file.string();
    result.problem = why.starts_with(name) ? why : name + ": " + why;
  }
  return result;
}

}  // namespace

ExtractedFrames extract_frames(const Recording& recording, const FeaturesConfig& config,
                               Extractors& extractors) {
  auto at = extractors.find(recording.sample_rate);
  if (at == extractors.end())
    at = extractors.emplace(recording.sample_rate, MfccExtractor(config.mfcc, recording.sample_rate)).first;
  ExtractedFrames result;
  std::vector<double> energy;
  result.frames = at->second.extract(recording.samples, &energy);
  result.dropped = drop_frames(result.frames, energy, {config.gate_db});
  return result;
}

FrameDescriptors describe_recording(const Recording& recording, DescriptorExtractors& extractors) {
  auto at = extractors.find(recording.sample_rate);
  if (at == extractors.end())
    at = extractors.emplace(recording.sample_rate, DescriptorExtractor(recording.sample_rate)).first;
  return at->second.describe(recording.samples);
}

namespace {

void append_row(const Utterance& utterance, const UtteranceRow& row, FunctionalTable& to) {
  to.rows.push_back({utterance.id, utterance.speaker, utterance.emotion});
  to.values.insert(to.values.end(), row.values.begin(), row.values.end());
  to.frames.push_back(static_cast<int>(row.frames));
}

// Refuses settings that the recordings do not allow, before any work. The allowed settings depend on the
// sample rate; that of the first readable recording is used. Others may have another rate. Recordings that
// cannot be read are reported later.
void check_settings(const GivenRecordings& recordings, const FeaturesConfig& config,
                    Functionals functionals) {
  for (std::size_t i = 0; i < recordings.utterances.size(); ++i) {
    double rate = 0;
    try {
      rate = recordings.read(i).sample_rate;
    } catch (const InputError&) {
      continue;
    }
    const MfccExtractor allowed(config.mfcc, rate);
    if (functionals == Functionals::wanted) {
      try {
        const DescriptorExtractor also_allowed(rate);
      } catch (const InputError& error) {
        throw InputError(recordings.utterances[i].file.string() + ": " + error.what());
      }
    }
    return;
  }
}

}  // namespace

CorpusFeatures extract_corpus(const CorpusConfig& corpus, const FeaturesConfig& features, int threads,
                              const OnRecording& on_recording, Functionals functionals) {
  CorpusFeatures result;
  GivenRecordings recordings;
  recordings.utterances = wanted_utterances(corpus, result.notes);
  recordings.read = [&](std::size_t i) { return read_audio(recordings.utterances[i].file); };
  recordings.refuse_unreadable = corpus.refuse_unparsed;
  recordings.advice = ProblemRule().advice;
  extract_recordings(recordings, features, threads, on_recording, functionals, result);
  return result;
}

void extract_recordings(const GivenRecordings& recordings, const FeaturesConfig& features, int threads,
                        const OnRecording& on_recording, Functionals functionals, CorpusFeatures& result) {
  const std::vector<Utterance>& wanted = recordings.utterances;
  check_settings(recordings, features, functionals);
  ThreadPool pool(threads);
  std::vector<Tools> tools(static_cast<std::size_t>(pool.num_threads()));
  std::vector<Extracted> extracted(wanted.size());
  std::mutex counting;
  std::size_t done = 0;
  on_recording(0, wanted.size());
  pool.for_each(wanted.size(), [&](std::size_t i, int worker) {
    extracted[i] = extract(recordings, i, features, functionals, tools[static_cast<std::size_t>(worker)]);
    const std::lock_guard lock(counting);
    on_recording(++done, wanted.size());
  });

  std::vector<std::string> unreadable, without_frames, repeated;
  std::map<std::string, std::size_t> first_with_sound;
  std::map<double, std::size_t> rates;
  std::size_t silent = 0, unvoiced = 0;
  double seconds = 0;
  const int dim = features.mfcc.num_coefficients;
  if (functionals == Functionals::wanted)
    result.functionals.columns = result.clips.columns = functional_names(features.set);
  for (int j = 0; j < dim; ++j) result.features.columns.push_back("c" + std::to_string(j));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Extracted& one = extracted[i];
    if (!one.problem.empty()) {
      unreadable.push_back(one.problem);
      continue;
    }
    ++rates[one.sample_rate];
    silent += one.dropped.silent;
    unvoiced += one.dropped.unvoiced;
    seconds += one.seconds;
    const std::size_t num_frames = one.frames.num_frames();
    if (num_frames == 0) {
      without_frames.push_back(wanted[i].file.string() + ": no frame (shorter than a window, or silent)");
      continue;
    }
    // If one copy were in the training data of a fold and the other in its test data, the scores would be too
    // high.
    if (const auto [seen, is_new] = first_with_sound.emplace(one.sound, i); !is_new) {
      const Utterance& other = wanted[seen->second];
      std::string text = wanted[i].file.string() + ": the same sound as " + other.file.string();
      if (other.emotion != wanted[i].emotion || other.speaker != wanted[i].speaker)
        text += fmt::format(" ({} of speaker {} there, {} of speaker {} here)", other.emotion, other.speaker,
                            wanted[i].emotion, wanted[i].speaker);
      repeated.push_back(text);
      continue;
    }
    result.features.utterances.push_back(
        {wanted[i].id, wanted[i].speaker, wanted[i].emotion, result.features.num_rows(), num_frames});
    result.features.values.insert(result.features.values.end(), one.frames.values.begin(),
                                  one.frames.values.end());
    if (functionals == Functionals::none) continue;
    append_row(wanted[i], one.functionals, result.functionals);
    for (const UtteranceRow& clip : one.clips) append_row(wanted[i], clip, result.clips);
  }
  const ProblemRule rule{recordings.refuse_unreadable, recordings.advice};
  note_problems(unreadable, "recording could not be read", "recordings could not be read", rule,
                result.notes);
  note_problems(repeated, "recording repeats another", "recordings repeat others", rule, result.notes);
  note_problems(without_frames, "recording has no frame", "recordings have no frame", {.refuse = false},
                result.notes);
  result.notes.push_back(fmt::format(
      "recordings: {}, {:.1f} min, {} frames; left out: {} of silence, {} below the gate",
      result.features.utterances.size(), seconds / 60, result.features.num_rows(), silent, unvoiced));
  if (rates.size() == 1) result.sample_rate = rates.begin()->first;
  if (rates.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [rate, count] : rates) names.push_back(fmt::format("{} at {} Hz", count, rate));
    result.notes.push_back("sample rates: " + joined(names));
  }
}

}  // namespace emomc
