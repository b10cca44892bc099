// Samples posteriors in memory, from a C++ program (docs/cpp.md):
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

/// The covariances of a mixture's components: `diagonal` gives each component one variance for each column,
/// `spherical` gives each component one variance, all components share one matrix in `tied`, and each
/// component has its own matrix in `full`.
enum class Covariance { diagonal, spherical, tied, full };
/// The name of a covariance in configurations.
const char* covariance_name(Covariance covariance);

/// A mixture of Gaussians. Its parameters are `weights`, `means`, and `scales` (standard deviations). With
/// tied and full covariances, `covariance` or `covariances` takes the place of `scales`, and its prior is
/// given by priors of `scales` and `correlations`.
struct GaussianMixture {
  int components = 2;
  Covariance covariance = Covariance::diagonal;
  Priors priors = {};  ///< priors that replace the default ones
  /// Whether the priors refer to columns scaled to mean 0 and sd 1; otherwise they refer to the data's own
  /// units. Draws are always in the data's own units.
  bool standardize = true;
  /// Whether the components are numbered by their mean in the first column.
  bool ordered = false;
  double scale_floor = PriorSet{}.scale_floor;  ///< smallest sd of a component, as a share of the column's sd
  Precision precision = Precision::mixed;
};

/// A parameter of expressions: a number (length 0), or a list.
ExpressionParameter parameter(std::string name, Support support = Support::real, int length = 0,
                              ListOrder order = ListOrder::none);

/// A likelihood of expressions of columns and parameters (docs/your-own-likelihood.md).
struct ExpressionModel {
  ExpressionSpec likelihood = {};
  Priors priors = {};  ///< one prior for each parameter
  Precision precision = Precision::float64;
};

/// The settings of a sampling run. The model determines the values of empty members.
struct SampleOptions {
  int chains = 4;
  /// Draws of each chain. Empty: chains run until they have converged, for at most max_draws draws.
  std::optional<std::int64_t> draws = {};
  std::int64_t max_draws = SamplerConfig{}.draws;
  /// Steps before the first draw. Empty: 1000 steps, doubled as long as the chains have not settled.
  std::optional<std::int64_t> warmup = {};
  std::int64_t thin = 1;  ///< steps per kept draw
  std::uint64_t seed = SamplerConfig{}.seed;
  /// "prior", "kmeans", "em", "clusters", or the path of a parameter file.
  std::string init = {};
  std::string proposal = {};     ///< one of proposal_names()
  std::string shape = {};        ///< shape of the proposal's increments: "isotropic", "diagonal" or "dense"
  double target_acceptance = 0;  ///< 0: default_target_acceptance(proposal)
  UntilConfig until = {};        ///< conditions that end the run early
  int superchains = 0;           ///< number of superchains, as sampler.superchains of configurations
  Tempering tempering = Tempering();  ///< rungs of each chain, whose log likelihoods are in Draws::rungs
  double max_nan_share = SamplerConfig{}.max_nan_share;
  bool keep_warmup = false;  ///< whether Draws::chains includes the draws of the warm-up
  /// The run directory that receives draws and checkpoints during the run; read_run and `emomc diagnose` read
  /// it (docs/chain-format.md). Empty: draws are kept in memory only.
  std::filesystem::path directory = {};
  /// What happens to a run that `directory` already contains. With `resume`, the same call continues from the
  /// checkpoint, and the draws are those of an uninterrupted run; without a checkpoint the run starts from
  /// the beginning.
  ExistingRun existing = ExistingRun::refuse;
  CheckpointConfig checkpoint = {};  ///< how often checkpoints are written
  Backend backend = Backend::automatic;
  int threads = 0;  ///< number of CPU threads; 0: all
  /// Called several times a second, in the thread that called sample(). If the result is false, the run ends,
  /// and Draws::finished is false.
  std::function<bool(const Progress&)> on_progress = {};
};

/// How to find the maximum of a mixture's likelihood.
struct FitOptionsOfMixture {
  int restarts = 8;  ///< maximum number of fits that are followed to their end, out of a pool of short fits
  int max_rounds = 10'000;  ///< maximum number of EM rounds of each fit
  /// EM ends when a round raises the mean log likelihood of a row by less than this.
  double tolerance = 1e-10;
  std::uint64_t seed = SamplerConfig{}.seed;
  Backend backend = Backend::cpu;
  int threads = 0;  ///< number of CPU threads; 0: all
  /// Called after each EM round by the thread of the fit, on several GPUs by several threads. If it throws,
  /// fit() ends and throws the exception.
  std::function<void()> on_round = {};
};
struct MixtureFit {
  std::vector<double> theta;  ///< [num_parameters()], parameters in the form of draws
  double log_likelihood = 0;
  int rounds = 0;
  bool converged = false;
  /// Reason why the fit is of no use, such as a component with too few rows; empty: the fit is usable.
  std::string degenerate;
};
struct GradientCheck;
/// A log density and its gradient at a point.
struct LogDensityAndGradient {
  double log_density = 0;
  std::vector<double> gradient;  ///< [num_unconstrained()]
};

/// A likelihood with its data and priors. A point has two representations: `theta`, the parameters in the
/// form of draws, in the data's own units; and `u`, unconstrained real numbers. Gradients are with respect to
/// `u`. Any thread may call the functions; concurrent calls wait for each other.
class Posterior {
 public:
  /// The constructors throw InputError if the model, a prior or the data are not allowed. A mixture has all
  /// columns of `data`; expressions use the columns that they name.
  Posterior(const GaussianMixture& model, Table data);
  Posterior(const ExpressionModel& model, Table data);
  /// Constructs the posterior of any model. `config` provides the likelihood, the priors and data.standardize
  /// (its data.files are not read), and the values of SampleOptions' empty members.
  Posterior(RunConfig config, Table data);
  ~Posterior();
  Posterior(Posterior&&) noexcept;
  Posterior& operator=(Posterior&&) noexcept;

  const std::vector<std::string>& names() const;  ///< [num_parameters()] "means[0,1]", ...
  const ParameterLayout& layout() const;          ///< layout of theta
  int num_parameters() const;
  int num_unconstrained() const;
  const Table& data() const;
  const RunConfig& config() const;

  /// The log likelihood plus the log prior at theta [num_parameters()], the parameters in the form of draws;
  /// -infinity outside the support. Throws InputError if a covariance is not positive definite.
  double log_posterior(std::span<const double> theta) const;
  /// The log density of u [num_unconstrained()]: log_posterior(constrain(u)) plus the log Jacobian of the map
  /// from u to parameters of standardised columns.
  double log_density(std::span<const double> u) const;
  /// The log density of u and its gradient. Throws InputError if the likelihood has no gradient.
  LogDensityAndGradient log_density_and_gradient(std::span<const double> u) const;
  /// The gradient at u beside central differences of the log density (emomc/posterior/gradient_check.hpp).
  /// Throws InputError where the likelihood has no gradient.
  GradientCheck check_gradient(std::span<const double> u) const;
  /// Convert between u and theta. `unconstrain` throws InputError if theta is outside the support.
  std::vector<double> constrain(std::span<const double> u) const;
  std::vector<double> unconstrain(std::span<const double> theta) const;
  /// The log likelihood of each row at `points` [num_points x num_parameters()], parameters in the form of
  /// draws. Computed in float64 on the CPU, in the data's own units. The result is num_points x num_rows,
  /// row-major.
  std::vector<double> row_log_likelihoods(std::span<const double> points) const;
  /// A draw from the prior, as u, at which the log density is finite. Throws InputError if the density is
  /// finite at none of a hundred draws.
  std::vector<double> initial(std::uint64_t seed) const;

 private:
  friend MixtureFit fit(const Posterior& posterior, const FitOptionsOfMixture& options);
  struct State;
  std::unique_ptr<State> state_;
};

/// The draws of a run, in memory.
struct Draws {
  /// The draws of the sampling phase with their diagnostics. A mixture's components are matched over draws
  /// (Numbering::mended). `run.draws` has names, shapes and values.
  Inspection run;
  std::vector<ChainDraws> chains;  ///< draws as they were sampled, bit for bit as in chain files
  /// With tempering, the log likelihoods of all rungs, for estimate_evidence() (emomc/sampler/evidence.hpp).
  std::optional<RungDraws> rungs;
  /// false: SampleOptions::on_progress ended the run. In that case `run` has no draws if the warm-up had not
  /// ended.
  bool finished = true;
  std::string ended_by;  ///< "converged", "ess" or "seconds"; empty: the run has all its draws
  StartReport starts;
  std::vector<std::string> warnings;  ///< about the data and the starts
  std::string backend;                ///< "reference", "cpu" or "cuda"; empty: unknown
  std::filesystem::path directory;    ///< run directory; empty: the run is in memory only

  /// The names of all quantities: log densities, parameters, derived and label-free quantities.
  const std::vector<std::string>& names() const { return run.draws.names; }
  std::size_t num_chains() const { return run.draws.num_chains(); }
  std::size_t num_draws() const { return run.draws.num_draws; }
  /// The num_chains() x num_draws() values of one quantity. Throws InputError if no quantity has this name.
  std::span<const double> of(const std::string& name) const;
};

/// Samples the posterior: first the warm-up, then options.draws draws, or, if that is empty, draws until
/// diagnose() requires no more. The draws are a function of the posterior, the options and the backend, but
/// not of threads or time, except with options.until.seconds. Throws InputError if an option is not allowed,
/// MachineError if memory does not suffice or the disk fails, and DensityError if the density is not a number
/// too often. Throws InputError also if options.directory has a run that `options.existing` refuses, or a run
/// with other settings or data.
Draws sample(const Posterior& posterior, const SampleOptions& options = {});

/// The draws in a run directory of sample() or of `emomc run`, even before the run has ended. Throws
/// InputError if there is no run, if the run is damaged, or if it has no draws after the warm-up.
Draws read_run(const std::filesystem::path& directory);

/// The parameters of largest likelihood that EM finds, whatever the priors are. Throws InputError if the
/// model has no EM, or if a prior has sampled arguments.
MixtureFit fit(const Posterior& posterior, const FitOptionsOfMixture& options = {});

/// Means, quantiles, Monte Carlo errors, ESS and R-hat of the quantities that match `patterns` (shell globs),
/// or of all quantities if `patterns` is empty. Throws InputError if no quantity matches, or if there are no
/// draws.
RunSummary summary(const Draws& draws, const std::vector<std::string>& patterns = {});
/// Writes the table with all rows.
std::ostream& operator<<(std::ostream& out, const RunSummary& summary);

/// The problems of a run, the worst first. is_trusted() judges the result.
std::vector<Finding> diagnose(const Draws& draws);

}  // namespace emomc
