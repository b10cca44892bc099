// Converts draws to the form of files and callers: the data's own units, and covariances as matrices.
#pragma once

#include <vector>

#include "emomc/core/data_units.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

/// The header of the draws of chain number `chain`.
ChainHeader chain_header(const RunConfig& config, const SampledChains& chains, std::size_t chain);

/// The header of the draws of a rung of chain number `chain`. These draws have log densities but no
/// parameters.
ChainHeader rung_header(const RunConfig& config, const SampledChains& chains, std::size_t chain, int rung);

/// The floors of standard deviations [num_columns], in the data's own units.
std::vector<double> scale_floors(const RunConfig& config, const DataFacts& data);

/// Converts the draws of chains. `chains` must outlive the object.
class WrittenDraws {
 public:
  /// `units` are the units of the engine's data (LoadedData::units), and `num_rows` is the number of their
  /// rows. For many posteriors, whose targets are in the data's own units, `units` is the identity.
  WrittenDraws(const SampledChains& chains, const ColumnUnits& units, std::size_t num_rows);
  explicit WrittenDraws(const RunSetup& setup)
      : WrittenDraws(setup, setup.loaded.units, setup.loaded.data.num_rows) {}

  /// The constants that are added to log likelihoods and log priors in the sampler's units.
  double log_likelihood_offset() const { return log_likelihood_offset_; }
  double log_prior_offset() const { return chains_.log_prior_offset; }
  /// Converts one draw; theta and result are [layout().dim()].
  void convert(std::span<const double> theta, std::span<double> result) const;

  /// Calls use(chain, draw, statistics) for each draw, in the order of draws, then of chains; `statistics` is
  /// nullptr except for gradient samplers. Both are valid only during the call.
  template <class Use>
  void for_each(const DrawBatch& draws, const Use& use) const {
    const auto dim = static_cast<std::size_t>(draws.dim);
    std::vector<double> theta(dim);
    for (int i = 0; i < draws.num_draws; ++i)
      for (int c = 0; c < draws.num_chains; ++c) {
        const auto at = static_cast<std::size_t>(i) * static_cast<std::size_t>(draws.num_chains) +
                        static_cast<std::size_t>(c);
        convert({draws.theta + at * dim, dim}, theta);
        DrawStatistics statistics{};
        if (draws.statistics) {
          // The energy is minus a log density, which is in the data's own units here.
          statistics = draws.statistics[at];
          statistics.energy -= log_prior_offset() + log_likelihood_offset_;
        }
        use(static_cast<std::size_t>(c),
            DrawView{draws.first_step + i * draws.thin, draws.log_prior[at] + log_prior_offset(),
                     draws.log_likelihood[at] + log_likelihood_offset_, theta},
            draws.statistics ? &statistics : nullptr);
      }
  }

 private:
  const SampledChains& chains_;
  DataUnitMap data_units_;
  double log_likelihood_offset_;
};

/// Calls use(chain, draw) for each draw of the rungs except the cold one. The order is that of draws, then of
/// chains in tempered_plans(), in which the chains of rung 1 begin at number num_cold. The draws have no
/// parameters.
template <class Use>
void for_each_of_rungs(const WrittenDraws& written, const RungBatch& draws, std::size_t num_cold,
                       const Use& use) {
  const auto chains = static_cast<std::size_t>(draws.num_chains);
  for (int i = 0; i < draws.num_draws; ++i)
    for (std::size_t c = num_cold; c < chains; ++c) {
      const std::size_t at = static_cast<std::size_t>(i) * chains + c;
      use(c, DrawView{draws.first_step + i * draws.thin,
                      draws.log_prior[at] + written.log_prior_offset(),
                      draws.log_likelihood[at] + written.log_likelihood_offset(),
                      {}});
    }
}

/// Adds the derived quantities of each draw, with their names and shapes.
void add_derived(const Expression& expression, DrawSet& draws);

}  // namespace emomc
