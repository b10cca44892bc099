#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/speech/corpus.hpp"
#include "recording_classifier.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string model, group_by, corpus, backend = "cpu";
  std::vector<std::string> files, speaker_from;
  bool from_input = false, quiet = false;
  double rate = 0, every = 1, window = 10;
  int threads = 0;
};

using Json = nlohmann::ordered_json;

void print(const Json& line) {
  std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  flush_standard_output();
}

Json line_of(const std::string& file, const Classified& result, const ClassModel& model) {
  Json probabilities = Json::object(), sd = Json::object();
  for (std::size_t c = 0; c < model.classes.size(); ++c) {
    probabilities[model.classes[c]] = result.probability[c];
    sd[model.classes[c]] = result.spread[c];
  }
  return {{"file", file},
          {"predicted", model.classes[result.predicted]},
          {"probabilities", probabilities},
          {"sd", sd},
          {"frames", result.num_frames}};
}

/// The frames of a recording from the command line, or the reason why it has none.
struct Given {
  std::string file, speaker, problem;
  Frames frames;
};

Given read(RecordingClassifier& classifier, const std::string& file) {
  Given given{file, {}, {}, {}};
  try {
    given.frames = classifier.frames_of(read_audio(file));
  } catch (const InputError& error) {
    const std::string why = error.what();
    given.problem = why.find(file) == std::string::npos ? file + ": " + why : why;
  }
  return given;
}

// The speakers of files, from their names by the convention of a corpus.
std::map<std::string, std::string> speakers_of(const std::vector<std::string>& files,
                                               const std::string& kind) {
  std::map<std::string, std::string> speakers;
  for (const auto& file : files) {
    const std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
    if (kind == "iemocap" || kind == "manifest")
      throw InputError(
          "--group-by speaker: names of corpus " + kind +
          " do not say who speaks; classify a speaker at a time, or name others with --speaker-from");
    if (kind == "folders") {  // the path ends with emotion/speaker/file
      speakers[file] = path.parent_path().filename().string();
      continue;
    }
    const std::string speaker = speaker_of_file(kind, path);
    if (speaker.empty())
      throw InputError("--group-by speaker: " + file + ": a name of corpus " + kind +
                       " is expected; name another one with --corpus");
    speakers[file] = speaker;
  }
  return speakers;
}

// Tells the user whose statistics normalise the frames if the command line does not specify it.
void explain(const Options& options) {
  if (options.quiet) return;
  if (options.files.size() == 1)
    std::cerr
        << "note: the model normalises by speaker; of this one only the recording itself is known, whose "
           "mean and sd are drawn towards the corpus's (--speaker-from names more)\n";
  else
    std::cerr << "note: the model normalises by speaker; the " << options.files.size()
              << " recordings are taken to be of one (--group-by speaker tells speakers apart)\n";
}

int classify_files(const Options& options, RecordingClassifier& classifier) {
  const bool by_speaker = classifier.model().config.features.normalize == Normalization::speaker;
  using Known = RecordingClassifier::Known;
  bool failed = false;
  const auto classify = [&](const Given& given, const ColumnUnits& units) {
    if (given.problem.empty()) {
      print(line_of(given.file, classifier.classify(given.frames, units), classifier.model()));
      return;
    }
    failed = true;
    print({{"file", given.file}, {"error", given.problem}});
  };
  if (!by_speaker || !options.speaker_from.empty()) {
    ColumnUnits units;
    if (by_speaker) {
      std::vector<Frames> frames;
      for (const auto& file : options.speaker_from) {
        Given given = read(classifier, file);
        if (!given.problem.empty()) throw InputError("--speaker-from: " + given.problem);
        frames.push_back(std::move(given.frames));
      }
      std::vector<const Frames*> all;
      for (const Frames& one : frames) all.push_back(&one);
      units = classifier.units_of(all, Known::speaker);
    }
    for (const auto& file : options.files) classify(read(classifier, file), units);
    return failed ? kBadInput : kDone;
  }
  std::map<std::string, std::string> speakers;
  if (options.group_by == "speaker")
    speakers = speakers_of(options.files,
                           options.corpus.empty() ? classifier.model().config.corpus.kind : options.corpus);
  else
    explain(options);
  std::vector<Given> all;
  std::map<std::string, std::vector<const Frames*>> frames_of;
  for (const auto& file : options.files) {
    all.push_back(read(classifier, file));
    if (speakers.contains(file)) all.back().speaker = speakers[file];
  }
  for (const Given& given : all)
    if (given.problem.empty()) frames_of[given.speaker].push_back(&given.frames);
  std::map<std::string, ColumnUnits> units;
  for (const auto& [speaker, frames] : frames_of)
    units[speaker] = classifier.units_of(frames, frames.size() == 1 ? Known::alone : Known::speaker);
  for (const Given& given : all) classify(given, units[given.speaker]);
  return failed ? kBadInput : kDone;
}

// Refuses a WAV or FLAC file on standard input, which would be read as noise. Raw samples begin with one
// given sequence of four bytes with probability 2^-32.
void refuse_container(const unsigned char* bytes, std::size_t count) {
  for (const char* name : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM", "caff", ".snd"})
    if (count >= 4 && std::equal(name, name + 4, bytes))
      throw InputError(
          "--stdin: a file that begins with '" + std::string(name) +
          "' came in (WAV, FLAC and the like); allowed: raw 16 bit little-endian mono PCM; name the "
          "file instead");
}

// Classifies the last `window` seconds of the samples every `every` seconds, and once more at the end.
int classify_input(const Options& options, RecordingClassifier& classifier) {
  const double rate = options.rate > 0 ? options.rate : classifier.model().sample_rate;
  if (!(rate > 0))
    throw InputError("--rate: the model's recordings had different sample rates; say what comes in");
  const auto most = static_cast<std::size_t>(options.window * rate);
  const auto step = std::max<std::size_t>(1, static_cast<std::size_t>(options.every * rate));
  ColumnUnits units;
  const bool by_speaker = classifier.model().config.features.normalize == Normalization::speaker;
  std::vector<Frames> known;
  for (const auto& file : options.speaker_from) {
    Given given = read(classifier, file);
    if (!given.problem.empty()) throw InputError("--speaker-from: " + given.problem);
    known.push_back(std::move(given.frames));
  }
  std::vector<const Frames*> speaker;
  for (const Frames& frames : known) speaker.push_back(&frames);
  if (by_speaker && !speaker.empty())
    units = classifier.units_of(speaker, RecordingClassifier::Known::speaker);
  if (by_speaker && speaker.empty() && !options.quiet)
    std::cerr
        << "note: the model normalises by speaker; of this one only what comes in is known, whose mean and "
           "sd are drawn towards the corpus's (--speaker-from names recordings)\n";
  std::deque<double> samples;
  std::size_t total = 0, since = 0;
  const auto report = [&](bool is_last) {
    Json line;
    const std::string name = "-";
    try {
      Recording recording{rate, {samples.begin(), samples.end()}};
      const Frames frames = classifier.frames_of(recording);
      if (by_speaker && speaker.empty())
        units = classifier.units_of({&frames}, RecordingClassifier::Known::alone);
      line = line_of(name, classifier.classify(frames, units), classifier.model());
    } catch (const InputError& error) {
      line = {{"file", name}, {"error", error.what()}};
    }
    line["seconds"] = static_cast<double>(total) / rate;
    line["final"] = is_last;
    print(line);
    return !line.contains("error");
  };
  std::array<unsigned char, 4096> bytes{};
  std::size_t kept = 0;
  for (;;) {
    const std::size_t got =
        std::fread(bytes.data() + kept, 1, std::min(bytes.size() - kept, 2 * (step - since) - kept), stdin);
    if (got == 0) break;
    kept += got;
    if (total == 0) refuse_container(bytes.data(), kept);
    for (std::size_t i = 0; i + 1 < kept; i += 2) {
      const auto value = static_cast<std::int16_t>(bytes[i] | bytes[i + 1] << 8);
      samples.push_back(value / 32768.0);
      if (samples.size() > most) samples.pop_front();
      ++total;
      ++since;
    }
    if (kept % 2 == 1) bytes[0] = bytes[kept - 1];
    kept %= 2;
    if (since >= step) {
      report(false);
      since = 0;
    }
  }
  if (total == 0) throw InputError("--stdin: no samples came in; allowed: raw 16 bit little-endian mono PCM");
  return report(true) ? kDone : kBadInput;
}

int classify(const Options& options) {
  if (options.from_input != options.files.empty())
    throw InputError(options.from_input ? "--stdin: files are named too; choose one"
                                        : "name recordings to classify, or use --stdin");
  RecordingClassifier classifier(read_class_model(options.model), backend_of_name(options.backend),
                                 options.threads);
  return options.from_input ? classify_input(options, classifier) : classify_files(options, classifier);
}

}  // namespace

void add_classify(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("classify", "Class probabilities of recordings, a JSON line for each");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "Directory that emomc train wrote")->required();
  command->add_option("FILE", options->files, "Recordings");
  auto* from = command->add_option("--speaker-from", options->speaker_from,
                                   "Recordings of the same speaker, whose mean and sd normalise");
  command
      ->add_option("--group-by", options->group_by,
                   "speaker: recordings of one speaker, by their names, are normalised together")
      ->check(CLI::IsMember({"speaker"}))
      ->excludes(from);
  command->add_option("--corpus", options->corpus, "Whose names those are (default: the model's corpus)")
      ->check(CLI::IsMember(corpus_kinds()));
  command->add_flag("--stdin", options->from_input,
                    "Raw 16 bit little-endian mono samples from standard input, as they arrive");
  command->add_option("--rate", options->rate, "Of --stdin, in Hz (default: the model's)")
      ->check(CLI::Range(100.0, 1e6));
  command->add_option("--every", options->every, "Of --stdin: seconds from line to line")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  command->add_option("--window", options->window, "Of --stdin: seconds that a line is about")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  command->add_option("--backend", options->backend, "reference, cpu or cuda")
      ->check(CLI::IsMember({"reference", "cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "0: all")->check(CLI::Range(0, 4096));
  command->add_flag("-q,--quiet", options->quiet, "No notes");
  command->footer(
      "Example: emomc classify models/emodb speech.wav\n"
      "A recording that cannot be classified gives a line with its error; the exit code is then 2.");
  command->callback([options, &status] { status = classify(*options); });
}

}  // namespace emomc::app
