// Where the chains of a run start, and what is said about it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emomc/likelihood/mixture_start.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/starts.hpp"
#include "run_config.hpp"
#include "start_report.hpp"

namespace emomc::app {

struct RunSetup;

/// Short fits of a mixture and the optima of the posterior that they belong to.
struct PoolOptima {
  MixturePool pool;
  Optima optima;
};

/// Of `data` under `target`, all in the sampler's units; `rows_count_as` is the power of the likelihood.
/// `most_optima` as find_optima has it.
PoolOptima find_pool_optima(const DataSet& data, const ModelSpec& model, const Target& target,
                            PoolOptions options, double rows_count_as = 1, std::size_t most_optima = 16);

/// Starts of chains from a pool, one after the other.
class PoolStarts {
 public:
  /// `init`: kmeans or em. Both references must outlive the object. Throws InputError where no fit has a
  /// finite density.
  PoolStarts(const PoolOptima& found, const Target& target, const std::string& init, std::uint64_t seed);
  /// The next chain's start, in the sampler's units: at the optimum of chain number `chain` (of those given
  /// so far plus one), for kmeans at a clustering that led there, where one is left; else about it.
  std::vector<double> next(std::uint32_t chain);
  /// Index into optima() of the last start.
  std::size_t optimum() const { return optimum_; }
  /// Those that chains may have; the best degenerate one where there is no other.
  const std::vector<Optimum>& optima() const { return optima_; }

 private:
  const PoolOptima& found_;
  const Target& target_;
  bool from_clusterings_;
  std::uint64_t seed_;
  std::vector<Optimum> optima_;
  std::vector<std::vector<std::vector<double>>>
      left_;  ///< of each optimum: points not yet used, the last first
  std::vector<double> first_;
  std::size_t optimum_ = 0;
};

/// Of a run: its seed, threads and floor, with draws from a prior that tells components apart.
PoolOptions pool_options(const RunConfig& config, const RunSetup& setup);

/// Counts, for each of report.optima, the draws of a finished run that EM takes to it (num_draws), among
/// report.num_followed draws, which are evenly spaced: at most 256, fewer where rows and components are many.
/// A mode that chains left during warm-up shows in no R-hat; it shows here. Does nothing where the report has
/// fewer than two optima. `draws`: in the data's units.
void follow_draws_to_optima(const RunConfig& config, const RunSetup& setup, const DrawSet& draws,
                            StartReport& report);

/// num_chains x dim, sampler's units, each of finite density; what is to be said goes into setup.starts.
/// Throws InputError where init_tries did not find one, or where a parameter file does not fit.
std::vector<double> find_starts(const RunConfig& config, RunSetup& setup);

}  // namespace emomc::app
