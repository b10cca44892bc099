#include "chain_runner.hpp"

#include <algorithm>
#include <cmath>

#include "chain_checks.hpp"
#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

// The target for the length of a segment; RunOptions::segment_steps allows at most 0.05 s.
constexpr double kSegmentSeconds = 0.03;
constexpr std::uint64_t kProposalsBeforeNanShare = 1000;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Communicator& ranks_of_run(const LikelihoodEngine& engine, const RunOptions& options) {
  if (Communicator* ranks = engine.row_ranks()) return *ranks;
  return options.ranks ? *options.ranks : single_rank();
}

}  // namespace

void Pace::segment_took(std::int64_t steps, double seconds) {
  if (steps <= 0) return;
  const double rate = static_cast<double>(steps) / std::max(seconds, 1e-6);
  steps_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(rate * kSegmentSeconds), 1, 4 * steps);
}

ChainRunner::ChainRunner(LikelihoodEngine& engine, std::span<const Target> targets,
                         const ProposalSpec& proposal, const std::vector<ChainPlan>& plans,
                         const RunOptions& options, DrawHandler& handler)
    : engine_(engine),
      targets_(targets),
      target_(targets[0]),
      plans_(plans),
      options_(options),
      handler_(handler),
      blocks_(plan_blocks(traits_of_kind(proposal.kind), proposal.shape, target_)),
      share_(ranks_of_run(engine, options), plans.size(), proposal_use(proposal.kind).other_chains,
             engine.row_ranks() != nullptr),
      own_plans_(share_.mine(plans)),
      caches_(usable_caches()),
      record_(plan_record(target_, plans.size())),
      adaptation_(make_warm_up(blocks_, proposal, plans, target_.dim_unconstrained(), options.warmup,
                               engine.num_rows())),
      warmup_(options.warmup),
      windows_(adaptation_->window_ends(warmup_)),
      pace_(options.segment_steps),
      started_(Clock::now()) {
  engine.allocate(own_plans_, caches_);
  refuse_too_much(engine.device(), targets, proposal, own_plans_);
  ensemble_ = std::make_unique<Ensemble>(
      engine.device(), targets, blocks_, own_plans_, num_groups(plans), options.seed, record_,
      share_.gathers_likelihoods() ? share_.evaluated() : RankRange{0, own_plans_.size()});
  if (share_.gathers_likelihoods())
    connection_ = options.connection ? options.connection : connect_devices(engine.device(), share_.ranks());
  current_gather_ = log_likelihood_gather();
  if (options.tempering.is_on()) {
    std::vector<std::uint64_t> ids;
    for (const ChainPlan& plan : plans) ids.push_back(plan.id);
    exchanges_ = std::make_unique<Exchanges>(options.tempering, std::move(ids), options.seed,
                                             exchange_interval(options.tempering, blocks_));
  }
  if (blocks_.traits.gradient()) {
    trajectories_ = make_trajectories(proposal.kind, engine, *ensemble_, record_);
    segments_ = std::make_unique<SegmentRunner>(engine, *ensemble_, *trajectories_, blocks_, record_);
    counts_.emplace(*trajectories_, share_, plans.size());
    return;
  }
  stepper_ = make_stepper(proposal.kind, engine.device());
  const bool at_edge = std::any_of(targets.begin(), targets.end(),
                                   [](const Target& target) { return target.reaches_edge_of_support(); });
  if (at_edge) why_not_resident_ = "a prior leads to values that a double does not hold";
  if (current_gather_) why_not_resident_ = "chains move by the state of others, which are on other ranks";
  segments_ = std::make_unique<SegmentRunner>(
      engine, *ensemble_, *stepper_, blocks_, caches_, record_,
      at_edge || current_gather_ || options.kernels == StepKernels::launched
          ? nullptr
          : make_resident_chains(engine, *ensemble_, proposal.kind, blocks_, own_plans_, options.kernels,
                                 caches_ == ComponentCaches::on, why_not_resident_),
      log_likelihood_gather());
}

std::unique_ptr<RankGather> ChainRunner::log_likelihood_gather() const {
  return connection_ ? std::make_unique<RankGather>(connection_, share_.counts(sizeof(double))) : nullptr;
}

void ChainRunner::upload_points(const std::vector<double>& u) {
  ensemble_->upload_points(share_.mine(u, static_cast<std::size_t>(target_.dim_unconstrained())), targets_);
}

void ChainRunner::upload_counters(const std::vector<std::uint64_t>& accepted,
                                  const std::vector<std::uint64_t>& proposed,
                                  const std::vector<std::uint64_t>& faults) {
  ensemble_->upload_counters(share_.mine(accepted, num_blocks()), share_.mine(proposed, num_blocks()),
                             share_.mine(faults, 1));
}

ChainRunner::Counters ChainRunner::counters() const {
  return {share_.all(ensemble_->accepted(), num_blocks()), share_.all(ensemble_->proposed(), num_blocks()),
          share_.all(ensemble_->faults(), 1)};
}

void ChainRunner::start(std::span<const double> starts) {
  const auto dim = static_cast<std::size_t>(target_.dim()),
             dim_u = static_cast<std::size_t>(target_.dim_unconstrained());
  if (starts.size() != plans_.size() * dim) throw std::invalid_argument("run_chains: starts of another size");
  std::vector<double> u(plans_.size() * dim_u);
  for (std::size_t c = 0; c < plans_.size(); ++c)
    target_of(targets_, plans_[c].group)
        .unconstrain(starts.subspan(c * dim, dim), {u.data() + c * dim_u, dim_u});
  upload_points(u);
  ensemble_->upload_adapted(adaptation_->adapted());
  begin_window();
  evaluate_current();
  refuse_unusable_starts(plans_, share_, *ensemble_, trajectories_.get());
  find_step_sizes();
}

void ChainRunner::resume(const SamplerState& state) {
  const auto chains = static_cast<int>(plans_.size());
  if (state.num_chains != chains || state.dim_unconstrained != target_.dim_unconstrained() ||
      state.num_blocks != ensemble_->view().num_blocks)
    throw InputError("checkpoint: it has other chains or parameters than this configuration");
  if (state.warmup < 0 || state.warmup_begin < 0 || state.warmup_begin > state.step)
    throw InputError("checkpoint: it has an impossible warm-up");
  warmup_begin_ = state.warmup_begin;
  warmup_ = state.warmup;
  windows_ = adaptation_->window_ends(warmup_);
  adaptation_->begin_warmup(warmup_);
  if (state.step < 0 || state.step > num_steps())
    throw InputError("checkpoint: it stands at step " + std::to_string(state.step) + ", this run has " +
                     std::to_string(num_steps()));
  if (state.window_accepted.size() != state.accepted.size() ||
      state.window_proposed.size() != state.accepted.size())
    throw InputError("checkpoint: it has other proposal blocks than this configuration");
  step_ = state.step;
  evaluations_ = state.num_evaluations;
  window_accepted_ = state.window_accepted;
  window_proposed_ = state.window_proposed;
  const std::span<const double> saved(state.adaptation);
  const std::size_t num_counts = std::min(saved.size(), counts_ ? counts_->num_saved() : 0);
  adaptation_->restore(saved.first(saved.size() - num_counts));
  if (counts_) counts_->restore(saved.last(num_counts), evaluations_);
  if (!exchanges_ && !state.tempering.empty())
    throw InputError("checkpoint: it has rungs, and this configuration has none");
  if (exchanges_) {
    exchanges_->restore(state.tempering);
    upload_betas();
  }
  upload_points(state.unconstrained);
  ensemble_->upload_adapted(adaptation_->adapted());
  ensemble_->upload_step(step_);
  upload_counters(state.accepted, state.proposed, state.faults);
  evaluate_current();
  const auto& current = ensemble_->view().current;
  refuse_another_density(plans_, state.log_prior, all_scalars(current.log_prior), "log prior");
  refuse_another_density(plans_, state.log_likelihood, all_scalars(current.log_likelihood), "log likelihood");
}

RunResult ChainRunner::run() {
  RunResult result;
  Sampled sampled = Sampled::too_early;
  while (sampled == Sampled::too_early) {
    // Sampling that was rejected as too early counts as warm-up.
    result.warmup_seconds += result.sampling_seconds;
    const auto warmup_started = Clock::now();
    const bool going = run_warmup();
    result.warmup_seconds += seconds_since(warmup_started);
    const auto sampling_started = Clock::now();
    sampled = going ? run_sampling() : Sampled::stopped;
    result.sampling_seconds = seconds_since(sampling_started);
  }
  result.finished = sampled == Sampled::finished;
  result.state = state();
  result.num_evaluations = evaluations();
  result.adaptation_drift = adaptation_->drift();
  result.gather_seconds = share_.seconds();
  if (counts_) result.trajectories = counts_->summary();
  if (engine_.device().kind() == DeviceKind::cuda) result.stepping = segments_->stepping(why_not_resident_);
  return result;
}

ComponentCaches ChainRunner::usable_caches() const {
  return options_.caches == ComponentCaches::on && engine_.capabilities().components &&
                 blocks_.uses_component_caches() && !share_.gathers_likelihoods()
             ? ComponentCaches::on
             : ComponentCaches::off;
}

void ChainRunner::evaluate_current() {
  if (trajectories_) {
    trajectories_->evaluate_current();
    return;
  }
  const ActiveSet mine = ensemble_->movers(kAllChains);
  engine_.evaluate(ensemble_->current_view(), mine);
  if (current_gather_) current_gather_->enqueue(ensemble_->current_view().log_likelihood);
  if (caches_ == ComponentCaches::on) engine_.rebuild_caches(ensemble_->current_view(), mine);
  engine_.device().synchronize();
}

void ChainRunner::find_step_sizes() {
  while (counts_ && adaptation_->is_trying()) {
    adaptation_->tried(share_.all(trajectories_->try_step(), 1));
    counts_->add_evaluations(plans_.size());
    ensemble_->upload_adapted(adaptation_->adapted());
  }
}

SamplerState ChainRunner::state() const {
  SamplerState state;
  const auto& view = ensemble_->view();
  state.step = step_;
  state.num_chains = static_cast<int>(plans_.size());
  state.dim_unconstrained = target_.dim_unconstrained();
  state.dim = target_.dim();
  state.num_blocks = view.num_blocks;
  state.unconstrained = all_points();
  state.log_prior = all_scalars(view.current.log_prior);
  state.log_likelihood = all_scalars(view.current.log_likelihood);
  state.log_jacobian = all_scalars(view.current.log_jacobian);
  state.warmup_begin = warmup_begin_;
  state.warmup = warmup_;
  state.adaptation = adaptation_->save();
  if (exchanges_) state.tempering = exchanges_->save();
  if (counts_) counts_->append_to(state.adaptation);
  Counters counted = counters();
  state.accepted = std::move(counted.accepted);
  state.proposed = std::move(counted.proposed);
  state.faults = std::move(counted.faults);
  state.window_accepted = window_accepted_;
  state.window_proposed = window_proposed_;
  state.num_evaluations = evaluations();
  return state;
}

// Runs at most one segment, up to step `end` at most; `drain` receives finished segments.
void ChainRunner::run_segment(std::int64_t end, std::int64_t origin, std::int64_t every, CopyPoints copy,
                              const SegmentRunner::Drain& drain) {
  const std::int64_t room = record_.slots_per_half * every;
  const std::int64_t to_state =
      options_.state_every > 0 ? options_.state_every - step_ % options_.state_every : end - step_;
  const std::int64_t to_exchange =
      exchanges_ ? exchanges_->every() - step_ % exchanges_->every() : end - step_;
  const std::int64_t steps = std::min({end - step_, pace_.steps(), room, to_state, to_exchange});
  segments_->run(step_, steps, origin, every, copy, gathered(drain));
  step_ += steps;
  if (!trajectories_)
    evaluations_ += static_cast<std::uint64_t>(steps * segments_->evaluations_per_step()) * plans_.size();
  if (!exchanges_ || step_ % exchanges_->every() != 0) return;
  finish(drain);
  exchange();
}

SegmentRunner::Drain ChainRunner::gathered(const SegmentRunner::Drain& drain) {
  return [this, &drain](const SegmentResult& segment) {
    drain(share_.all(segment, {static_cast<std::size_t>(target_.dim_unconstrained()),
                               static_cast<std::size_t>(target_.dim()), num_blocks()}));
  };
}

Continue ChainRunner::report(const SegmentResult& segment) {
  if (counts_) counts_->update(segment.totals);
  pace_.segment_took(segment.end_step - segment.first_step, segment.seconds);
  const auto chains = plans_.size();
  const std::size_t num_blocks = this->num_blocks();
  double accepted = 0, proposed = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    std::uint64_t chain_proposed = 0;
    for (std::size_t b = 0; b < num_blocks; ++b) {
      accepted += static_cast<double>(segment.accepted[c * num_blocks + b]);
      chain_proposed += segment.proposed[c * num_blocks + b];
    }
    proposed += static_cast<double>(chain_proposed);
    // While steps are learnt and starts of a wide prior come in, chains are far out of the posterior, where a
    // density may overflow.
    if (segment.end_step <= warmup_end()) continue;
    // Chains that sample the prior also reach points at which a density may overflow; these points are drawn
    // anew at each exchange.
    if (exchanges_ && exchanges_->beta_of(c) == 0) continue;
    if (chain_proposed >= kProposalsBeforeNanShare &&
        static_cast<double>(segment.faults[c]) > options_.max_nan_share * static_cast<double>(chain_proposed))
      throw DensityError("chain " + chain_text(plans_[c].id) + ": " + std::to_string(segment.faults[c]) +
                         " of " + std::to_string(chain_proposed) +
                         " proposals had a density of NaN or plus infinity, more than sampler.max_nan_share");
  }
  Progress progress{segment.end_step, num_steps(), warmup_end(), proposed > 0 ? accepted / proposed : 0.0,
                    seconds_since(started_)};
  if (counts_) {
    progress.mean_acceptance = counts_->mean_acceptance();
    progress.trajectories = counts_->summary();
  }
  return agreed(handler_.on_progress(progress));
}

void ChainRunner::hand_over(const SegmentResult& segment, bool warmup, std::int64_t every) {
  // More steps may have been recorded than draws are requested.
  const std::int64_t origin = warmup ? 0 : warmup_end();
  if (every == options_.thin && segment.num_kept > 0) {
    send(segment, warmup, 0, segment.num_kept, segment.origin + every);
    return;
  }
  for (std::int64_t i = 0; i < segment.num_kept; ++i) {
    const std::int64_t step = segment.origin + (i + 1) * every;
    if ((step - origin) % options_.thin == 0) send(segment, warmup, i, 1, step);
  }
}

// Returns false if the handler stopped the run.
bool ChainRunner::run_warmup() {
  std::int64_t begin = warmup_begin_;
  for (const std::int64_t length : windows_) {
    const std::int64_t end = warmup_begin_ + length;
    if (end > step_ && !run_window(begin, end)) return false;
    begin = end;
  }
  return true;
}

// Runs the rest of the window from `begin` to `end`.
bool ChainRunner::run_window(std::int64_t begin, std::int64_t end) {
  const std::int64_t stride = adaptation_->stride(begin - warmup_begin_, end - warmup_begin_);
  const std::int64_t every = options_.keep_warmup ? 1 : stride;
  bool stop = false;
  const auto drain = [&](const SegmentResult& segment) {
    learn_from(segment, begin, every, stride);
    if (options_.keep_warmup) hand_over(segment, true, every);
    if (report(segment) == Continue::stop) stop = true;
  };
  while (step_ < end) {
    run_segment(end, begin, every, options_.keep_warmup ? CopyPoints::both : CopyPoints::u, drain);
    const bool wanted = agreed(handler_.wants_state(step_));
    if (step_ < end && !stop && !wanted) continue;
    finish(drain);
    if (step_ == end) end_window(end);
    if (stop || wanted) handler_.on_state(state());
    if (stop) return false;
  }
  return true;
}

void ChainRunner::begin_window() {
  Counters counted = counters();
  window_accepted_ = std::move(counted.accepted);
  window_proposed_ = std::move(counted.proposed);
  if (counts_) counts_->begin_window();
}

void ChainRunner::learn_from(const SegmentResult& segment, std::int64_t begin, std::int64_t every,
                             std::int64_t stride) {
  const auto chains = static_cast<int>(plans_.size());
  const auto dim_u = static_cast<std::size_t>(target_.dim_unconstrained());
  for (std::int64_t i = 0; i < segment.num_kept; ++i) {
    if ((segment.origin + (i + 1) * every - begin) % stride != 0) continue;
    for (int c = 0; c < chains; ++c) {
      const auto row = static_cast<std::size_t>(i * chains + c);
      const double power = exchanges_ ? exchanges_->beta_of(static_cast<std::size_t>(c)) : 1.0;
      adaptation_->add_point(c, {segment.u + row * dim_u, dim_u},
                             segment.log_prior[row] + power * segment.log_likelihood[row]);
    }
  }
}

void ChainRunner::end_window(std::int64_t end) {
  auto [accepted, proposed, faults] = counters();
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    accepted[i] -= window_accepted_[i];
    proposed[i] -= window_proposed_[i];
  }
  std::vector<double> acceptance, length_slope;
  if (counts_) {
    acceptance = counts_->window_acceptance();
    length_slope = counts_->window_length_slope();
  }
  adaptation_->end_window(end - warmup_begin_, {accepted, proposed, acceptance, length_slope});
  ensemble_->upload_adapted(adaptation_->adapted());
  find_step_sizes();
  if (end == warmup_end()) count_anew();
  begin_window();
}

void ChainRunner::count_anew() {
  const std::vector<std::uint64_t> zeros(plans_.size() * num_blocks()), no_faults(plans_.size());
  upload_counters(zeros, zeros, no_faults);
  if (counts_) counts_->begin_phase();
  if (exchanges_) exchanges_->begin_phase();
}

void ChainRunner::begin_longer_warmup() {
  warmup_begin_ = step_;
  warmup_ = std::max<std::int64_t>(1, 2 * warmup_);
  windows_ = adaptation_->window_ends(warmup_);
  adaptation_->begin_warmup(warmup_);
  count_anew();
  begin_window();
  handler_.on_longer_warmup(warmup_end());
}

ChainRunner::Sampled ChainRunner::run_sampling() {
  bool stop = false;
  const auto drain = [&](const SegmentResult& segment) {
    hand_over(segment, false, options_.thin);
    if (report(segment) == Continue::stop) stop = true;
  };
  Decision decision = Decision::more_draws;
  while (step_ < num_steps() && !stop) {
    const std::int64_t draws = (step_ - warmup_end()) / options_.thin;
    const auto& decisions = options_.decisions;
    const auto next = std::upper_bound(decisions.begin(), decisions.end(), draws);
    // A resumed run may be at the step of a decision.
    const bool due =
        next != decisions.begin() && next[-1] == draws && (step_ - warmup_end()) % options_.thin == 0;
    if (due) {
      finish(drain);
      if (stop) break;
      decision = agreed(handler_.on_decision(draws));
      if (decision == Decision::enough) break;
      if (decision == Decision::longer_warmup) {
        begin_longer_warmup();
        return Sampled::too_early;
      }
    }
    const std::int64_t end =
        next == decisions.end() ? num_steps() : std::min(num_steps(), warmup_end() + *next * options_.thin);
    run_segment(end, warmup_end(), options_.thin, CopyPoints::theta, drain);
    if (!stop && agreed(handler_.wants_state(step_))) {
      finish(drain);
      handler_.on_state(state());
    }
  }
  finish(drain);
  handler_.on_state(state());
  return decision == Decision::enough || step_ == num_steps() ? Sampled::finished : Sampled::stopped;
}

}  // namespace emomc
