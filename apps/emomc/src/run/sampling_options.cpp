#include "sampling_options.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace emomc::app {

std::string yaml_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=+,:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string SamplingOptions::command_to_go_on(const std::string& command, const std::string& more) const {
  std::string text = "emomc " + command + " " + shell_word(config);
  if (!output.empty()) text += " --output " + shell_word(output);
  for (const auto& assignment : set) text += " --set " + shell_word(assignment);
  if (!backend.empty()) text += " --backend " + shell_word(backend);
  if (!seed.empty()) text += " --seed " + shell_word(seed);
  if (!threads.empty()) text += " --threads " + shell_word(threads);
  if (!devices.empty()) text += " --devices " + shell_word(devices);
  return text + more + " --resume";
}

std::vector<std::string> KeyOptions::overrides() const {
  std::vector<std::string> all = set;
  if (!output.empty()) all.push_back("output.directory=" + yaml_quoted(output));
  if (!backend.empty()) all.push_back("backend=" + backend);
  if (!seed.empty()) all.push_back("sampler.seed=" + seed);
  if (!threads.empty()) all.push_back("threads=" + threads);
  if (!devices.empty()) all.push_back("devices=" + (devices == "all" ? devices : "[" + devices + "]"));
  return all;
}

Verbosity SamplingOptions::verbosity() const {
  return quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::normal;
}

ExistingRun SamplingOptions::policy() const {
  return resume ? ExistingRun::resume : force ? ExistingRun::overwrite : ExistingRun::refuse;
}

CLI::Option* add_key_options(CLI::App& command, KeyOptions& options) {
  command.add_option("--set", options.set, "Override keys: --set sampler.draws=500")->allow_extra_args(false);
  command.add_option("--backend", options.backend, "auto, reference, cpu or cuda");
  command.add_option("--threads", options.threads, "Threads of the CPU; 0: all (threads)");
  return command.add_option("--seed", options.seed, "Seed (sampler.seed)");
}

CLI::Option* add_sampling_options(CLI::App& command, SamplingOptions& options) {
  command
      .add_option("CONFIG", options.config,
                  "YAML configuration (every key: configs/all_keys.yaml of run, all_evaluation_keys.yaml of "
                  "evaluate and train)")
      ->required();
  auto* seed = add_key_options(command, options);
  auto* resume = command.add_flag("--resume", options.resume,
                                  "Go on from the checkpoint; from the beginning without one");
  command
      .add_flag("--force", options.force, "Replace what an earlier run of the command left in the directory")
      ->excludes(resume);
  command.add_flag("-q,--quiet", options.quiet, "Errors only");
  command.add_flag("-v,--verbose", options.verbose, "More detail");
  return seed;
}

}  // namespace emomc::app
