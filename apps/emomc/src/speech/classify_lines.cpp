#include "classify_lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/speech/corpus.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {
namespace {

using Json = nlohmann::ordered_json;

// Throws InputError for a WAV or FLAC file on standard input, which would be read as noise. Random samples
// begin with a given sequence of four bytes with probability 2^-32.
void refuse_container(const unsigned char* bytes, std::size_t count) {
  for (const char* name : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM", "caff", ".snd"})
    if (count >= 4 && std::equal(name, name + 4, bytes))
      throw InputError(
          "--stdin: a file that begins with '" + std::string(name) +
          "' was received (WAV, FLAC and the like); allowed: raw 16 bit little-endian mono PCM; name the "
          "file instead");
}

}  // namespace

void print_line(Json line, double reject_below) {
  if (reject_below > 0 && line.contains("probabilities")) {
    double largest = 0;
    for (const auto& [name, p] : line["probabilities"].items()) largest = std::max(largest, p.get<double>());
    line["rejected"] = largest < reject_below;
    if (largest < reject_below) line["predicted"] = nullptr;
  }
  std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  flush_standard_output();
}

Json line_of(const std::string& file, const std::vector<std::string>& classes,
             const std::vector<double>& probability, const std::vector<double>& sd, std::size_t frames) {
  Json probabilities = Json::object(), sds = Json::object();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    probabilities[classes[c]] = probability[c];
    sds[classes[c]] = sd[c];
  }
  const auto most = std::max_element(probability.begin(), probability.end()) - probability.begin();
  return {{"file", file},
          {"predicted", classes[static_cast<std::size_t>(most)]},
          {"probabilities", probabilities},
          {"sd", sds},
          {"frames", frames}};
}

Json standardisation(const std::string& kind, std::size_t recordings) {
  return {{"kind", kind}, {"recordings", recordings}};
}

std::map<std::string, std::string> speakers_of(const std::vector<std::string>& files,
                                               const std::string& kind) {
  std::map<std::string, std::string> speakers;
  for (const auto& file : files) {
    const std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
    if (kind == "iemocap" || kind == "manifest")
      throw InputError("--group-by speaker: names of corpus " + kind +
                       " do not identify the speaker; classify one speaker at a time, or name other "
                       "recordings with --speaker-from");
    if (kind == "folders") {  // the path ends with emotion/speaker/file
      speakers[file] = path.parent_path().filename().string();
      continue;
    }
    const std::string speaker = speaker_of_file(kind, path);
    if (speaker.empty())
      throw InputError("--group-by speaker: " + file + ": the name is not one of corpus " + kind +
                       "; name another one with --corpus");
    speakers[file] = speaker;
  }
  return speakers;
}

std::string problem_of(const std::string& file, const std::string& why) {
  return why.find(file) == std::string::npos ? file + ": " + why : why;
}

int classify_input(const ClassifyOptions& options, double sample_rate,
                   const std::function<Json(const Recording&)>& line_about) {
  const double rate = options.rate > 0 ? options.rate : sample_rate;
  if (!(rate > 0))
    throw InputError("--rate: the model's recordings had different sample rates; give the rate of the input");
  const auto most = static_cast<std::size_t>(options.window * rate);
  const auto step = std::max<std::size_t>(1, static_cast<std::size_t>(options.every * rate));
  std::deque<double> samples;
  std::size_t total = 0, since = 0;
  const auto report = [&](bool is_last) {
    Json line;
    try {
      line = line_about({rate, {samples.begin(), samples.end()}});
    } catch (const InputError& error) {
      line = {{"file", "-"}, {"error", error.what()}};
    }
    line["seconds"] = static_cast<double>(total) / rate;
    line["final"] = is_last;
    print_line(line, options.reject_below);
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
  if (std::ferror(stdin) != 0)
    throw MachineError("standard input: reading failed after " + std::to_string(total) +
                       " samples: " + std::strerror(errno));
  if (kept > 0 && !options.quiet)
    std::cerr << "note: the input ends in the middle of a sample of 16 bits; its last byte is left out\n";
  if (total == 0)
    throw InputError("--stdin: no samples were received; allowed: raw 16 bit little-endian mono PCM");
  return report(true) ? kDone : kBadInput;
}

}  // namespace emomc::app
