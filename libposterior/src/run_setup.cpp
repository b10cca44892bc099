#include "emomc/posterior/run_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/core/runtime_kernel.hpp"
#include "emomc/likelihood/device_table.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/posterior/proposal_choice.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/prior_units.hpp"

namespace emomc {
std::string backend_name(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::reference:
      return "reference";
    case Backend::cpu:
      return "cpu";
    case Backend::cuda:
      return "cuda";
  }
  return "";
}

Backend backend_of_name(const std::string& name) {
  for (Backend backend : {Backend::reference, Backend::cpu, Backend::cuda})
    if (backend_name(backend) == name) return backend;
  return Backend::automatic;
}

ProposalShape shape_of_name(const std::string& name) {
  return name == "isotropic"  ? ProposalShape::isotropic
         : name == "diagonal" ? ProposalShape::diagonal
                              : ProposalShape::dense;
}

std::string name_of_shape(ProposalShape shape) {
  return shape == ProposalShape::isotropic  ? "isotropic"
         : shape == ProposalShape::diagonal ? "diagonal"
                                            : "dense";
}

std::vector<std::string> describe_devices(const SampledChains& chains) {
  std::vector<std::string> lines;
  if (const int devices = num_row_devices(chains); devices > 1)
    lines.push_back("rows are divided among " + std::to_string(devices) + " GPUs");
  if (num_chain_devices(chains) > 1)
    lines.push_back("chains are spread over " + counted(num_chain_devices(chains), "GPU") +
                    (chains.connections ? ", which gather their log likelihoods at every step" : ""));
  if (!chains.why_one_device.empty())
    lines.push_back((chains.further.empty() ? "one GPU is used: " : "fewer GPUs are used than there are: ") +
                    chains.why_one_device);
  return lines;
}

std::vector<std::string> describe(const RunSetup& setup) {
  std::vector<std::string> lines = describe(setup.loaded);
  if (setup.expression) lines.push_back("columns: " + joined(setup.expression->column_kinds()));
  std::vector<std::string> standardized;
  for (std::size_t j = 0; j < setup.standardized.sd.size(); ++j)
    if (setup.standardized.mean[j] != 0 || setup.standardized.sd[j] != 1)
      standardized.push_back(fmt::format("{} (mean {:.6g}, sd {:.6g})", setup.loaded.table.columns[j],
                                         setup.standardized.mean[j], setup.standardized.sd[j]));
  if (!standardized.empty()) lines.push_back("standardised: " + joined(standardized));
  for (std::string& line : describe_devices(setup)) lines.push_back(std::move(line));
  if (!setup.proposal_why.empty())
    lines.push_back("proposal: auto, which is " + setup.proposal.kind + ": " + setup.proposal_why);
  return lines;
}

std::vector<std::string> warnings(const RunSetup& setup) {
  const LoadedData& loaded = setup.loaded;
  std::vector<std::string> lines;
  if (loaded.table.num_duplicate_rows > 0 && !setup.expression)
    lines.push_back(
        "data: " + std::to_string(loaded.table.num_duplicate_rows) +
        " rows repeat earlier ones; a component can collapse on them, prior.scale_floor bounds it");
  if (!loaded.constant_columns.empty())
    lines.push_back("data: constant columns (but for rounding), only centred: " +
                    joined(loaded.constant_columns));
  if (!setup.why_no_gpu.empty()) lines.push_back("the CPU samples, not a GPU: " + setup.why_no_gpu);
  if (setup.expression) {
    if (const auto unused = setup.expression->unused_parameters(); !unused.empty())
      lines.push_back("likelihood.log_density: " + joined(unused) + (unused.size() == 1 ? " does" : " do") +
                      " not occur in it, so that the posterior is the prior there");
    return lines;
  }
  // Ten rows for each parameter: a rule of thumb from regression.
  constexpr std::size_t kFewRows = 10;
  const auto parameters = static_cast<std::size_t>(setup.target->dim_unconstrained());
  if (model_info(setup.model).fixed_components == 0 && setup.model.components > 1 &&
      loaded.table.num_rows < kFewRows * parameters)
    lines.push_back("likelihood.components: " + std::to_string(setup.model.components) + " components have " +
                    counted(parameters, "free parameter") + ", many for " +
                    counted(loaded.table.num_rows, "row") +
                    "; chains mix slowly where components are not needed, and emomc compare ranks runs with "
                    "fewer of them");
  return lines;
}

ComponentCaches caches_that_fit(const LikelihoodEngine& engine, const Target& target,
                                const ProposalSpec& proposal, const std::vector<ChainPlan>& plans,
                                const SamplerMemory& sampler) {
  if (!engine.capabilities().components || !uses_component_caches(proposal, target))
    return ComponentCaches::off;
  const MemoryPlan with = engine.plan(plans, ComponentCaches::on);
  const auto needed = static_cast<double>(with.work_bytes + with.cache_bytes + sampler.total());
  return needed < 0.8 * static_cast<double>(engine.device().free_bytes()) ? ComponentCaches::on
                                                                          : ComponentCaches::off;
}

namespace {

// The number of chains, including rungs.
int num_chains_of(const RunConfig& config) {
  constexpr int kMostChains = 1 << 30;
  const auto all = static_cast<std::int64_t>(config.sampler.chains) * config.sampler.tempering.rungs;
  return static_cast<int>(std::min<std::int64_t>(all, kMostChains));
}

// Throws InputError if a column is given for the order and it is not the first column.
void check_order(const RunConfig& config, const std::vector<std::string>& columns) {
  const std::string& name = config.order_column;
  if (config.prior.order.empty() || name.empty() || name == columns[0]) return;
  const std::string by_column = config.prior.order + ".";
  const std::string where = "prior.order: " + by_column + name + ": ";
  if (std::find(columns.begin(), columns.end(), name) == columns.end())
    throw InputError(where + "there is no such column; " + did_you_mean(nearest_name(name, columns)) +
                     "allowed: " + by_column + columns[0] + ", the first of " + joined(columns));
  std::string others;
  for (const auto& column : columns)
    if (column != name) others += ", " + column;
  throw InputError(where + "components are ordered by the first column, which is " + columns[0] +
                   "; data.columns: [" + name + others + "] makes " + name + " the first");
}

// Refuses a number of chains whose minimum memory exceeds the free memory, before any of it is allocated: the
// system may grant such an allocation and kill the process later.
void refuse_too_many_chains(const RunConfig& config, const RunSetup& setup) {
  const double numbers = setup.target->dim() + setup.target->dim_unconstrained();
  const double chains = static_cast<double>(config.sampler.chains) * config.sampler.tempering.rungs;
  const double bytes = 4 * sizeof(double) * numbers * chains;  // current, proposed, and two records
  const auto free = static_cast<double>(make_host_device()->free_bytes());
  if (bytes <= free) return;
  throw InputError("sampler.chains: " + std::to_string(config.sampler.chains) + " chains of " +
                   std::to_string(setup.target->dim()) + " parameters take " + bytes_text(bytes) +
                   " at the least, and " + bytes_text(free) +
                   " of memory are free; fewer chains or components");
}

}  // namespace

std::unique_ptr<Target> make_target(const ModelSpec& model, const PriorSet& prior, const LoadedData& loaded,
                                    bool standardize) {
  const ParameterLayout layout = model_layout(model, loaded.data.dim);
  return std::make_unique<Target>(layout, standardize ? prior : in_sampler_units(prior, layout, loaded.units),
                                  loaded.column_sd);
}

namespace {

/// Sets up the data, likelihood, engine and target of a user-defined likelihood.
void set_up_expression(const RunConfig& config, const Table* table, Backend backend, Communicator* ranks,
                       RunSetup& setup) {
  LoadedExpression own =
      table ? prepare_expression(*table, config.likelihood.expression, backend, num_chains_of(config))
            : load_expression(config.data, config.likelihood.expression, backend, num_chains_of(config));
  setup.loaded = std::move(own.loaded);
  setup.expression = std::move(own.expression);
  setup.backend = own.backend;
  setup.compiler = std::move(own.compiler);
  setup.standardized = std::move(own.standardized);
  setup.generated = std::move(own.generated);
  setup.code = std::move(own.code);
  setup.why_no_gpu = std::move(own.why_no_gpu);
  setup.target =
      std::make_unique<Target>(setup.expression->layout(), config.prior, std::span<const double>());
  setup.row_model = std::move(own.model);
  make_engines(
      config, setup.loaded.data, ranks,
      [&](Device& device, Communicator* of) {
        return make_engine(setup.backend, setup.row_model, config.likelihood.precision, setup.loaded.data,
                           device, config.threads, of);
      },
      setup);
}

void set_up_model(const RunConfig& config, const Table* table, Backend backend, Communicator* ranks,
                  RunSetup& setup) {
  setup.model = model_of(config.likelihood);
  setup.loaded = table ? prepare_data(*table, config.data, setup.model) : load_data(config.data, setup.model);
  check_order(config, setup.loaded.table.columns);
  const DataSet& data = setup.loaded.data;
  setup.target = make_target(setup.model, config.prior, setup.loaded, config.data.standardize);
  if (!config.data.standardize)
    setup.log_prior_offset =
        log_prior_offset(config.prior, model_layout(setup.model, data.dim), setup.loaded.units);
  setup.backend =
      resolve_backend(backend_for(backend, setup.loaded.table), setup.model, data, num_chains_of(config));
  make_engines(
      config, data, ranks,
      [&](Device& device, Communicator* of) {
        return make_engine(setup.backend, setup.model, config.likelihood.precision, data, device,
                           config.threads, of);
      },
      setup);
}

void set_up_likelihood(const RunConfig& config, const Table* table, Backend backend, Communicator* ranks,
                       RunSetup& setup) {
  if (config.likelihood.is_expression())
    set_up_expression(config, table, backend, ranks, setup);
  else
    set_up_model(config, table, backend, ranks, setup);
}

}  // namespace

std::string why_no_gradient(const RunSetup& setup) {
  if (setup.engine->capabilities().gradient) return "";
  std::string why = setup.row_model ? setup.row_model->why_no_gradient() : "";
  if (!why.empty()) return why;
  if (setup.backend != Backend::cuda) return "model " + setup.model.name + " has none";
  const std::string problem = runtime_compiler_problem();
  return (problem.empty() ? "it takes more shared memory than a block of the GPU has" : problem) +
         "; backend: cpu has gradients";
}

RunSetup set_up(const RunConfig& config, const Table* table, const std::optional<KeptProposal>& kept,
                Communicator* ranks) {
  RunSetup setup;
  Communicator* const given_ranks = ranks;
  if (config.shard == Shard::chains) ranks = nullptr;
  set_up_likelihood(config, table, config.backend, ranks, setup);
  const std::string& kind = kept ? kept->kind : config.sampler.proposal.kind;
  const bool needs_gradient = kind != kAutomatic && proposal_use(kind).gradient;
  if (config.backend == Backend::automatic && needs_gradient && setup.backend == Backend::cuda &&
      !setup.engine->capabilities().gradient && !setup.loaded.data.on_device) {
    setup = {};
    set_up_likelihood(config, table, Backend::cpu, ranks, setup);
  }
  refuse_too_many_chains(config, setup);
  ProposalChoice choice = choose_proposal(config, setup, kept);
  setup.proposal = choice.proposal;
  setup.proposal_why = std::move(choice.why);
  for (int chain = 0; chain < config.sampler.chains; ++chain)
    setup.plans.push_back({static_cast<std::uint64_t>(chain), {0}, 1.0, 0});
  const Tempering& tempering = config.sampler.tempering;
  check_tempering(tempering);
  const std::vector<ChainPlan> all = tempered_plans(setup.plans, tempering);
  proposal_block_names(setup.proposal, *setup.target);  // throws if no parameter is free
  check_proposal(setup.proposal, *setup.target, all);
  if (proposal_use(setup.proposal.kind).gradient && !why_no_gradient(setup).empty())
    throw InputError("sampler.proposal.kind: " + setup.proposal.kind +
                     " needs a gradient, and there is none: " + why_no_gradient(setup) +
                     "; allowed here: " + joined(proposal_names(*setup.engine)));
  setup.memory = sampler_memory(setup.device->kind(), {setup.target.get(), 1}, setup.proposal, all);
  setup.options.tempering = tempering;
  setup.options.warmup = config.sampler.warmup;
  setup.options.draws = config.sampler.draws;
  setup.options.thin = config.sampler.thin;
  setup.options.seed = config.sampler.seed;
  setup.options.max_nan_share = config.sampler.max_nan_share;
  if (config.sampler.chooses_draws || config.sampler.until.ess > 0)
    setup.options.decisions = looks_below(config.sampler.draws);
  setup.options.keep_warmup = config.output.keep_warmup;
  setup.options.state_every = config.checkpoint.steps;
  setup.options.caches = caches_that_fit(*setup.engine, *setup.target, setup.proposal, all, setup.memory);
  // The caller uses the memory of the GPU too. The caches therefore stay small compared with the data.
  if (const auto& on_device = setup.loaded.data.on_device)
    if (setup.engine->plan(all, ComponentCaches::on).cache_bytes > on_device->table->bytes() / 4)
      setup.options.caches = ComponentCaches::off;
  setup.options.ranks = given_ranks;
  if (!given_ranks) {
    add_further_devices(config, setup.loaded.data, setup);
    add_threads(config, setup.loaded.data, setup);
  }
  return setup;
}

}  // namespace emomc
