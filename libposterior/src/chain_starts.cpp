#include "emomc/posterior/chain_starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cluster_starts.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/device/random.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/likelihood/parameter_file.hpp"
#include "emomc/likelihood/standardize.hpp"
#include "emomc/posterior/gradient_check.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/empty_components.hpp"
#include "further_parameters.hpp"

namespace emomc {
namespace {

constexpr std::size_t kMostRefined = 8;
constexpr double kRowsOfOneThread = 2000;  // fewer rows do not justify more threads
constexpr double kMuchHigher = 4.6;        // log 100

// Proposals that use the states of other chains stay in the space that the starts span, and chains may share
// a start. Each start is therefore moved in every direction by about one posterior sd times `scale`.
void spread(const RunSetup& setup, std::uint32_t chain, std::uint64_t seed, double scale,
            std::vector<double>& theta) {
  const device::RandomSource random{seed, ~std::uint64_t{0}, chain};
  const double sd = scale / std::sqrt(1.0 + static_cast<double>(setup.loaded.data.num_rows) /
                                                std::max(1, setup.model.components));
  std::vector<double> u(static_cast<std::size_t>(setup.target->dim_unconstrained()));
  setup.target->unconstrain(theta, u);
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] += sd * random.normal(device::Purpose::start, static_cast<device::u32>(i));
  setup.target->constrain(u, theta);
}

double log_density(RunSetup& setup, const std::vector<double>& theta) {
  std::vector<double> sums(setup.engine->num_segments());
  setup.engine->sums_by_segment(theta.data(), 1, sums.data());
  double total = setup.target->log_prior(theta);
  for (double sum : sums) total += sum;
  return total;
}

// Spreads the start of a chain. If bounds of the prior exclude the moved point, the distance is halved.
void spread_inside(RunSetup& setup, std::uint32_t chain, std::uint64_t seed, std::vector<double>& theta) {
  constexpr int kHalvings = 30;
  for (int halving = 0; halving < kHalvings; ++halving) {
    std::vector<double> moved = theta;
    spread(setup, chain, seed, std::ldexp(1.0, -halving), moved);
    if (!std::isfinite(log_density(setup, moved))) continue;
    theta = std::move(moved);
    return;
  }
}

// Whether two points are equal up to rounding.
bool is_same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](double x, double y) { return std::abs(x - y) <= 1e-6 * (1 + std::abs(x)); });
}

// Refines optima that were found with some of the rows by fits to all rows.
void refine(const MixturePool& pool, const Target& target, std::vector<Optimum>& found) {
  if (found.size() > kMostRefined) found.resize(kMostRefined);
  for (Optimum& optimum : found) {
    const double before = optimum.log_likelihood + optimum.log_prior;
    const auto fit = pool.refined(pool.fits()[optimum.members.front()]);
    if (!fit) continue;
    std::vector<double> theta = target.with_arguments_of(fit->theta);
    theta = permute_components(target.layout(), order_of_prior(target, theta), theta);
    target.move_inside(theta);
    const double log_prior = target.log_prior(theta);
    if (!std::isfinite(log_prior) || !std::isfinite(fit->log_likelihood)) continue;
    optimum.theta = std::move(theta);
    optimum.log_likelihood = fit->log_likelihood;
    optimum.log_prior = log_prior;
    optimum.log_mass += optimum.log_likelihood + log_prior - before;
  }
  if (!found.empty()) rank_by_mass(found);
}

// Returns the values of a row of the data, as in " (x = 1.5, n = 2)"; empty if they cannot be read again.
std::string values_of_row(const RunConfig& config, const RunSetup& setup, std::size_t row) {
  constexpr std::size_t kMostShown = 8;
  const Table& used = setup.loaded.table;
  try {
    const Table table = read_table(table_request(config.data, config.likelihood.expression, used.columns));
    if (table.columns != used.columns || table.num_rows != used.num_rows) return "";
    std::string text;
    for (std::size_t j = 0; j < std::min(table.columns.size(), kMostShown); ++j)
      text += fmt::format("{}{} = {}", j ? ", " : "", table.columns[j],
                          shortest_text(table.values[row * table.columns.size() + j]));
    return " (" + text + (table.columns.size() > kMostShown ? ", ...)" : ")");
  } catch (const InputError&) {  // for example, the data are in memory
    return "";
  }
}

// Returns the term of the log density at `theta` that is not finite: the prior, or the first row of the data
// whose log density is not finite.
std::string term_not_finite(const RunConfig& config, RunSetup& setup, const std::vector<double>& theta) {
  const double log_prior = setup.target->log_prior(theta);
  std::vector<double> rows(std::max(setup.engine->num_rows(), setup.loaded.data.num_rows));
  setup.engine->evaluate_rows(theta.data(), rows.data());
  if (!std::isfinite(log_prior)) return fmt::format("the log prior is {}", log_prior);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!std::isfinite(rows[i]))
      return fmt::format("the log density of row {} of the data{} is {}", i + 1,
                         values_of_row(config, setup, i), rows[i]);
  return "the log densities of the rows are finite, and their sum is not";
}

std::vector<double> given_start(const RunConfig& config, RunSetup& setup) {
  const std::string& init = config.sampler.init;
  const Target& target = *setup.target;
  std::vector<double> given = read_parameter_file(init, target.layout());
  to_sampler_units(target.layout(), setup.loaded.units, given);
  const std::vector<int> order = order_of_prior(target, given);
  const std::vector<double> renumbered = permute_components(target.layout(), order, given);
  if (target.log_prior(renumbered) > target.log_prior(given) + kMuchHigher) {
    std::string text;
    for (const int k : order) text += fmt::format("{}{}", text.empty() ? "" : " ", k);
    setup.starts.renumbered = fmt::format(
        "the prior tells components apart, so those of {} are taken in the order {}: log prior {:.2f} "
        "in place of {:.2f}",
        init, text, target.log_prior(renumbered), target.log_prior(given));
    given = renumbered;
  }
  std::vector<double> u(static_cast<std::size_t>(target.dim_unconstrained()));
  try {
    target.unconstrain(given, u);
  } catch (const InputError& error) {
    throw InputError("sampler.init: " + init + ": " + error.what());
  }
  if (!std::isfinite(log_density(setup, given)))
    throw InputError("sampler.init: " + init +
                     ": the density there is not finite: " + term_not_finite(config, setup, given));
  return given;
}

// Whether a gradient sampler can start at theta, whose density is finite. The gradient need not be: a term of
// no weight in a mixture can have an infinite derivative.
bool has_finite_gradient(RunSetup& setup, const std::vector<double>& theta) {
  const PosteriorGradient at = posterior_gradient(*setup.target, *setup.engine, theta);
  return std::all_of(at.gradient.begin(), at.gradient.end(), [](double g) { return std::isfinite(g); });
}

std::vector<double> start_of_prior(const RunConfig& config, RunSetup& setup, std::uint32_t chain) {
  const bool needs_gradient = proposal_use(setup.proposal.kind).gradient;
  bool lacks_gradient = false;
  std::vector<double> theta;
  for (int attempt = 0; attempt < config.sampler.init_tries; ++attempt) {
    theta = setup.target->draw_from_prior(config.sampler.seed, chain, static_cast<std::uint64_t>(attempt));
    setup.target->move_inside(theta);
    lacks_gradient = false;
    if (!std::isfinite(log_density(setup, theta))) continue;
    if (!needs_gradient || has_finite_gradient(setup, theta)) return theta;
    lacks_gradient = true;
  }
  std::vector<std::string> others = starts_of_likelihood(config.likelihood);
  std::erase(others, "prior");
  throw InputError(
      fmt::format("sampler.init: prior: no start of finite density{} for chain {} in sampler.init_tries = {} "
                  "tries; at the "
                  "last one {}; use {}a parameter file, or a narrower prior",
                  needs_gradient ? " and gradient" : "", chain_text(chain), config.sampler.init_tries,
                  lacks_gradient ? "the gradient of the log density is not finite"
                                 : term_not_finite(config, setup, theta),
                  others.empty() ? "" : "init " + joined(others) + " or "));
}

// Describes the optima in `report`; find_starts adds the chains.
void report_optima(const PoolStarts& starts, const Optima& optima, double offset, StartReport& report) {
  report.num_fits = optima.num_fits;
  report.num_degenerate = optima.num_degenerate_fits();
  report.only_degenerate = optima.found.empty();
  const auto height = [&](const Optimum& o) { return o.log_likelihood + o.log_prior + offset; };
  if (!optima.degenerate.empty()) report.best_degenerate = height(optima.degenerate.front());
  for (std::size_t i = 0; i < num_heavy(starts.optima()); ++i) {
    const Optimum& o = starts.optima()[i];
    report.optima.push_back({height(o), o.share, o.members.size(), {}, 0, o.num_empty});
  }
}

std::unique_ptr<LikelihoodEngine> engine_of_pool(const MixturePool& pool, const ModelSpec& model,
                                                 Device& device, int num_threads) {
  const bool few = static_cast<double>(pool.rows().num_rows) < kRowsOfOneThread;
  return make_engine(Backend::cpu, model, Precision::float64, pool.rows(), device, few ? 1 : num_threads);
}

double sum_of_masses(const std::vector<Optimum>& optima, double unit) {
  double sum = 0;
  for (const Optimum& o : optima) sum += std::exp(o.log_mass - unit);
  return sum;
}

// Adds the optima at which components have no rows; these are the optima of the same mixture with fewer
// components. The number of components is lowered by one until the optima of such a mixture have too little
// mass for a chain.
void add_empty_components(const RunConfig& config, const RunSetup& setup, PoolOptima& found) {
  const Target& target = *setup.target;
  const auto alpha = concentration_for_empty(target);
  const int K = setup.model.components;
  std::vector<Optimum>& all = found.optima.found;
  if (!alpha || (!all.empty() && !found.optima.full_curvature)) return;
  const DataSet& data = setup.loaded.data;
  const auto num_rows = static_cast<double>(data.num_rows);
  const auto device = make_device(Backend::cpu);
  const auto engine = engine_of_pool(found.pool, setup.model, *device, config.threads);
  PriorSet prior = config.prior;
  prior.order.clear();
  PoolOptions options = pool_options(config, setup);
  options.given.clear();
  std::uint32_t index = 0;
  for (int m = K - 1; m >= 1; --m) {
    ModelSpec model = setup.model;
    model.components = m;
    const auto target_of_fewer = make_target(model, prior, setup.loaded, config.data.standardize);
    const PoolOptima fewer = find_pool_optima(data, model, *target_of_fewer, options);
    if (!fewer.optima.full_curvature) return;
    std::vector<Optimum> added;
    for (const Optimum& optimum : fewer.optima.found)
      if (auto with_empty = with_empty_components(target, *engine, optimum, m, *alpha, num_rows,
                                                  config.sampler.seed, index++))
        added.push_back(std::move(*with_empty));
    if (added.empty()) return;
    const bool first = all.empty();
    const double unit = first ? added.front().log_mass : all.front().log_mass;
    const double before = sum_of_masses(all, unit), gained = sum_of_masses(added, unit);
    all.insert(all.end(), added.begin(), added.end());
    rank_by_mass(all);
    if (!first && gained < kLeastShareOfAChain * (before + gained)) return;
  }
}

}  // namespace

PoolOptima find_pool_optima(const DataSet& data, const ModelSpec& model, const Target& target,
                            PoolOptions options, double rows_count_as, std::size_t most_optima) {
  const int num_threads = options.num_threads;
  options.further = centre_of_further(model, data.dim, target, options.seed);
  PoolOptima found{MixturePool(data, model, std::move(options)), {}};
  std::vector<std::vector<double>> fits;
  for (const ShortFit& fit : found.pool.fits()) fits.push_back(fit.theta);
  const auto device = make_device(Backend::cpu);
  const auto engine = engine_of_pool(found.pool, model, *device, num_threads);
  found.optima =
      find_optima(target, *engine, fits, static_cast<double>(data.num_rows) * rows_count_as, most_optima);
  if (found.pool.rows().num_rows < data.num_rows) refine(found.pool, target, found.optima.found);
  return found;
}

PoolStarts::PoolStarts(const PoolOptima& found, const Target& target, const std::string& init,
                       std::uint64_t seed)
    : found_(found),
      target_(target),
      from_clusterings_(init == "kmeans"),
      seed_(seed),
      optima_(found.optima.found) {
  if (optima_.empty() && !found.optima.degenerate.empty()) {
    optima_.push_back(found.optima.degenerate.front());
    optima_.front().share = 1;
  }
  if (optima_.empty())
    throw InputError("sampler.init: " + init + ": the posterior density is zero at all " +
                     std::to_string(found.optima.num_fits) +
                     " fits of a mixture to the data; use init prior or a parameter file, or a wider prior");
  for (const Optimum& optimum : optima_) {
    std::vector<std::vector<double>> points;
    const auto add = [&](const std::vector<double>& theta) {
      const std::vector<double> point = aligned(target_, optimum.theta, theta);
      if (std::none_of(points.begin(), points.end(), [&](const auto& p) { return is_same(p, point); }))
        points.push_back(point);
    };
    for (const std::size_t m : optimum.members) {
      const ShortFit& fit = found_.pool.fits()[m];
      if (!from_clusterings_ || fit.seeding != Seeding::kmeans) continue;
      std::vector<double> theta = target_.with_arguments_of(fit.origin);
      theta = permute_components(target_.layout(), order_of_prior(target_, theta), theta);
      target_.move_inside(theta);
      if (std::isfinite(target_.log_prior(theta))) add(theta);
    }
    if (points.empty()) points.push_back(optimum.theta);
    std::reverse(points.begin(), points.end());
    left_.push_back(std::move(points));
  }
}

std::vector<double> PoolStarts::next(std::uint32_t chain) {
  optimum_ = optimum_of_chain(optima_, seed_, chain);
  auto& points = left_[optimum_];
  std::vector<double> theta;
  if (!points.empty()) {
    theta = std::move(points.back());
    points.pop_back();
  } else {
    theta = moved_about(target_, optima_[optimum_], optima_[optimum_].theta, 1, seed_, chain);
  }
  if (first_.empty())
    first_ = theta;
  else
    theta = aligned(target_, first_, theta);
  return theta;
}

PoolOptima find_run_optima(const RunConfig& config, const RunSetup& setup) {
  PoolOptima found =
      find_pool_optima(setup.loaded.data, setup.model, *setup.target, pool_options(config, setup));
  add_empty_components(config, setup, found);
  return found;
}

std::vector<double> find_starts(const RunConfig& config, RunSetup& setup) {
  const SamplerConfig& sampler = config.sampler;
  const bool from_pool = sampler.init == "kmeans" || sampler.init == "em",
             from_prior = sampler.init == "prior";
  const Target& target = *setup.target;
  setup.starts = {};
  setup.starts.init = sampler.init;
  std::optional<PoolOptima> found;
  std::optional<PoolStarts> pool;
  std::optional<ClusterStarts> clusters;
  std::vector<double> given;
  if (from_pool) {
    found.emplace(find_run_optima(config, setup));
    pool.emplace(*found, target, sampler.init, sampler.seed);
    report_optima(*pool, found->optima, log_likelihood_offset(setup.loaded.units, setup.loaded.data.num_rows),
                  setup.starts);
  } else if (sampler.init == "clusters") {
    clusters.emplace(setup, sampler.seed);
  } else if (!from_prior) {
    given = given_start(config, setup);
  }
  const bool others = proposal_use(setup.proposal.kind).other_chains;
  const int per_superchain = sampler.superchains > 0 ? sampler.chains / sampler.superchains : 1;
  // With dispersed starts, the rungs of one chain start at different places to find more modes; otherwise
  // they share one start.
  const int rungs = from_prior || clusters ? sampler.tempering.rungs : 1;
  std::vector<double> starts;
  std::set<std::vector<double>> distinct;
  for (int i = 0; i < rungs * sampler.chains; ++i) {
    const int rung = i / sampler.chains, chain = i % sampler.chains;
    const auto first_of_rung = static_cast<std::uint32_t>(rung) * static_cast<std::uint32_t>(kRungStride);
    const std::uint32_t id = first_of_rung + static_cast<std::uint32_t>(chain),
                        of_superchain = first_of_rung + static_cast<std::uint32_t>(chain / per_superchain);
    std::vector<double> theta = given;
    if (chain % per_superchain != 0) {
      theta.assign(starts.end() - target.dim(), starts.end());
    } else {
      if (from_prior) theta = start_of_prior(config, setup, id);
      if (clusters) theta = clusters->of_chain(of_superchain);
      if (pool) theta = pool->next(of_superchain);
      if (pool && !std::isfinite(log_density(setup, theta))) theta = pool->optima()[pool->optimum()].theta;
      if (others) spread_inside(setup, id, sampler.seed, theta);
    }
    if (pool) setup.starts.optima[pool->optimum()].chains.push_back(chain);
    if (rung == 0) distinct.insert(theta);
    starts.insert(starts.end(), theta.begin(), theta.end());
  }
  setup.starts.num_points = distinct.size();
  return starts;
}

void follow_draws_to_optima(const RunConfig& config, const RunSetup& setup, const DrawSet& draws,
                            StartReport& report) {
  constexpr double kMostDraws = 256, kFewestDraws = 64, kWork = 4e9;  // about ten seconds of one core
  constexpr std::size_t kExamined = 1024;
  constexpr int kRounds = 100;
  if (report.optima.size() < 2 || draws.num_draws == 0 || !model_info(setup.model).has_em) return;
  const PoolOptima found = find_run_optima(config, setup);
  const DataSet& rows = found.pool.rows();
  const ParameterLayout& layout = setup.engine->layout();
  const auto dim = static_cast<std::size_t>(layout.dim());
  const std::size_t total = draws.num_chains() * draws.num_draws;
  // The draw in the middle of the i-th of `count` stretches of all draws, with the chains one after another.
  const auto draw = [&](std::size_t i, std::size_t count) {
    const std::size_t at = (2 * i + 1) * total / (2 * count);
    std::vector<double> theta(dim);
    for (std::size_t p = 0; p < dim; ++p) theta[p] = draws.values[(draws.num_log_densities + p) * total + at];
    to_sampler_units(layout, setup.loaded.units, theta);
    return theta;
  };
  const auto climb = [&](const std::vector<double>& theta) {
    return refine_by_em(rows, setup.model, theta, kRounds, config.threads);
  };
  const auto device = make_device(Backend::cpu);
  const auto engine = engine_of_pool(found.pool, setup.model, *device, config.threads);
  const double alpha = concentration_for_empty(*setup.target).value_or(1);
  // For the optima with rows in all components: `places` in the report, and the `optima` after EM.
  std::vector<std::size_t> places;
  std::vector<std::vector<double>> optima, climbed;
  for (std::size_t i = 0; i < std::min(report.optima.size(), found.optima.found.size()); ++i) {
    StartReport::Place& place = report.optima[i];
    if (place.num_empty == 0) {
      places.push_back(i);
      optima.push_back(climb(found.optima.found[i].theta));
      continue;
    }
    EmptyMode mode(*setup.target, *engine, found.optima.found[i], alpha,
                   static_cast<double>(setup.loaded.data.num_rows), config.sampler.seed);
    place.num_examined = std::min(total, kExamined);
    place.recognised = mode.recognised();
    place.num_draws = 0;
    for (std::size_t d = 0; d < place.num_examined; ++d)
      place.num_draws += mode.contains(draw(d, place.num_examined));
  }
  const double each = kRounds * static_cast<double>(rows.num_rows) * static_cast<double>(dim);
  const auto count = std::min(
      total, static_cast<std::size_t>(std::clamp(kWork / std::max(each, 1.0), kFewestDraws, kMostDraws)));
  report.num_followed = count;
  if (optima.empty()) return;
  for (std::size_t i = 0; i < count; ++i) climbed.push_back(climb(draw(i, count)));
  // If two optima differ only in the order of their components, which a prior may tell apart, row densities
  // cannot distinguish them.
  const std::vector<std::size_t> first_like = nearest_fits(*engine, optima, optima);
  std::vector<std::size_t> counts(optima.size());
  for (const std::size_t nearest : nearest_fits(*engine, optima, climbed)) ++counts[nearest];
  for (std::size_t i = 0; i < optima.size(); ++i) report.optima[places[i]].num_draws = counts[first_like[i]];
}

PoolOptions pool_options(const RunConfig& config, const RunSetup& setup) {
  PoolOptions options;
  options.seed = config.sampler.seed;
  options.num_threads = config.threads;
  if (config.prior.scale_floor > 0)
    for (const double sd : setup.loaded.column_sd)
      options.smallest_scale.push_back(config.prior.scale_floor * sd);
  // If the prior differs between components, some starts of the fits are drawn from it.
  constexpr std::uint32_t kFromPrior = 8;
  constexpr std::uint32_t kNoChain = 1u << 31;
  if (!setup.target->components_are_exchangeable())
    for (std::uint32_t i = 0; i < kFromPrior; ++i) {
      std::vector<double> theta = setup.target->draw_from_prior(config.sampler.seed, kNoChain + i, 0);
      theta.resize(static_cast<std::size_t>(setup.engine->layout().dim()));
      options.given.push_back(std::move(theta));
    }
  return options;
}

}  // namespace emomc
