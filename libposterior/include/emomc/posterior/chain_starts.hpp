// Finds the starting points of a run's chains and describes them for the log and the manifest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/posterior/run_config.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/start_report.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/starts.hpp"

namespace emomc {

/// A pool of short fits of a mixture, and the optima of the posterior density that these fits reach.
struct PoolOptima {
  MixturePool pool;
  Optima optima;
};

/// Fits a pool to `data` and finds its optima under `target`; both are in the sampler's units.
/// `rows_count_as` is the power of the likelihood. `most_optima` is passed on to find_optima.
PoolOptima find_pool_optima(const DataSet& data, const ModelSpec& model, const Target& target,
                            PoolOptions options, double rows_count_as = 1, std::size_t most_optima = 16);

/// Gives the chains of one posterior their starting points from a pool, one chain after another.
class PoolStarts {
 public:
  /// `init` is "kmeans" or "em". `found` and `target` must outlive the object. Throws InputError if no fit
  /// has a finite posterior density.
  PoolStarts(const PoolOptima& found, const Target& target, const std::string& init, std::uint64_t seed);
  /// The start of chain number `chain`, counted from 0, in the sampler's units. optimum_of_chain() chooses
  /// its optimum. With init kmeans the start is a clustering from which a short fit reached that optimum, as
  /// long as there is an unused one; with em, the first chain of an optimum starts at it. Later chains start
  /// at random points around the optimum.
  std::vector<double> next(std::uint32_t chain);
  /// Index into optima() of the last start that next() returned.
  std::size_t optimum() const { return optimum_; }
  /// The optima at which chains may start. If all are degenerate, this is the best degenerate one alone.
  const std::vector<Optimum>& optima() const { return optima_; }

 private:
  const PoolOptima& found_;
  const Target& target_;
  bool from_clusterings_;
  std::uint64_t seed_;
  std::vector<Optimum> optima_;
  std::vector<std::vector<std::vector<double>>> left_;  ///< unused points of each optimum, the next one last
  std::vector<double> first_;
  std::size_t optimum_ = 0;
};

/// The optima of a run's posterior: those that the fits of its pool reach, and, where the prior lets
/// components be empty (concentration_for_empty), those at which some have no rows.
PoolOptima find_run_optima(const RunConfig& config, const RunSetup& setup);

/// The options of a run's pool, among them its seed, its number of threads and its scale floor. If the prior
/// is not the same for all components, the options include points drawn from the prior.
PoolOptions pool_options(const RunConfig& config, const RunSetup& setup);

/// Counts, for each of report.optima, the draws of a finished run that EM takes to this optimum, or that have
/// as many empty components (num_draws). The counts are among report.num_followed evenly spaced draws: at
/// most 256, and fewer if there are many rows and components. R-hat does not show a mode that all chains left
/// during the warm-up, whereas these counts do. Does nothing if the report has fewer than two optima. `draws`
/// are in the data's units.
void follow_draws_to_optima(const RunConfig& config, const RunSetup& setup, const DrawSet& draws,
                            StartReport& report);

/// The starts of all chains, num_chains x dim, in the sampler's units, each with a finite density. With init
/// "prior" and "clusters", rungs have starts of their own, which follow those of the chains in the order of
/// tempered_plans(); otherwise a chain's rungs start where the chain does. Fills in setup.starts, which
/// describes the chains without their rungs. With sampler.superchains, the chains of a superchain share one
/// start. Throws InputError if none of sampler.init_tries draws from the prior has a finite density, or if a
/// parameter file does not fit the model.
std::vector<double> find_starts(const RunConfig& config, RunSetup& setup);

}  // namespace emomc
