// Turns a RunConfig into the arguments of run_chains, for `emomc run` and `emomc check`. Every error that a
// user can make is found here, before anything is written.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "emomc/core/data_units.hpp"
#include "emomc/likelihood/engines.hpp"
#include "emomc/likelihood/table.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "emomc/sampler/target.hpp"
#include "precision_check.hpp"
#include "run_config.hpp"
#include "start_report.hpp"

namespace emomc::app {

/// The data as they were read and in the form that the likelihood uses.
struct LoadedData {
  Table table;  ///< its values have been moved to `data`
  DataSet data;
  /// The shift and scale of `data`: those of standardised columns, or, with data.standardize false, powers of
  /// two close to them.
  ColumnUnits units;
  std::vector<double> column_sd;  ///< [num_columns], standard deviations of the columns of `data`
  std::vector<std::string> constant_columns;
  DataFingerprint fingerprint;  ///< of the values of the columns in use
};

/// The number of draws of each chain before which `sampler.until.seconds` does not end a run.
inline constexpr std::int64_t kFirstDecision = 100;

/// The fingerprint of the rows [first_row, first_row + num_rows) of `values`, which are row-major with `dim`
/// columns.
DataPart data_part(const std::string& name, const std::vector<double>& values, std::size_t dim,
                   std::size_t first_row, std::size_t num_rows);

/// The request for `columns` of the data of a likelihood of the user's own, with labels of the columns
/// `labels`.
TableRequest table_request(const DataConfig& config, const ExpressionSpec& spec,
                           std::vector<std::string> columns, std::vector<std::string> labels = {});

/// Reads, checks and standardises the data. The table has labels of the columns `labels` too. Throws
/// InputError.
LoadedData load_data(const DataConfig& config, const ModelSpec& model,
                     const std::vector<std::string>& labels = {});

/// Mean and sd of the columns that data.standardize lists, 0 and 1 of the others; empty where it lists none.
/// `values` are rows x columns, row-major. Throws InputError where a column is constant or out of range.
ColumnUnits standardized_units(const ExpressionSpec& spec, const std::vector<std::string>& columns,
                               std::span<const double> values);

/// A likelihood of the user's own with its data, which stay in their own units but for the columns that
/// data.standardize lists. Of LoadedData, `data` has the
/// columns of `model`; `table` and the fingerprint are of those that the expressions name.
struct LoadedExpression {
  LoadedData loaded;
  std::shared_ptr<const Expression> expression;
  std::shared_ptr<const RowModel> model;
  Backend backend = Backend::cpu;
  std::string compiler;      ///< empty where there is no host code
  std::string generated;     ///< Expression::Bound::header
  std::string code;          ///< the text of likelihood.source; empty: there is none
  ColumnUnits standardized;  ///< of the table's columns; empty: none is standardised
};
/// Reads the data and binds the expressions to them, on a backend that is chosen by the amount of work where
/// `backend` is automatic. Throws InputError; MachineError where there is no compiler.
LoadedExpression load_expression(const DataConfig& config, const ExpressionSpec& spec, Backend backend,
                                 int num_chains, const std::vector<std::string>& labels = {});
/// One line each about the columns that are used and those that are skipped.
std::vector<std::string> describe(const LoadedData& loaded);

/// The objects that make up a run.
struct RunSetup {
  LoadedData loaded;
  ModelSpec model;  ///< where the likelihood is no expression
  std::shared_ptr<const Expression> expression = nullptr;
  std::shared_ptr<const RowModel> row_model = nullptr;  ///< of the expression
  PrecisionError precision = {};                        ///< of the expression, where it was measured
  ColumnUnits standardized;        ///< of the table's columns, where expressions have some standardised
  std::string compiler;            ///< of the expressions' host code; empty: there is none
  std::string code;                ///< the text of likelihood.source; empty: there is none
  std::string generated;           ///< C++ of the expressions; empty: they are interpreted
  Backend backend = Backend::cpu;  ///< resolved
  std::unique_ptr<Device> device;
  std::unique_ptr<LikelihoodEngine> engine;
  /// In the sampler's units, whatever the units in which the priors are stated.
  std::unique_ptr<Target> target;
  double log_prior_offset =
      0;  ///< added to the target's log prior, it gives the density in the units of the priors
  ProposalSpec proposal;
  std::string proposal_why;  ///< why auto chose this kind; empty where the configuration names it
  std::vector<ChainPlan> plans;
  SamplerMemory memory;
  RunOptions options;
  StartReport starts;  ///< filled in by find_starts (chain_starts.hpp)
};

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

/// Throws InputError for everything in the configuration or the data that cannot be sampled.
RunSetup set_up(const RunConfig& config, const std::optional<KeptProposal>& kept = std::nullopt);

ProposalShape shape_of_name(const std::string& name);  ///< isotropic, diagonal or dense
std::string name_of_shape(ProposalShape shape);
std::string backend_name(Backend backend);
Backend backend_of_name(const std::string& name);  ///< auto, reference, cpu or cuda
/// A hash of the names and values of the columns in use, as hexadecimal digits.
std::string hash_table(const Table& table);

}  // namespace emomc::app
