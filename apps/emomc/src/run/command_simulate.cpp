#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/likelihood/simulate.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/sampler/output_file.hpp"
#include "emomc/sampler/target.hpp"
#include "expression_config.hpp"
#include "expression_simulation.hpp"
#include "kept_inputs.hpp"
#include "run_config.hpp"
#include "simulation_config.hpp"
#include "yaml_value.hpp"

namespace emomc::app {
namespace {

namespace fs = std::filesystem;

// The offsets of speakers use separate streams of random numbers.
constexpr std::uint32_t kSpeakerStream = 0x80000000u;

constexpr const char* kTruth = "truth.json";

std::string truth_of(const EmotionConfig& emotion) { return "truth_" + emotion.name + ".json"; }
std::string table_of(const EmotionConfig& emotion, const std::string& speaker) {
  return emotion.name + "_" + speaker + ".csv";
}

void append_row(const double* values, int dim, std::string& text) {
  for (int j = 0; j < dim; ++j) text += (j ? "," : "") + shortest_text(values[j]);
  text += '\n';
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

void prepare_directory(const fs::path& directory, bool force) {
  if (fs::exists(directory) && !fs::is_directory(directory))
    throw InputError(directory.string() + ": not a directory");
  if (fs::exists(directory) && !fs::is_empty(directory) && !force)
    throw InputError(directory.string() + ": not empty; choose another directory or use --force");
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw MachineError(directory.string() + ": cannot be made: " + error.message());
}

void write_truth(const fs::path& file, const SimulationConfig& config, const std::vector<double>& theta) {
  OutputFile out(file);
  out.write(parameters_to_json(model_layout(config.model, config.dim), theta) + "\n");
  out.close();
}

// Simulates 100,000 rows at a time, so that memory does not grow with the table.
std::size_t write_table(const fs::path& directory, const SimulationConfig& config) {
  constexpr std::size_t kChunk = 100'000;
  OutputFile out(directory / config.file);
  out.write(joined_names(config.columns) + "\n");
  std::uint32_t stream = 0;
  for (std::size_t row = 0; row < config.rows; row += kChunk, ++stream) {
    const std::size_t n = std::min(kChunk, config.rows - row);
    const auto values = simulate_rows(config.model, config.dim, config.theta, n, config.seed, stream);
    std::string text;
    for (std::size_t i = 0; i < n; ++i)
      append_row(values.data() + i * static_cast<std::size_t>(config.dim), config.dim, text);
    out.write(text);
  }
  out.close();
  write_truth(directory / kTruth, config, config.theta);
  return config.rows;
}

std::vector<double> speaker_offset(const SimulationConfig& config, const SimulatedCorpus& corpus,
                                   std::size_t speaker) {
  const device::RandomSource random{config.seed, 0, kSpeakerStream + static_cast<std::uint32_t>(speaker)};
  const auto K = static_cast<std::size_t>(config.model.components);
  const auto d = static_cast<std::size_t>(config.dim);
  std::vector<double> offset(d);
  for (std::size_t j = 0; j < d; ++j) {
    double scale = 0;
    for (std::size_t k = 0; k < K; ++k) scale += config.theta[K + K * d + k * d + j] / static_cast<double>(K);
    offset[j] =
        corpus.speaker_sd * scale * random.normal(device::Purpose::simulation, static_cast<std::uint32_t>(j));
  }
  return offset;
}

std::size_t write_corpus(const fs::path& directory, const SimulationConfig& config,
                         const SimulatedCorpus& corpus) {
  std::uint32_t stream = 0;
  std::size_t rows = 0;
  const auto d = static_cast<std::size_t>(config.dim);
  for (const auto& emotion : corpus.emotions) {
    write_truth(directory / truth_of(emotion), config, emotion.theta);
    for (std::size_t s = 0; s < corpus.speakers.size(); ++s) {
      const auto offset = speaker_offset(config, corpus, s);
      OutputFile out(directory / table_of(emotion, corpus.speakers[s]));
      out.write("utterance,frame," + joined_names(config.columns) + "\n");
      for (int u = 0; u < corpus.utterances; ++u) {
        const auto frames = static_cast<std::size_t>(corpus.frames);
        auto values = simulate_rows(config.model, config.dim, emotion.theta, frames, config.seed, stream++,
                                    corpus.persistence);
        std::string text;
        for (std::size_t f = 0; f < frames; ++f) {
          for (std::size_t j = 0; j < d; ++j) values[f * d + j] += offset[j];
          text += std::to_string(u) + "," + std::to_string(f) + ",";
          append_row(values.data() + f * d, config.dim, text);
        }
        out.write(text);
        rows += frames;
      }
      out.close();
    }
  }
  return rows;
}

bool is_expression_config(const std::string& file) {
  const YamlNode root = parse_yaml(read_config_text(file), {std::make_shared<const std::string>(file), 1});
  return root.kind == YamlNode::Kind::map && states_expression(root);
}

// Returns the names of the files that simulate() writes.
std::vector<fs::path> files_of(const SimulationConfig& config) {
  if (config.corpus.empty()) return {config.file, kTruth};
  std::vector<fs::path> files;
  for (const auto& emotion : config.corpus[0].emotions) {
    files.push_back(truth_of(emotion));
    for (const auto& speaker : config.corpus[0].speakers) files.push_back(table_of(emotion, speaker));
  }
  return files;
}

void simulate(const std::string& config_file, const fs::path& output, bool force, bool quiet) {
  const SimulationConfig config = load_simulation_config(config_file);
  prepare_directory(output, force);
  const std::vector<fs::path> inputs{config_file};
  for (const fs::path& file : files_of(config)) refuse_input_as_output(output / file, inputs);
  const std::size_t rows =
      config.corpus.empty() ? write_table(output, config) : write_corpus(output, config, config.corpus[0]);
  if (quiet) return;
  if (config.corpus.empty())
    fmt::print("{}: {} rows x {} columns, truth in truth.json\n", (output / config.file).string(), rows,
               config.dim);
  else
    fmt::print("{}: {} emotions x {} speakers, {} frames x {} columns, truths in truth_EMOTION.json\n",
               output.string(), config.corpus[0].emotions.size(), config.corpus[0].speakers.size(), rows,
               config.dim);
}

}  // namespace

void add_simulate(CLI::App& app, int&) {
  auto* command = app.add_subcommand(
      "simulate", "Simulate data from a known model; the true parameters are written beside them");
  struct Options {
    std::string config, output, parameters;
    std::size_t rows = 0;
    bool force = false, quiet = false;
  };
  auto options = std::make_shared<Options>();
  command
      ->add_option("CONFIG", options->config,
                   "YAML: model, parameters, rows, columns, seed, file or corpus; or a configuration of "
                   "emomc run with "
                   "likelihood.simulate")
      ->required();
  command->add_option("-o,--output", options->output, "Directory to write")->required();
  command->add_option(
      "--parameters", options->parameters,
      "With a likelihood of your own: JSON of its parameters (default: a draw from the prior)");
  command
      ->add_option("--rows", options->rows,
                   "With a likelihood of your own: number of rows if no column of a file is needed")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--force", options->force, "Write into a directory that is not empty");
  command->add_flag("-q,--quiet", options->quiet, "Errors only");
  command->footer("Example: emomc simulate configs/two_gaussian_events.yaml -o runs/two_gaussian_data");
  command->callback([options] {
    if (is_expression_config(options->config)) {
      if (fs::exists(options->output) && !fs::is_empty(options->output) && !options->force)
        throw InputError(options->output + ": not empty; choose another directory or use --force");
      return simulate_expression(load_run_config(options->config), options->config, options->output,
                                 options->parameters, options->rows, options->quiet);
    }
    if (!options->parameters.empty() || options->rows > 0)
      throw InputError(std::string(options->rows > 0 ? "--rows" : "--parameters") +
                       ": for likelihoods of your own (likelihood.log_density); " + options->config +
                       " has the key " + (options->rows > 0 ? "rows" : "parameters") + " for this");
    simulate(options->config, options->output, options->force, options->quiet);
  });
}

}  // namespace emomc::app
