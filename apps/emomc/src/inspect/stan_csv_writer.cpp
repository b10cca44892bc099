#include "stan_csv_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace emomc::app {
namespace {

struct Column {
  std::string name;
  std::size_t quantity;
};

// Appends the columns in column-major order: the first index varies fastest.
void add_columns(const QuantityArray& array, std::vector<Column>& columns) {
  std::vector<int> index(array.shape.size(), 0);
  for (std::size_t i = 0; i < array.quantities.size(); ++i) {
    std::string name = array.name;
    std::size_t row_major = 0;
    for (std::size_t a = 0; a < index.size(); ++a) {
      name += "." + std::to_string(index[a] + 1);
      row_major = row_major * static_cast<std::size_t>(array.shape[a]) + static_cast<std::size_t>(index[a]);
    }
    columns.push_back({name, array.quantities[row_major]});
    for (std::size_t a = 0; a < index.size() && ++index[a] == array.shape[a]; ++a) index[a] = 0;
  }
}

// Readers of Stan's files require these fields and columns.
constexpr const char* kOfMetropolis =
    "# These are draws of emomc by Metropolis-Hastings, not of Stan. Readers of Stan's files require\n"
    "# stan_version, max_depth, metric, stepsize, the step size and the mass matrix below, and the "
    "columns\n"
    "# from stepsize__ to energy__; these are placeholders. accept_stat__ is the chain's acceptance rate.\n";
constexpr const char* kOfTrajectories =
    "# These are draws of emomc, not of Stan. Readers of Stan's files require stan_version, max_depth,\n"
    "# metric and the mass matrix below; these are placeholders.\n";

std::string number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return fmt::format("{:.17g}", x);
}

}  // namespace

std::string to_stan_csv(const DrawSet& draws, std::size_t chain, std::uint64_t seed) {
  double accepted = 0, proposed = 0;
  for (const auto& block : draws.acceptance) {
    accepted += static_cast<double>(block.accepted[chain]);
    proposed += static_cast<double>(block.proposed[chain]);
  }
  const double acceptance = proposed > 0 ? accepted / proposed : 0.0;
  std::vector<Column> columns;
  for (std::size_t q = 1; q < draws.num_log_densities; ++q) columns.push_back({draws.names[q], q});
  for (const auto& array : arrays_of(draws, draws.num_quantities() - draws.num_log_densities))
    add_columns(array, columns);

  const bool has_trajectories = !draws.statistics.empty();
  const DrawStatistics* statistics =
      draws.statistics.data() + (has_trajectories ? chain * draws.num_draws : 0);
  const double step_size = has_trajectories && draws.num_draws > 0 ? statistics[0].step_size : 1;
  std::string out = fmt::format(
      "# stan_version_major = 2\n"
      "# stan_version_minor = 32\n"
      "# stan_version_patch = 0\n"
      "# generator = emomc\n"
      "# generator_version = {}\n"
      "{}"
      "# model = emomc_model\n"
      "# method = sample (Default)\n"
      "#   sample\n"
      "#     num_samples = {}\n"
      "#     num_warmup = {}\n"
      "#     save_warmup = 0 (Default)\n"
      "#     thin = {}\n"
      "#     adapt\n"
      "#       engaged = 1 (Default)\n"
      "#     algorithm = {}\n"
      "#       {}\n"
      "#         engine = emomc\n"
      "#           emomc\n"
      "#             max_depth = 10\n"
      "#         metric = diag_e\n"
      "#         stepsize = {}\n"
      "# id = {}\n"
      "# data\n"
      "#   file = {}\n"
      "# random\n"
      "#   seed = {}\n",
      EMOMC_VERSION, has_trajectories ? kOfTrajectories : kOfMetropolis,
      draws.num_draws * static_cast<std::size_t>(draws.thin), draws.warmup, draws.thin,
      has_trajectories ? "hmc" : "Metropolis", has_trajectories ? "hmc" : "metropolis", step_size, chain + 1,
      draws.source, seed);
  out += "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__";
  for (const auto& column : columns) out += "," + column.name;
  out += fmt::format(
      "\n# Adaptation terminated\n# Step size = {}\n# Diagonal elements of inverse mass matrix:\n# ",
      step_size);
  const std::size_t others = std::max<std::size_t>(draws.num_log_densities, 1) - 1;
  for (std::size_t i = 0; i < columns.size() - others; ++i) out += i ? ", 1" : "1";
  out += "\n";
  const auto value = [&](std::size_t q, std::size_t i) {
    return draws.values[(q * draws.num_chains() + chain) * draws.num_draws + i];
  };
  for (std::size_t i = 0; i < draws.num_draws; ++i) {
    const double density = draws.num_log_densities > 0 ? value(0, i) : std::nan("");
    if (has_trajectories) {
      const DrawStatistics& s = statistics[i];
      out += fmt::format("{},{},{},{},{},{},{}", number(density), number(s.acceptance), number(s.step_size),
                         s.tree_depth, s.num_leapfrogs, s.divergent, number(s.energy));
    } else {
      out += number(density) + "," + number(acceptance) + ",1,0,1,0," + number(-density);
    }
    for (const auto& column : columns) out += "," + number(value(column.quantity, i));
    out += "\n";
  }
  // Readers expect the first number at byte 17 of its line.
  const double warmup = draws.warmup_seconds.value_or(0), sampling = draws.sampling_seconds.value_or(0);
  out += fmt::format(
      "# \n#  Elapsed Time: {:.6f} seconds (Warm-up)\n#                {:.6f} seconds (Sampling)\n"
      "#                {:.6f} seconds (Total)\n# \n",
      warmup, sampling, warmup + sampling);
  return out;
}

}  // namespace emomc::app
