// Posteriors in a program of your own, in memory (docs/cpp.md):
//
//   auto posterior = emomc::Posterior(emomc::GaussianMixture{.components = 2}, emomc::read_table("x.csv"));
//   auto draws = emomc::sample(posterior, {.chains = 4, .seed = 1});
//   std::cout << emomc::summary(draws);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/diagnose.hpp"
#include "emomc/posterior/inspection.hpp"
#include "emomc/posterior/memory_table.hpp"
#include "emomc/posterior/priors.hpp"
#include "emomc/posterior/run_config.hpp"
#include "emomc/posterior/run_summary.hpp"
#include "emomc/posterior/start_report.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "emomc/sampler/run_directory.hpp"

namespace emomc {

/// Priors by the name of the parameter.
using Priors = std::map<std::string, PriorSpec>;

/// Covariances of the components: of each its own variances, one variance, one covariance of all, or its own.
enum class Covariance { diagonal, spherical, tied, full };
/// Its name in configurations.
const char* covariance_name(Covariance covariance);

/// A mixture of Gaussians. Its parameters are `weights`, `means`, and `scales` (standard deviations), or, of
/// tied and full covariances, `covariance` or `covariances`, whose priors are those of their `scales` and
/// `correlations`.
struct GaussianMixture {
  int components = 2;
  Covariance covariance = Covariance::diagonal;
  Priors priors = {};  ///< in place of the default ones
  /// Whether priors are about columns with mean 0 and sd 1; otherwise they are in the data's own units. Draws
  /// are in the data's own units always.
  bool standardize = true;
  /// Numbers the components by the first column's mean.
  bool ordered = false;
  double scale_floor = PriorSet{}.scale_floor;  ///< the least sd of a component, as a share of the column's
  Precision precision = Precision::mixed;
};

/// A parameter of expressions: a number (length 0), or a list.
ExpressionParameter parameter(std::string name, Support support = Support::real, int length = 0,
                              ListOrder order = ListOrder::none);

/// A likelihood of expressions of columns and parameters (docs/your-own-likelihood.md).
struct ExpressionModel {
  ExpressionSpec likelihood = {};
  Priors priors = {};  ///< one for each parameter
  Precision precision = Precision::float64;
};

/// How to sample. Members that are empty are chosen by the model.
struct SampleOptions {
  int chains = 4;
  /// Of each chain. Empty: until they have converged, at most max_draws.
  std::optional<std::int64_t> draws = {};
  std::int64_t max_draws = SamplerConfig{}.draws;
  /// Steps before the first draw. Empty: 1000, doubled where chains have not settled.
  std::optional<std::int64_t> warmup = {};
  std::int64_t thin = 1;  ///< steps for a kept draw
  std::uint64_t seed = SamplerConfig{}.seed;
  /// "prior", "kmeans", "em", "clusters", or the path of a parameter file.
  std::string init = {};
  std::string proposal = {};          ///< one of proposal_names()
  std::string shape = {};             ///< of increments: "isotropic", "diagonal" or "dense"
  double target_acceptance = 0;       ///< 0: default_target_acceptance(proposal)
  UntilConfig until = {};             ///< ends the run early
  int superchains = 0;                ///< as sampler.superchains of configurations
  Tempering tempering = Tempering();  ///< rungs of each chain; Draws::rungs
  double max_nan_share = SamplerConfig{}.max_nan_share;
  bool keep_warmup = false;  ///< Draws::chains has the draws of warm-up too
  /// A run directory, which receives draws and checkpoints during the run, and which read_run and `emomc
  /// diagnose` read (docs/chain-format.md). Empty: draws are in memory alone.
  std::filesystem::path directory = {};
  /// What becomes of a run that `directory` has already. With resume the same call goes on from the
  /// checkpoint, and draws are those of a run that nothing interrupted; without a checkpoint it begins.
  ExistingRun existing = ExistingRun::refuse;
  CheckpointConfig checkpoint = {};  ///< how often
  Backend backend = Backend::automatic;
  int threads = 0;  ///< of the CPU; 0: all
  /// Called from the thread that called sample(), several times a second. false: the run ends, and
  /// Draws::finished is false.
  std::function<bool(const Progress&)> on_progress = {};
};

/// How to find the maximum of a mixture's likelihood.
struct FitOptionsOfMixture {
  int restarts = 8;          ///< most fits that are followed to their end, of a pool of short ones
  int max_rounds = 10'000;   ///< of EM, of each
  double tolerance = 1e-10;  ///< EM ends where a round raises the log likelihood of a row by less
  std::uint64_t seed = SamplerConfig{}.seed;
  Backend backend = Backend::cpu;
  int threads = 0;  ///< of the CPU; 0: all
};
struct MixtureFit {
  std::vector<double> theta;  ///< [num_parameters()], as draws have it
  double log_likelihood = 0;
  int rounds = 0;
  bool converged = false;
  std::string degenerate;  ///< why the fit is of no use, such as a component of too few rows; empty: it is
};
struct GradientCheck;
/// A log density and its gradient at a point.
struct LogDensityAndGradient {
  double log_density = 0;
  std::vector<double> gradient;  ///< [num_unconstrained()]
};

/// A likelihood with its data and priors. Two coordinates describe a point: `theta`, the parameters as draws
/// have them, in the data's own units; and `u`, unconstrained real numbers, in which gradients are. Any
/// thread may call the functions; they wait for each other.
class Posterior {
 public:
  /// Throw InputError where the model, a prior or the data are not allowed. The columns of a mixture are all
  /// those of `data`; expressions use those that they name.
  Posterior(const GaussianMixture& model, Table data);
  Posterior(const ExpressionModel& model, Table data);
  /// Any model: `config` has its likelihood, priors and data.standardize (its data.files are not read), and
  /// values for what SampleOptions leaves empty.
  Posterior(RunConfig config, Table data);
  ~Posterior();
  Posterior(Posterior&&) noexcept;
  Posterior& operator=(Posterior&&) noexcept;

  const std::vector<std::string>& names() const;  ///< [num_parameters()] "means[0,1]", ...
  const ParameterLayout& layout() const;          ///< of theta
  int num_parameters() const;
  int num_unconstrained() const;
  const Table& data() const;
  const RunConfig& config() const;

  /// Log likelihood plus log prior at theta [num_parameters()], as draws have it. -infinity outside the
  /// support. Throws InputError where a covariance is not positive definite.
  double log_posterior(std::span<const double> theta) const;
  /// The log density of u [num_unconstrained()]: log_posterior(constrain(u)) plus the log Jacobian of the map
  /// from u to parameters of standardised columns.
  double log_density(std::span<const double> u) const;
  /// The same with its gradient. Throws InputError where the likelihood has no gradient.
  LogDensityAndGradient log_density_and_gradient(std::span<const double> u) const;
  /// The gradient at u beside central differences of the log density (emomc/posterior/gradient_check.hpp).
  /// Throws InputError where the likelihood has no gradient.
  GradientCheck check_gradient(std::span<const double> u) const;
  /// theta of u, and u of theta, which throws InputError where theta is outside the support.
  std::vector<double> constrain(std::span<const double> u) const;
  std::vector<double> unconstrain(std::span<const double> theta) const;
  /// The log likelihood of each row at `points` [num_points x num_parameters()], as draws have them: in
  /// float64 on the CPU, in the data's own units. num_points x num_rows, row-major.
  std::vector<double> row_log_likelihoods(std::span<const double> points) const;
  /// A draw from the prior, as u, at which the log density is finite. Throws InputError where a hundred draws
  /// have none.
  std::vector<double> initial(std::uint64_t seed) const;

 private:
  friend MixtureFit fit(const Posterior& posterior, const FitOptionsOfMixture& options);
  struct State;
  std::unique_ptr<State> state_;
};

/// The draws of a run, in memory.
struct Draws {
  /// The draws of the sampling phase with their diagnostics; a mixture's components are matched over draws
  /// (Numbering::mended). run.draws has names, shapes and values.
  Inspection run;
  std::vector<ChainDraws> chains;  ///< as they were sampled, bit for bit as chain files have them
  /// With tempering, the log likelihoods of all rungs, for estimate_evidence() (emomc/sampler/evidence.hpp).
  std::optional<RungDraws> rungs;
  /// false: SampleOptions::on_progress ended the run; `run` has no draws where that was during warm-up.
  bool finished = true;
  std::string ended_by;  ///< "converged", "ess", "seconds"; empty: the last draw
  StartReport starts;
  std::vector<std::string> warnings;  ///< about the data and the starts
  std::string backend;                ///< "reference", "cpu" or "cuda"; empty: not known
  std::filesystem::path directory;    ///< where the run is; empty: in memory alone

  /// The names of all quantities: log densities, parameters, derived and label-free quantities.
  const std::vector<std::string>& names() const { return run.draws.names; }
  std::size_t num_chains() const { return run.draws.num_chains(); }
  std::size_t num_draws() const { return run.draws.num_draws; }
  /// num_chains() x num_draws() values of one quantity. Throws InputError where there is none of this name.
  std::span<const double> of(const std::string& name) const;
};

/// Samples the posterior: warm-up, draws, and, unless options.draws says how many, as many more as diagnose()
/// asks for. Draws are a function of the posterior, the options and the backend, not of threads or time, but
/// for options.until.seconds. Throws InputError where an option is not allowed, MachineError where memory
/// does not suffice or the disk fails, DensityError where the density is not a number too often; InputError
/// too where options.directory has a run that `options.existing` refuses, or one of other settings or data.
Draws sample(const Posterior& posterior, const SampleOptions& options = {});

/// The draws in a run directory of sample() or of `emomc run`, also while it runs. Throws InputError where
/// there is no run, it is damaged, or it has no draws after warm-up.
Draws read_run(const std::filesystem::path& directory);

/// The parameters of largest likelihood that EM finds; priors do not matter. Throws InputError where the
/// model has no EM, or its priors have sampled arguments.
MixtureFit fit(const Posterior& posterior, const FitOptionsOfMixture& options = {});

/// Means, quantiles, Monte Carlo errors, ESS and R-hat of the quantities that match `patterns` (shell globs);
/// of all, where there are none. Throws InputError where none matches, or there are no draws.
RunSummary summary(const Draws& draws, const std::vector<std::string>& patterns = {});
/// Writes the table of all rows.
std::ostream& operator<<(std::ostream& out, const RunSummary& summary);

/// What is wrong with a run, the worst first (is_trusted).
std::vector<Finding> diagnose(const Draws& draws);

}  // namespace emomc
