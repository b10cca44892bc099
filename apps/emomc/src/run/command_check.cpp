#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "code_options.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/posterior/chain_starts.hpp"
#include "emomc/posterior/gradient_check.hpp"
#include "emomc/posterior/rank_shares.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/posterior/run_identity.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/prior_units.hpp"
#include "evaluation_check.hpp"
#include "precision_check.hpp"
#include "progress.hpp"
#include "run_config.hpp"
#include "sampling_options.hpp"

namespace emomc::app {
namespace {

struct Options : KeyOptions {
  std::string config;
  bool json = false;
  int ranks = 1;
};

struct BlockPrior {
  std::string name, sampled, data_units;
};

std::vector<BlockPrior> priors_of(const RunConfig& config, const RunSetup& setup) {
  PriorSet own = config.prior;
  std::vector<std::string> names, without_own;
  // Without data.standardize, priors are stated in the data's units already.
  const ColumnUnits units = config.data.standardize ? setup.loaded.units : ColumnUnits{};
  for (const auto& whole : setup.target->layout().blocks)
    for (const auto& block : prior_blocks(whole)) {
      names.push_back(block.name);
      const auto converted = in_data_units(own.blocks.at(block.name), block, units);
      if (converted)
        own.blocks[block.name] = *converted;
      else
        without_own.push_back(block.name);
    }
  std::vector<BlockPrior> priors;
  for (const auto& name : names) {
    const bool has_own = std::find(without_own.begin(), without_own.end(), name) == without_own.end();
    priors.push_back({name, to_yaml(config.prior, name), has_own ? to_yaml(own, name) : "not of any family"});
  }
  return priors;
}

std::string memory_text(const MemoryPlan& likelihood, const SamplerMemory& sampler) {
  const auto text = [](std::size_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  return fmt::format(
      "memory: {} ({} data, {} work, {} component caches; {} chains, {} draws not yet written{})",
      text(likelihood.total() + sampler.total()), text(likelihood.data_bytes), text(likelihood.work_bytes),
      text(likelihood.cache_bytes), text(sampler.state), text(sampler.draws),
      sampler.drawn_ahead > 0 ? ", " + text(sampler.drawn_ahead) + " moves drawn ahead" : "");
}

// Returns the number of rank r, or of its GPU if `gpus` is not empty.
std::size_t number_of(const std::vector<int>& gpus, std::size_t r) {
  return gpus.empty() ? r : static_cast<std::size_t>(gpus[r]);
}

// Returns lines about the shares of ranks, or of `gpus`. Ranks with equal shares follow each other.
std::string shares_text(const std::vector<RankShare>& shares, const std::vector<int>& gpus) {
  const std::string noun = gpus.empty() ? "rank" : "GPU";
  std::string text;
  for (std::size_t first = 0, end = 0; first < shares.size(); first = end) {
    while (end < shares.size() && shares[end].chains == shares[first].chains) ++end;
    std::string who = noun + (end - first == 1 ? " " : "s ") + std::to_string(number_of(gpus, first));
    if (gpus.empty() && end - first > 1) who += " to " + std::to_string(end - 1);
    for (std::size_t r = first + 1; !gpus.empty() && r < end; ++r) who += ", " + std::to_string(gpus[r]);
    text +=
        fmt::format("{}: {} and {} of memory{}\n", who, counted(shares[first].chains, "chain"),
                    bytes_text(static_cast<double>(shares[first].total())), end - first == 1 ? "" : " each");
  }
  return text;
}

void check(const Options& options) {
  const RunConfig config = load_run_config(options.config, options.overrides());
  RunSetup setup = set_up(config);
  const std::vector<double> starts = find_starts(config, setup);
  const PrecisionError precision = measure_mixed_precision(config, setup, starts, Verbosity::normal);
  // In mixed precision, finite differences are too coarse for a comparison.
  const bool is_exact =
      setup.backend == Backend::reference || config.likelihood.precision == Precision::float64;
  const GradientCheck gradient =
      is_exact ? check_gradient(*setup.target, *setup.engine,
                                {starts.data(), static_cast<std::size_t>(setup.target->dim())})
               : GradientCheck{};
  const Tempering& tempering = config.sampler.tempering;
  const MemoryPlan memory = setup.engine->plan(tempered_plans(setup.plans, tempering), setup.options.caches);
  const auto blocks = proposal_block_names(setup.proposal, *setup.target);
  const double steps = static_cast<double>(config.sampler.warmup) +
                       static_cast<double>(config.sampler.draws) * static_cast<double>(config.sampler.thin);
  const double evaluations =
      steps * config.sampler.chains * tempering.rungs * evaluations_per_step(setup.proposal, *setup.target);
  const double kept = static_cast<double>(config.sampler.draws) +
                      (config.output.keep_warmup ? static_cast<double>(config.sampler.warmup) /
                                                       static_cast<double>(config.sampler.thin)
                                                 : 0.0);
  // A draw consists of its step, two densities and the parameters. Rungs have no parameters.
  const double output = kept * config.sampler.chains * (setup.target->dim() + 3 * tempering.rungs) * 8;
  const auto priors = priors_of(config, setup);
  const bool of_processes = options.ranks > 1;
  const std::vector<RankShare> shares =
      of_processes ? shares_of_ranks(setup, options.ranks) : shares_of_devices(setup);
  const std::vector<int> gpus = of_processes || shares.empty() ? std::vector<int>{} : gpus_of(config);

  if (options.json) {
    nlohmann::ordered_json json{{"config", to_yaml(config)},
                                {"data",
                                 {{"rows", setup.loaded.data.num_rows},
                                  {"columns", setup.loaded.table.columns},
                                  {"skipped_columns", setup.loaded.table.skipped_columns},
                                  {"files", setup.loaded.table.files},
                                  {"duplicate_rows", setup.loaded.table.num_duplicate_rows},
                                  {"sha256", setup.loaded.fingerprint.sha256}}},
                                {"parameters", setup.target->dim()},
                                {"free_parameters", setup.target->dim_unconstrained()},
                                {"proposal",
                                 {{"kind", setup.proposal.kind},
                                  {"shape", name_of_shape(setup.proposal.shape)},
                                  {"why", setup.proposal_why}}},
                                {"proposal_blocks", blocks},
                                {"priors", nlohmann::ordered_json::array()},
                                {"backend", backend_name(setup.backend)},
                                {"memory_bytes",
                                 {{"data", memory.data_bytes},
                                  {"work", memory.work_bytes},
                                  {"component_caches", memory.cache_bytes},
                                  {"state", setup.memory.state},
                                  {"draws", setup.memory.draws},
                                  {"drawn_ahead", setup.memory.drawn_ahead},
                                  {"total", memory.total() + setup.memory.total()}}},
                                {"output_bytes", output},
                                {"evaluations", evaluations}};
    json["starts"] = to_json(setup.starts);
    for (std::size_t r = 0; r < shares.size(); ++r)
      json[of_processes ? "ranks" : "gpus"].push_back({{of_processes ? "rank" : "gpu", number_of(gpus, r)},
                                                       {"chains", shares[r].chains},
                                                       {"memory_bytes", shares[r].total()}});
    if (precision.is_measured) json["mixed_precision"] = to_json(precision);
    if (gradient.is_done) json["gradient"] = to_json(gradient);
    for (const auto& prior : priors)
      json["priors"].push_back(
          {{"block", prior.name}, {"sampled", prior.sampled}, {"data_units", prior.data_units}});
    std::cout << json.dump(1) << '\n';
    return;
  }
  std::cout << to_yaml(config) << '\n';
  for (const auto& line : describe(setup)) std::cout << line << '\n';
  for (const auto& line : warnings(setup)) std::cout << "warning: " << line << '\n';
  for (const auto& prior : priors) {
    std::cout << "prior of " << prior.name << ": " << prior.sampled;
    if (prior.sampled != prior.data_units)
      std::cout << " of standardised columns; in the data's own units " << prior.data_units;
    std::cout << '\n';
  }
  std::cout << fmt::format("parameters: {}, {} of them free, in {} proposal blocks\n", setup.target->dim(),
                           setup.target->dim_unconstrained(), blocks.size());
  const StartLines about_starts = describe(setup.starts);
  for (const auto& line : about_starts.said) std::cout << line << '\n';
  for (const auto& line : about_starts.warned) std::cout << "warning: " << line << '\n';
  const StartLines about_precision = describe(precision);
  for (const auto& line : about_precision.said) std::cout << line << '\n';
  for (const auto& line : about_precision.warned) std::cout << "warning: " << line << '\n';
  if (const std::string text = describe(gradient); !text.empty())
    std::cout << (gradient.agrees() ? "" : "warning: ") << text << '\n';
  std::cout << "backend: " << engine_text(config, setup) << '\n';
  std::cout << memory_text(memory, setup.memory) << '\n';
  std::cout << shares_text(shares, gpus);
  std::cout << fmt::format("output: {}{} in {}\n", config.sampler.chooses_draws ? "at most " : "",
                           bytes_text(output), config.output.directory.string());
  if (proposal_use(setup.proposal.kind).gradient) {
    std::cout << fmt::format(
        "likelihood evaluations to come, with gradients: one for each leapfrog of {}{:.3g} steps ({:.0f} x "
        "{} "
        "chains)\n",
        config.sampler.chooses_draws ? "at most " : "", evaluations, steps, config.sampler.chains);
    return;
  }
  std::cout << fmt::format(
      "likelihood evaluations to come: {}{:.3g} ({:.0f} steps x {} chains x {} blocks)\n",
      config.sampler.chooses_draws ? "at most " : "", evaluations, steps, config.sampler.chains,
      evaluations_per_step(setup.proposal, *setup.target));
}

}  // namespace

void add_check(CLI::App& app, int&) {
  auto* command = app.add_subcommand("check", "Validate a configuration and print what a run would need");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "YAML configuration")->required();
  command->add_option("-o,--output", options->output, "Directory of the run (output.directory)");
  add_key_options(*command, *options);
  command->add_flag("--json", options->json, "Print JSON");
  command
      ->add_option("--ranks", options->ranks, "Print also what each of this many ranks of mpirun would need")
      ->check(CLI::Range(1, 1'000'000));
  command->footer("Example: emomc check configs/sad.yaml --set likelihood.components=16");
  add_code_options(*command);
  command->callback([options] {
    if (is_evaluation_config(options->config, options->overrides()))
      check_evaluation(options->config, options->overrides(), options->ranks, options->json);
    else
      check(*options);
  });
}

}  // namespace emomc::app
