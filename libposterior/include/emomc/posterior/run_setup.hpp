// Turns a RunConfig into the arguments of run_chains, for `emomc run` and `emomc check`. Every error that a
// user can make is found here, before anything is written.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "emomc/core/communicator.hpp"
#include "emomc/core/data_units.hpp"
#include "emomc/core/rank_gather.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/posterior/data_setup.hpp"
#include "emomc/posterior/rank_team.hpp"
#include "emomc/posterior/run_config.hpp"
#include "emomc/posterior/start_report.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/sampler/target.hpp"

namespace emomc {

/// What run_chains samples: chains of one posterior, or of many with one likelihood and other data and
/// priors.
struct SampledChains {
  ModelSpec model;  ///< where the likelihood is no expression
  std::shared_ptr<const Expression> expression = nullptr;
  std::shared_ptr<const RowModel> row_model = nullptr;  ///< of the expression
  ColumnUnits standardized;        ///< of the table's columns, where expressions have some standardised
  std::string compiler;            ///< of the expressions' host code; empty: there is none
  std::string code;                ///< the text of likelihood.source; empty: there is none
  std::string generated;           ///< C++ of the expressions; empty: they are interpreted
  Backend backend = Backend::cpu;  ///< resolved
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;  ///< a RowTeam where GPUs of this process divide the rows
  /// Of further GPUs in this process, which have chains of their own, or evaluate a part of all chains.
  struct FurtherDevice {
    std::unique_ptr<Device> device;
    std::unique_ptr<LikelihoodEngine> engine;
  };
  std::vector<FurtherDevice> further = {};
  /// Of `device` and the further ones, where chains move by the state of others; nullptr: they need none.
  std::unique_ptr<RankTeam<DeviceRanks>> connections = nullptr;
  std::string why_one_device;  ///< where the machine has several GPUs and devices was not stated
  /// In the sampler's units, whatever the units in which the priors are stated. Of many posteriors that of
  /// the first; the others differ only in the numbers in its prior.
  std::unique_ptr<Target> target;
  double log_prior_offset =
      0;  ///< added to the target's log prior, it gives the density in the units of the priors
  ProposalSpec proposal;
  std::string proposal_why;  ///< why auto chose this kind; empty where the configuration names it
  std::vector<ChainPlan> plans;
  SamplerMemory memory;
  RunOptions options;
};

/// The objects that make up a run: the chains of one posterior, with its data.
struct RunSetup : SampledChains {
  LoadedData loaded;
  std::string why_no_gpu;  ///< LoadedExpression::why_no_gpu
  StartReport starts;      ///< filled in by find_starts (chain_starts.hpp)
};

/// On which GPUs chains or rows are, where the machine has several.
std::vector<std::string> describe_devices(const SampledChains& chains);

/// describe() of the data, and how a likelihood of the user's own reads them.
std::vector<std::string> describe(const RunSetup& setup);

/// One line for each property of the data, and of the model for these data, that deserves a warning.
std::vector<std::string> warnings(const RunSetup& setup);

/// ComponentCaches::on if the proposal uses them and they fit, with the other memory of the chains, into 80 %
/// of the free memory. The draws are the same without them.
ComponentCaches caches_that_fit(const LikelihoodEngine& engine, const Target& target,
                                const ProposalSpec& proposal, const std::vector<ChainPlan>& plans,
                                const SamplerMemory& sampler);

/// The target of `model` with the priors `prior`, in the sampler's units; `standardize` is data.standardize,
/// on which the units of `prior` depend. Throws InputError as Target does.
std::unique_ptr<Target> make_target(const ModelSpec& model, const PriorSet& prior, const LoadedData& loaded,
                                    bool standardize);

/// Why the engine has no gradient; empty where it has one.
std::string why_no_gradient(const RunSetup& setup);

/// What auto has chosen for a run that is resumed.
struct KeptProposal {
  std::string kind, shape;
};

/// Throws InputError for everything in the configuration or the data that cannot be sampled. The data are
/// those of `table`; nullptr: those of the files that config.data names. `kept`: of a run that is resumed.
///
/// Where config.shard is rows, the engine has the rows of one of `ranks`, which must outlive it. All ranks
/// need the same data and backend, which the caller checks. Each rank reads all rows; memory of the host
/// holds them, that of the device the rank's. Every rank then runs all chains and gets the same draws. With
/// `ranks`, also a single one, one GPU of this process is used; without, it divides chains or rows among its
/// GPUs.
RunSetup set_up(const RunConfig& config, const Table* table = nullptr,
                const std::optional<KeptProposal>& kept = std::nullopt, Communicator* ranks = nullptr);

ProposalShape shape_of_name(const std::string& name);  ///< isotropic, diagonal or dense
std::string name_of_shape(ProposalShape shape);
std::string backend_name(Backend backend);
Backend backend_of_name(const std::string& name);  ///< auto, reference, cpu or cuda
}  // namespace emomc
