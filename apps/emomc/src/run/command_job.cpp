#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/files.hpp"
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
  if (options.output.empty()) {
    std::cout << script;
    return;
  }
  if (!options.force && std::filesystem::exists(options.output))
    throw InputError(options.output + ": the file exists; --force replaces it");
  write_file_atomically(options.output, script);
  std::cerr << "submit it with: sbatch " << options.output << '\n';
}

}  // namespace

void add_job(CLI::App& app, int&) {
  auto* command = app.add_subcommand("job", "Write a script that runs a configuration on a cluster");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "YAML configuration of emomc run")->required();
  command->add_option("--scheduler", options->scheduler, "slurm")->check(CLI::IsMember({"slurm"}));
  command->add_option("-o,--output", options->output, "File of the script; without it, standard output");
  command->add_option("--nodes", options->nodes, "Machines")->check(CLI::Range(1, 100'000));
  command->add_option("--ranks-per-node", options->ranks_per_node, "Processes per machine")
      ->check(CLI::Range(1, 4096));
  command->add_option("--gpus-per-rank", options->gpus_per_rank, "0 or 1")->check(CLI::Range(0, 1));
  command->add_option("--cpus-per-rank", options->cpus_per_rank, "Processors per process")
      ->check(CLI::Range(1, 4096));
  command->add_option("--time", options->time, "Limit of the scheduler, as 24:00:00");
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
    if (!is_plain(options->time) || options->time.empty())
      throw InputError("--time: " + options->time + " is no time; allowed: as 24:00:00 or 2-00:00:00");
    if (!is_plain(options->partition))
      throw InputError("--partition: " + options->partition +
                       " has characters other than letters, digits, - and _");
    write_job(*options);
  });
}

}  // namespace emomc::app
