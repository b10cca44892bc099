#include "run_setup.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "progress.hpp"

namespace emomc::app {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Labels of the components as in `reference`, where the prior does not tell them apart.
void align(const Target& target, const std::vector<double>& reference, std::vector<double>& theta) {
  if (target.ordered_block()) return;
  const auto aligned =
      permute_components(target.layout(), order_like(target.layout(), reference, theta), theta);
  const double before = target.log_prior(theta), after = target.log_prior(aligned);
  if (std::abs(after - before) <= 1e-9 * (1 + std::abs(before))) theta = aligned;
}

// Moves by other chains' state stay in the space that the starts span, and chains may share a start: each is
// moved by about a posterior sd in every direction.
void spread(const RunSetup& setup, std::uint32_t chain, std::uint64_t seed, std::vector<double>& theta) {
  const device::RandomSource random{seed, ~std::uint64_t{0}, chain};
  const double sd = 1 / std::sqrt(1.0 + static_cast<double>(setup.loaded.data.num_rows) /
                                            std::max(1, setup.model.components));
  std::vector<double> u(static_cast<std::size_t>(setup.target->dim_unconstrained()));
  setup.target->unconstrain(theta, u);
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] += sd * random.normal(device::Purpose::start, static_cast<device::u32>(i));
  setup.target->constrain(u, theta);
}

double log_density(RunSetup& setup, const std::vector<double>& theta) {
  std::vector<double> sums(setup.engine->num_segments());
  setup.engine->sums_by_segment(theta.data(), 1, sums.data());
  double total = setup.target->log_prior(theta);
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw MachineError("SHA-256 is not available in this OpenSSL");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string hash_table(const Table& table) {
  std::string header;
  for (const auto& column : table.columns) header += column + "\n";
  const std::string_view values(reinterpret_cast<const char*>(table.values.data()),
                                table.values.size() * sizeof(double));
  return sha256_hex(header + sha256_hex(values));
}

DataPart data_part(const std::string& name, const std::vector<double>& values, std::size_t dim,
                   std::size_t first_row, std::size_t num_rows) {
  constexpr std::size_t kDigits = 16;  // it only names what differs
  const std::string_view bytes(reinterpret_cast<const char*>(values.data() + first_row * dim),
                               num_rows * dim * sizeof(double));
  return {name, num_rows, sha256_hex(bytes).substr(0, kDigits)};
}

namespace {

DataFingerprint fingerprint_of(const Table& table) {
  DataFingerprint fingerprint{hash_table(table), table.columns, {}};
  for (std::size_t f = 0; f < table.files.size(); ++f) {
    const std::size_t first = table.file_first_row[f],
                      end = f + 1 < table.files.size() ? table.file_first_row[f + 1] : table.num_rows;
    fingerprint.parts.push_back(
        data_part(table.files[f], table.values, table.columns.size(), first, end - first));
  }
  return fingerprint;
}

}  // namespace

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

LoadedData load_data(const DataConfig& config, const ModelSpec& model) {
  LoadedData loaded;
  loaded.table = read_table({config.files, config.columns});
  const std::size_t dim = loaded.table.columns.size();
  loaded.fingerprint = fingerprint_of(loaded.table);
  for (std::size_t j : constant_columns(loaded.table.values, dim))
    loaded.constant_columns.push_back(loaded.table.columns[j]);
  const ColumnUnits units =
      column_units_for(model_layout(model, static_cast<int>(dim)), loaded.table.values, dim);
  if (config.standardize) {
    loaded.units = units;
    standardize(units, loaded.table.values);
    loaded.column_sd.assign(dim, 1.0);
  } else {
    loaded.column_sd = units.sd;
  }
  loaded.data = DataSet::single_segment(static_cast<int>(dim), std::move(loaded.table.values));
  loaded.table.values.clear();
  return loaded;
}

std::vector<std::string> describe(const LoadedData& loaded) {
  const Table& t = loaded.table;
  std::vector<std::string> lines;
  lines.push_back("data: " + std::to_string(t.num_rows) + " rows x " + std::to_string(t.columns.size()) +
                  " columns (" + joined(t.columns) + ") from " + std::to_string(t.files.size()) +
                  (t.files.size() == 1 ? " file" : " files"));
  if (!t.skipped_columns.empty()) lines.push_back("data: skipped columns: " + joined(t.skipped_columns));
  return lines;
}

std::vector<std::string> warnings(const LoadedData& loaded) {
  std::vector<std::string> lines;
  if (loaded.table.num_duplicate_rows > 0)
    lines.push_back(
        "data: " + std::to_string(loaded.table.num_duplicate_rows) +
        " rows repeat earlier ones; a component can collapse on them, prior.scale_floor bounds it");
  if (!loaded.constant_columns.empty())
    lines.push_back("data: constant columns, only centred: " + joined(loaded.constant_columns));
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

// What all chains take at the least, before any of it is allocated: an allocation that the system only
// promises would end in a killed process.
void refuse_too_many_chains(const RunConfig& config, const RunSetup& setup) {
  const double numbers = setup.target->dim() + setup.target->dim_unconstrained();
  const double bytes =
      4 * sizeof(double) * numbers * config.sampler.chains;  // current, proposed, two records
  const auto free = static_cast<double>(make_host_device()->free_bytes());
  if (bytes <= free) return;
  throw InputError("sampler.chains: " + std::to_string(config.sampler.chains) + " chains of " +
                   std::to_string(setup.target->dim()) + " parameters take " + bytes_text(bytes) +
                   " at the least, and " + bytes_text(free) +
                   " of memory are free; fewer chains or components");
}

}  // namespace

RunSetup set_up(const RunConfig& config) {
  RunSetup setup;
  setup.model = {config.likelihood.model, config.likelihood.components, config.likelihood.covariance};
  setup.loaded = load_data(config.data, setup.model);
  const DataSet& data = setup.loaded.data;
  ParameterLayout layout = model_layout(setup.model, data.dim);
  setup.target = std::make_unique<Target>(std::move(layout), config.prior, setup.loaded.column_sd);
  setup.backend = resolve_backend(config.backend, setup.model, data, config.sampler.chains);
  setup.device = make_device(setup.backend);
  setup.engine = make_engine(setup.backend, setup.model, config.likelihood.precision, data, *setup.device,
                             config.threads);

  refuse_too_many_chains(config, setup);
  setup.proposal = {config.sampler.proposal.kind, shape_of_name(config.sampler.proposal.shape),
                    config.sampler.proposal.target_acceptance};
  for (int chain = 0; chain < config.sampler.chains; ++chain)
    setup.plans.push_back({static_cast<std::uint64_t>(chain), {0}, 1.0, 0});
  proposal_block_names(setup.proposal, *setup.target);  // refuses where nothing is free
  check_proposal(setup.proposal, *setup.target, setup.plans);
  setup.memory = sampler_memory(setup.device->kind(), {setup.target.get(), 1}, setup.proposal, setup.plans);
  setup.options.warmup = config.sampler.warmup;
  setup.options.draws = config.sampler.draws;
  setup.options.thin = config.sampler.thin;
  setup.options.seed = config.sampler.seed;
  setup.options.max_nan_share = config.sampler.max_nan_share;
  if (config.sampler.until.ess > 0)
    for (std::int64_t draws = kFirstDecision; draws < config.sampler.draws; draws += draws / 10)
      setup.options.decisions.push_back(draws);
  setup.options.keep_warmup = config.output.keep_warmup;
  setup.options.state_every = config.checkpoint.steps;
  setup.options.caches =
      caches_that_fit(*setup.engine, *setup.target, setup.proposal, setup.plans, setup.memory);
  return setup;
}

std::vector<double> find_starts(const RunConfig& config, RunSetup& setup) {
  const std::string& init = config.sampler.init;
  const bool from_file = init != "prior" && init != "kmeans" && init != "em";
  std::vector<double> given;
  if (from_file) {
    given = read_parameter_file(init, setup.target->layout());
    to_sampler_units(setup.target->layout(), setup.loaded.units, given);
    std::vector<double> u(static_cast<std::size_t>(setup.target->dim_unconstrained()));
    try {
      setup.target->unconstrain(given, u);
    } catch (const InputError& error) {
      throw InputError("sampler.init: " + init + ": " + error.what());
    }
    if (!std::isfinite(log_density(setup, given)))
      throw InputError("sampler.init: " + init + ": the density there is not finite");
  }
  std::optional<MixtureStarts> pool;
  if (init == "kmeans" || init == "em")
    pool.emplace(setup.loaded.data, setup.model.components, config.sampler.seed);
  const auto start_of = [&](std::uint32_t chain, std::uint64_t attempt) {
    const ParameterLayout& layout = setup.engine->layout();
    if (init != "prior")
      return setup.target->with_arguments_of(
          in_layout(layout, init == "kmeans" ? pool->kmeans(chain, attempt) : pool->em(chain, attempt)));
    return setup.target->draw_from_prior(config.sampler.seed, chain, attempt);
  };
  const bool others = proposal_use(setup.proposal.kind).other_chains;
  std::vector<double> starts, first;
  const int per_superchain =
      config.sampler.superchains > 0 ? config.sampler.chains / config.sampler.superchains : 1;
  for (int chain = 0; chain < config.sampler.chains; ++chain) {
    if (chain % per_superchain != 0) {
      const std::vector<double> before(starts.end() - setup.target->dim(), starts.end());
      starts.insert(starts.end(), before.begin(), before.end());
      continue;
    }
    std::vector<double> theta = given;
    for (int attempt = 0; !from_file; ++attempt) {
      if (attempt == config.sampler.init_tries)
        throw InputError("sampler.init: " + init + ": no start of finite density for chain " +
                         std::to_string(chain) +
                         " in sampler.init_tries = " + std::to_string(config.sampler.init_tries) +
                         " tries; use init kmeans or a parameter file, or a narrower prior");
      theta = start_of(static_cast<std::uint32_t>(chain), static_cast<std::uint64_t>(attempt));
      setup.target->move_inside(theta);
      if (chain > 0) align(*setup.target, first, theta);
      if (std::isfinite(log_density(setup, theta))) break;
    }
    if (chain == 0) first = theta;
    if (others) spread(setup, static_cast<std::uint32_t>(chain), config.sampler.seed, theta);
    starts.insert(starts.end(), theta.begin(), theta.end());
  }
  return starts;
}

}  // namespace emomc::app
