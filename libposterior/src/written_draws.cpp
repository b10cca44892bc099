#include "emomc/posterior/written_draws.hpp"

namespace emomc {

ChainHeader chain_header(const RunConfig& config, const SampledChains& chains, std::size_t chain) {
  ChainHeader header;
  header.chain_id = chains.plans[chain].id;
  header.seed = config.sampler.seed;
  header.warmup = config.sampler.warmup;
  header.thin = config.sampler.thin;
  header.layout = chains.target->layout();
  header.block_names = proposal_block_names(chains.proposal, *chains.target);
  return header;
}

ChainHeader rung_header(const RunConfig& config, const SampledChains& chains, std::size_t chain, int rung) {
  ChainHeader header = chain_header(config, chains, chain);
  header.chain_id += kRungStride * static_cast<std::uint64_t>(rung);
  header.layout = {};
  return header;
}

std::vector<double> scale_floors(const RunConfig& config, const DataFacts& data) {
  const ColumnUnits& units = data.units;
  std::vector<double> floors = data.column_sd;
  for (std::size_t j = 0; j < floors.size(); ++j)
    floors[j] *= config.prior.scale_floor * (units.is_identity() ? 1.0 : units.sd[j]);
  return floors;
}

WrittenDraws::WrittenDraws(const SampledChains& chains, const ColumnUnits& units, std::size_t num_rows)
    : chains_(chains),
      data_units_(chains.target->layout(), units),
      log_likelihood_offset_(emomc::log_likelihood_offset(units, num_rows)) {}

void WrittenDraws::convert(std::span<const double> theta, std::span<double> result) const {
  data_units_.apply(theta, result);
  to_written(chains_.target->layout(), result);
}

void add_derived(const Expression& expression, DrawSet& draws) {
  if (expression.derived().empty() || draws.num_draws == 0) return;
  const auto dim = static_cast<std::size_t>(expression.layout().dim());
  const ParameterLayout derived{expression.derived()};
  const std::size_t first = draws.num_quantities();
  for (const std::string& name : element_names(derived)) draws.add(name);
  const std::size_t total = draws.num_chains() * draws.num_draws;
  std::vector<double> theta(dim), values(static_cast<std::size_t>(derived.dim()));
  for (std::size_t i = 0; i < total; ++i) {
    for (std::size_t j = 0; j < dim; ++j) theta[j] = draws.values[(draws.num_log_densities + j) * total + i];
    expression.derive(theta.data(), values.data());
    for (std::size_t j = 0; j < values.size(); ++j) draws.values[(first + j) * total + i] = values[j];
  }
  draws.layout.blocks.insert(draws.layout.blocks.end(), derived.blocks.begin(), derived.blocks.end());
}

}  // namespace emomc
