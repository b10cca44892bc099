// Draws of many quantities in memory, from any source: runs of emomc, CSV files of Stan, CSV tables.
//
// Readers check everything: they throw InputError with file and line for content that is truncated,
// inconsistent or in another format.
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

/// The draws of the sampling phase of all chains, or those of warm-up if draw_set_of was called for that
/// phase. Draws that are not finite are included.
struct DrawSet {
  std::string source;               ///< run directory, or names of the files
  std::string program;              ///< program that wrote the files: "emomc", "CmdStan", "ArviZ", "CSV"
  std::vector<std::string> names;   ///< [num_quantities] names as in the file; log densities first
  std::vector<std::string> chains;  ///< [num_chains] names for messages
  std::size_t num_draws = 0;        ///< number of draws of each chain
  std::vector<double> values;       ///< num_quantities x num_chains x num_draws, row-major

  /// Number of log densities, which are the first quantities: log_density, ..., or lp__.
  std::size_t num_log_densities = 0;
  std::size_t chains_per_ensemble = 1;  ///< a divisor of num_chains; 1: chains are independent
  /// Number of neighbouring chains that started at one point, for nested R-hat; 1: every chain has its own
  /// start.
  std::size_t chains_per_superchain = 1;
  std::vector<BlockCounts> acceptance;
  /// num_chains x num_draws statistics of trajectories, if emomc ran a gradient sampler; otherwise empty
  std::vector<DrawStatistics> statistics;
  /// [num_chains] number of divergent transitions of Hamiltonian Monte Carlo; empty: not known
  std::vector<std::size_t> divergences;
  std::optional<double> warmup_seconds, sampling_seconds;
  std::int64_t warmup = 0, thin = 1;  ///< length of the warm-up and distance of draws, in steps
  /// Sentences for the user about what the reader found in the files or skipped.
  std::vector<std::string> notes;
  /// "variational", "pathfinder" or "laplace": the draws are independent draws of such an approximation to
  /// the posterior, so R-hat and ESS have no meaning for the posterior. Empty: draws of Markov chains.
  std::string approximation;
  /// Layout of the names after the log densities; has no blocks if the layout is not known.
  ParameterLayout layout;

  std::size_t num_quantities() const { return names.size(); }
  std::size_t num_chains() const { return chains.size(); }
  /// All draws of quantity q, chain after chain.
  std::span<double> quantity(std::size_t q) {
    return {values.data() + q * num_chains() * num_draws, num_chains() * num_draws};
  }
  DrawsView view(std::size_t q) const {
    return {values.data() + q * num_chains() * num_draws, num_draws,           num_chains(),         1,
            static_cast<std::ptrdiff_t>(num_draws),       chains_per_ensemble, chains_per_superchain};
  }
  /// Adds a quantity of zeros and returns a pointer to its values, chain after chain. Invalidates earlier
  /// pointers.
  double* add(const std::string& name);
};

enum class Phase { warmup, sampling };
/// Makes a set of the draws of one phase of chains that were read from files. All chains are cut to the
/// length of the shortest. Throws InputError if there are no sampling draws yet; if there are no draws of
/// warm-up, the result has no parameters. The caller sets ensembles, superchains and times from the manifest.
DrawSet draw_set_of(const std::vector<ChainDraws>& chains, const std::string& source,
                    Phase phase = Phase::sampling);

/// Reads one CSV file per chain in the format of CmdStan or of rstan's sample_file: comments, a header, rows
/// of numbers. Columns whose names end in two underscores belong to the sampler; lp__ is the log density.
/// Saved rows of warm-up are skipped (method = fixed_param has none). Draws of method = variational,
/// pathfinder and laplace are read as draws of an approximation, those of generate_quantities without change.
/// Throws InputError for files of other methods, which contain no draws.
DrawSet read_stan_csv(const std::vector<std::filesystem::path>& files);

/// Whether a CSV file's header begins with the columns `chain,draw`: the table of all chains that `emomc
/// export --format csv` writes. Throws InputError if the file cannot be read.
bool is_draw_table(const std::filesystem::path& file);
/// Reads a table of the format that is_draw_table() recognises. The rows of a chain must be in the order of
/// their draws; rows of different chains may alternate. Leading columns with the names log_density,
/// log_likelihood, log_prior, lp__ and lp are log densities. Throws InputError.
DrawSet read_draw_table(const std::filesystem::path& file);

/// Quantities that form one array. A matrix whose lower triangle alone is in the files is complete here.
struct QuantityArray {
  std::string name;
  std::vector<int> shape;               ///< empty for a scalar
  std::vector<std::size_t> quantities;  ///< row-major indices into the set's names
  int component_axis = -1;
  std::vector<int> feature_axes;  ///< axes that run over the data's columns
};
/// Returns the arrays of the `count` quantities after the log densities, from the layout if it is known and
/// otherwise from the names. Names that do not form an array become scalars.
std::vector<QuantityArray> arrays_of(const DrawSet& set, std::size_t count);

/// A group of neighbouring names `x[i,j]`, `x.i.j` or `x` with the same first part and the same number of
/// indices.
struct NameBlock {
  std::string name;
  std::size_t begin, size;                ///< first name and number of names
  std::vector<std::vector<int>> indices;  ///< indices in each name; empty for a scalar
};
std::vector<NameBlock> blocks_of_names(std::span<const std::string> names);

}  // namespace emomc
