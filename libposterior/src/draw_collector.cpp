#include "draw_collector.hpp"

#include <algorithm>

namespace emomc {

DrawCollector::DrawCollector(const RunConfig& config, const RunSetup& setup,
                             std::function<bool(const Progress&)> on_progress)
    : config_(config),
      setup_(setup),
      tell_(std::move(on_progress)),
      started_(std::chrono::steady_clock::now()),
      written_(setup),
      end_(config.sampler) {
  for (std::size_t c = 0; c < setup.plans.size(); ++c) {
    ChainDraws chain;
    chain.header = chain_header(config, setup, c);
    chain.first_warmup = chain.header.warmup;
    chain.accepted.assign(chain.header.block_names.size(), 0);
    chain.proposed = chain.accepted;
    chains_.push_back(std::move(chain));
  }
  for (int rung = 1; rung < config.sampler.tempering.rungs; ++rung)
    for (std::size_t c = 0; c < setup.plans.size(); ++c) {
      ChainDraws draws = chains_[c];
      draws.header = rung_header(config, setup, c, rung);
      rungs_.push_back(std::move(draws));
    }
}

void DrawCollector::on_draws(const DrawBatch& draws) {
  written_.for_each(draws, [&](std::size_t c, const DrawView& draw, const DrawStatistics* statistics) {
    ChainDraws& chain = chains_[c];
    chain.steps.push_back(draw.step);
    chain.log_prior.push_back(draw.log_prior);
    chain.log_likelihood.push_back(draw.log_likelihood);
    chain.parameters.insert(chain.parameters.end(), draw.parameters.begin(), draw.parameters.end());
    if (statistics) chain.statistics.push_back(*statistics);
    ++chain.num_draws;
  });
}

void DrawCollector::on_rungs(const RungBatch& draws) {
  for_each_of_rungs(written_, draws, chains_.size(), [&](std::size_t c, const DrawView& draw) {
    ChainDraws& rung = rungs_[c - chains_.size()];
    rung.steps.push_back(draw.step);
    rung.log_prior.push_back(draw.log_prior);
    rung.log_likelihood.push_back(draw.log_likelihood);
    ++rung.num_draws;
  });
}

RungDraws DrawCollector::rung_draws(const SamplerState& state) const {
  return rung_draws_of(chains_, rungs_, tempering_summary(state));
}

Continue DrawCollector::on_progress(const Progress& progress) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  end_.check_time(progress.step, elapsed.count());
  if (tell_ && !tell_(progress)) return Continue::stop;
  return end_.is_reached() ? Continue::stop : Continue::yes;
}

Decision DrawCollector::on_decision(std::int64_t /*num_draws*/) {
  RunFacts facts;
  facts.exchangeable_components = setup_.target->components_are_exchangeable();
  return end_.decide(inspect(std::move(facts)));
}

void DrawCollector::on_longer_warmup(std::int64_t end) {
  end_.begin_longer_warmup(end);
  std::vector<ChainDraws*> all;
  for (auto* part : {&chains_, &rungs_})
    for (ChainDraws& chain : *part) all.push_back(&chain);
  for (ChainDraws* each : all) {
    ChainDraws& chain = *each;
    chain.header.warmup = end;
    if (config_.output.keep_warmup) continue;
    chain.num_left_out += chain.num_draws;
    chain.num_draws = 0;
    chain.steps.clear();
    chain.log_prior.clear();
    chain.log_likelihood.clear();
    chain.parameters.clear();
    chain.statistics.clear();
  }
}

Inspection DrawCollector::inspect(RunFacts facts) const {
  DrawSet draws = draw_set_of(chains_, "memory");
  if (setup_.expression) add_derived(*setup_.expression, draws);
  const int superchains = config_.sampler.superchains;
  if (proposal_use(setup_.proposal.kind).other_chains) draws.chains_per_ensemble = chains_.size();
  if (superchains > 0) draws.chains_per_superchain = chains_.size() / static_cast<std::size_t>(superchains);
  draws.warmup_seconds = warmup_seconds_;
  draws.sampling_seconds = sampling_seconds_;
  return inspect_draws(std::move(draws), std::move(facts), Numbering::mended);
}

std::int64_t DrawCollector::num_draws() const {
  const std::vector<std::int64_t>& steps = chains_.at(0).steps;
  return std::count_if(steps.begin(), steps.end(), [&](std::int64_t s) { return s > end_.warmup_end(); });
}

std::vector<ChainDraws> DrawCollector::take_chains() { return std::move(chains_); }

void DrawCollector::set_acceptance(const SamplerState& state) {
  if (state.step <= end_.warmup_end()) return;
  const auto num_blocks = static_cast<std::ptrdiff_t>(state.num_blocks);
  for (std::size_t c = 0; c < chains_.size() + rungs_.size(); ++c) {
    ChainDraws& chain = c < chains_.size() ? chains_[c] : rungs_[c - chains_.size()];
    const auto first = static_cast<std::ptrdiff_t>(c) * num_blocks;
    chain.accepted.assign(state.accepted.begin() + first, state.accepted.begin() + first + num_blocks);
    chain.proposed.assign(state.proposed.begin() + first, state.proposed.begin() + first + num_blocks);
  }
}

void DrawCollector::set_seconds(double warmup, double sampling) {
  warmup_seconds_ = warmup;
  sampling_seconds_ = sampling;
}

}  // namespace emomc
