#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/output_file.hpp"
#include "kept_inputs.hpp"
#include "run_config.hpp"
#include "sampling_options.hpp"

namespace emomc::app {
namespace {

struct Options {
  std::string config, scheduler = "slurm", output, time = "24:00:00", partition, backend;
  std::vector<std::string> set;
  int nodes = 1, ranks_per_node = 1, gpus_per_rank = 0, cpus_per_rank = 1, warning = 300;
  bool force = false;
};

// Returns the number that `text` consists of; nothing if there is anything but up to nine digits.
std::optional<long> number_of(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > kMostDigits || !std::all_of(text.begin(), text.end(), is_digit))
    return {};
  long number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns the seconds of a time of Slurm: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
// days-hours:minutes or days-hours:minutes:seconds (sbatch(1), --time). Returns nothing for any other text.
std::optional<long> seconds_of_slurm(std::string_view text) {
  constexpr long kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  constexpr std::size_t kMostParts = 3;
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  const std::optional<long> days = has_days ? number_of(text.substr(0, dash)) : 0;
  if (!days) return {};
  if (has_days) text.remove_prefix(dash + 1);
  std::vector<long> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::optional<long> part = number_of(text.substr(begin, end - begin));
    if (!part || parts.size() == kMostParts) return {};
    parts.push_back(*part);
    begin = end + 1;
  }
  // Without days and with fewer than three parts, the first part is minutes.
  if (!has_days && parts.size() < kMostParts) parts.insert(parts.begin(), 0);
  parts.resize(kMostParts);
  return *days * kDay + parts[0] * kHour + parts[1] * kMinute + parts[2];
}

void refuse_other_times(const Options& options) {
  const std::optional<long> seconds = seconds_of_slurm(options.time);
  if (!seconds)
    throw InputError("--time: " + options.time +
                     " is no time of Slurm; allowed: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, "
                     "DAYS-HOURS, DAYS-HOURS:MINUTES or DAYS-HOURS:MINUTES:SECONDS, as 24:00:00 or 2-00");
  // Slurm takes 0 for no limit.
  if (*seconds > 0 && *seconds <= options.warning)
    throw InputError(fmt::format(
        "--time: {} is {} s, and the run is stopped --warning = {} s before its end; allowed: a longer time, "
        "or a smaller --warning",
        options.time, *seconds, options.warning));
}

std::string name_of_job(const std::string& directory) {
  std::string name = "emomc";
  const std::string last = std::filesystem::path(directory).filename().string();
  if (!last.empty()) name += '-';
  for (const char c : last)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
  return name;
}

// The run writes a checkpoint when it receives SIGTERM, and its exit code 143 makes the script queue the job
// again.
std::string slurm_script(const Options& options, const RunConfig& config) {
  std::string run = "emomc run " + shell_word(std::filesystem::absolute(options.config).string());
  for (const auto& assignment : options.set) run += " --set " + shell_word(assignment);
  if (!options.backend.empty()) run += " --backend " + options.backend;
  std::string script = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --cpus-per-task={}\n",
      name_of_job(config.output.directory.string()), options.nodes, options.ranks_per_node,
      options.cpus_per_rank);
  if (options.gpus_per_rank > 0) script += fmt::format("#SBATCH --gpus-per-task={}\n", options.gpus_per_rank);
  if (!options.partition.empty()) script += fmt::format("#SBATCH --partition={}\n", options.partition);
  script += fmt::format(
      "#SBATCH --time={}\n"
      "#SBATCH --signal=TERM@{}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "\n"
      "# {} s before the time limit, and if the job is preempted, the run gets SIGTERM,\n"
      "# writes a checkpoint and ends with 143. Submit this script again at any time: the run goes on.\n"
      "cd {} || exit 3\n"
      "srun --mpi=pmix --kill-on-bad-exit=1 \\\n"
      "  {} --resume\n"
      "status=$?\n"
      "if ((status == 143)) && [[ -n ${{SLURM_JOB_ID:-}} ]]; then\n"
      "  scontrol requeue \"$SLURM_JOB_ID\"\n"
      "fi\n"
      "exit $status\n",
      options.time, options.warning, options.warning, shell_word(std::filesystem::current_path().string()),
      run);
  return script;
}

void write_job(const Options& options) {
  const bool to_screen = options.output.empty() || options.output == "-";
  if (!to_screen) {
    require_possible_output(options.output);
    refuse_input_as_output(options.output, std::vector<std::filesystem::path>{options.config});
    if (!options.force && std::filesystem::is_regular_file(options.output))
      throw InputError(options.output + ": the file exists; --force replaces it");
  }
  KeyOptions keys;
  keys.set = options.set;
  keys.backend = options.backend;
  const RunConfig config = load_run_config(options.config, keys.overrides());
  const int ranks = options.nodes * options.ranks_per_node;
  const int chains = config.sampler.chains * config.sampler.tempering.rungs;
  if (ranks > chains)
    throw InputError(
        fmt::format("{} ranks are more than the {} chains of {}; allowed: at most {}, --nodes times "
                    "--ranks-per-node",
                    ranks, chains, options.config, chains));
  const std::string script = slurm_script(options, config);
  if (to_screen) {
    std::cout << script;
    return;
  }
  write_output(options.output, script);
  std::cerr << "submit it with: sbatch " << options.output << '\n';
}

}  // namespace

void add_job(CLI::App& app, int&) {
  auto* command = app.add_subcommand("job", "Write a script that runs a configuration on a cluster");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "YAML configuration of emomc run")->required();
  command->add_option("--scheduler", options->scheduler, "slurm")->check(CLI::IsMember({"slurm"}));
  command->add_option("-o,--output", options->output, "File of the script (default: standard output)");
  command->add_option("--nodes", options->nodes, "Machines")->check(CLI::Range(1, 100'000));
  command->add_option("--ranks-per-node", options->ranks_per_node, "Processes per machine")
      ->check(CLI::Range(1, 4096));
  command->add_option("--gpus-per-rank", options->gpus_per_rank, "0 or 1")->check(CLI::Range(0, 1));
  command->add_option("--cpus-per-rank", options->cpus_per_rank, "Processors per process")
      ->check(CLI::Range(1, 4096));
  command->add_option("--time", options->time, "Limit of the scheduler, as 24:00:00 or 2-00 (sbatch --time)");
  command->add_option("--partition", options->partition, "Partition of the cluster");
  command->add_option("--warning", options->warning, "Seconds before the limit at which the run is stopped")
      ->check(CLI::Range(10, 65'535));
  command->add_option("--set", options->set, "Override keys: --set sampler.draws=500")
      ->allow_extra_args(false);
  command->add_option("--backend", options->backend, "auto, reference, cpu or cuda");
  command->add_flag("--force", options->force, "Replace the file of an earlier script");
  command->footer(
      "Example: emomc job mine.yaml --nodes 2 --ranks-per-node 4 --gpus-per-rank 1 --output mine.sh\n"
      "The script can be submitted again after any end: the run goes on from its checkpoint\n"
      "(docs/clusters.md).");
  command->callback([options] {
    const auto is_plain = [](const std::string& text) {
      return std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':' || c == '_' ||
               c == ',';
      });
    };
    refuse_other_times(*options);
    if (!is_plain(options->partition))
      throw InputError("--partition: " + options->partition +
                       " has characters other than letters, digits, - and _");
    write_job(*options);
  });
}

}  // namespace emomc::app
