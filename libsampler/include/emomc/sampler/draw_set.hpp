// Draws of many quantities in memory, whoever made them: runs of emomc, CSV files of Stan, CSV tables.
//
// Readers believe nothing: what is truncated, foreign or inconsistent throws InputError with file and line.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

/// Accepted and proposed moves of one block of a proposal, by chain.
struct BlockCounts {
  std::string name;
  std::vector<std::uint64_t> accepted, proposed;  ///< [num_chains]
};

/// Values are finite or not; nothing is left out. Warm-up is not in it.
struct DrawSet {
  std::string source;               ///< the run directory, or the files
  std::string program;              ///< "emomc", "CmdStan", "ArviZ", "CSV"
  std::vector<std::string> names;   ///< [num_quantities], as in the file; log densities first
  std::vector<std::string> chains;  ///< [num_chains] what to call them
  std::size_t num_draws = 0;        ///< of each chain
  std::vector<double> values;       ///< num_quantities x num_chains x num_draws

  std::size_t num_log_densities = 0;  ///< of the first names: log_density, ..., or lp__
  std::size_t chains_per_ensemble = 1;
  /// Neighbouring chains that began at one point, for nested R-hat; 1: every chain by itself.
  std::size_t chains_per_superchain = 1;
  std::vector<BlockCounts> acceptance;
  std::vector<std::size_t> divergences;  ///< [num_chains] of Hamiltonian Monte Carlo; empty: not known
  std::optional<double> warmup_seconds, sampling_seconds;
  std::int64_t warmup = 0, thin = 1;  ///< steps
  /// What the reader left out of the files, or found in them, that a user should know; one sentence each.
  std::vector<std::string> notes;
  /// "variational", "pathfinder", "laplace": the draws are independent ones of such an approximation to the
  /// posterior, so their R-hat and ESS say nothing of it. Empty: they are of Markov chains.
  std::string approximation;
  ParameterLayout layout;  ///< of names behind the log densities; without blocks: not known

  std::size_t num_quantities() const { return names.size(); }
  std::size_t num_chains() const { return chains.size(); }
  std::span<double> quantity(std::size_t q) {
    return {values.data() + q * num_chains() * num_draws, num_chains() * num_draws};
  }
  DrawsView view(std::size_t q) const {
    return {values.data() + q * num_chains() * num_draws, num_draws,           num_chains(),         1,
            static_cast<std::ptrdiff_t>(num_draws),       chains_per_ensemble, chains_per_superchain};
  }
  /// Adds a quantity of zeros and returns where its values begin, chain after chain.
  double* add(const std::string& name);
};

enum class Phase { warmup, sampling };
/// The draws of one phase of chains in files, as many of each as all have. Throws InputError where sampling
/// has none yet; a warm-up without draws has no parameters either. Ensembles, superchains and times are the
/// manifest's business.
DrawSet draw_set_of(const std::vector<ChainDraws>& chains, const std::string& source,
                    Phase phase = Phase::sampling);

/// One CSV per chain as CmdStan or the sample_file of rstan writes it: comments, a header, rows of numbers.
/// Columns whose names end in two underscores are the sampler's own, lp__ is the log density. Rows of warm-up
/// that were saved are left out; method = fixed_param has none. Draws of method = variational, pathfinder and
/// laplace are read as those of an approximation, generate_quantities as they are; files of other methods
/// hold no draws and are refused.
DrawSet read_stan_csv(const std::vector<std::filesystem::path>& files);

/// Whether a CSV file's header begins with the columns `chain,draw`: the table of all chains that
/// `emomc export --format csv` writes. Throws InputError where the file cannot be read.
bool is_draw_table(const std::filesystem::path& file);
/// Such a table. Rows of a chain are in the order of their draws; rows of different chains may alternate.
/// Leading columns of the names log_density, log_likelihood, log_prior, lp__ and lp are log densities.
DrawSet read_draw_table(const std::filesystem::path& file);

/// Parameters that are one array; matrices of which the lower triangle is stored are whole here.
struct QuantityArray {
  std::string name;
  std::vector<int> shape;               ///< empty for a scalar
  std::vector<std::size_t> quantities;  ///< row-major, into the set's names
  int component_axis = -1;
  std::vector<int> feature_axes;  ///< axes that count the data's columns
};
/// The arrays of `count` quantities behind the log densities: by the layout where it is known, by the names
/// otherwise. What the names say is no array stays a scalar of that name.
std::vector<QuantityArray> arrays_of(const DrawSet& set, std::size_t count);

/// Blocks of the names `x[i,j]`, `x.i.j`, `x`: neighbouring ones with the same first part.
struct NameBlock {
  std::string name;
  std::size_t begin, size;                ///< into names
  std::vector<std::vector<int>> indices;  ///< of each name; empty for a scalar
};
std::vector<NameBlock> blocks_of_names(std::span<const std::string> names);

}  // namespace emomc
