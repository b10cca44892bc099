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

/// The chains that run_chains samples: chains of one posterior, or of many posteriors with the same
/// likelihood and different data and priors.
struct SampledChains {
  ModelSpec model;  ///< the model, if the likelihood is no expression
  std::shared_ptr<const Expression> expression = nullptr;
  std::shared_ptr<const RowModel> row_model = nullptr;  ///< row model of the expression
  ColumnUnits standardized;        ///< units of the table's columns, if expressions have standardised columns
  std::string compiler;            ///< compiler of the expressions' host code; empty: there is no host code
  std::string code;                ///< text of likelihood.source; empty: there is none
  std::string generated;           ///< C++ of the expressions; empty: they are interpreted
  Backend backend = Backend::cpu;  ///< resolved backend, never automatic
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;  ///< a RowTeam if GPUs of this process divide the rows
  /// A further GPU of this process, which has its own chains, or evaluates a part of all chains; or a thread
  /// of the CPU with its own chains.
  struct FurtherDevice {
    std::unique_ptr<Device> device;
    std::unique_ptr<LikelihoodEngine> engine;
  };
  std::vector<FurtherDevice> further = {};
  bool further_are_threads = false;  ///< whether the further devices are threads of the CPU (add_threads)
  /// Connections between `device` and the further devices, if chains move by the states of other chains;
  /// nullptr: no connections are needed.
  std::unique_ptr<RankTeam<DeviceRanks>> connections = nullptr;
  /// The reason why one GPU is used although the machine has several and config.devices is empty.
  std::string why_one_device;
  /// The target in the sampler's units, whatever the units of the priors are. With many posteriors, the
  /// target of the first one; the others differ only in the numbers in the prior.
  std::unique_ptr<Target> target;
  /// Sum of this and the target's log prior is the log density in the units of the priors.
  double log_prior_offset = 0;
  ProposalSpec proposal;
  std::string proposal_why;  ///< reason why auto chose this kind; empty if the configuration names the kind
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

/// Lines that describe how chains or rows are divided among GPUs, if the machine has several.
std::vector<std::string> describe_devices(const SampledChains& chains);

/// The lines of describe() for the data, and lines on how a user-defined likelihood reads the data.
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

/// The reason why the engine has no gradient; empty if the engine has one.
std::string why_no_gradient(const RunSetup& setup);

/// The proposal that auto has chosen for a run that is now resumed.
struct KeptProposal {
  std::string kind, shape;
};

/// Checks everything and makes the objects of a run. Throws InputError if anything in the configuration or
/// the data cannot be sampled. The data are those of `table`; nullptr: those of the files that config.data
/// names. `kept` is the proposal of a run that is resumed.
///
/// If config.shard is rows, the engine has the rows of one of `ranks`, which must outlive the engine. All
/// ranks need the same data and backend; the caller checks that. Each rank reads all rows into host memory;
/// device memory holds only the rank's rows. Every rank then runs all chains and produces the same draws.
/// With `ranks`, even a single one, one GPU of this process is used; without, the chains or rows are divided
/// among this process's GPUs.
RunSetup set_up(const RunConfig& config, const Table* table = nullptr,
                const std::optional<KeptProposal>& kept = std::nullopt, Communicator* ranks = nullptr);

ProposalShape shape_of_name(const std::string& name);  ///< isotropic, diagonal or dense
std::string name_of_shape(ProposalShape shape);
std::string backend_name(Backend backend);
Backend backend_of_name(const std::string& name);  ///< auto, reference, cpu or cuda
}  // namespace emomc
