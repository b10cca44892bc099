#include "emomc/posterior/run_end.hpp"

#include <algorithm>

#include "emomc/sampler/stopping.hpp"

namespace emomc {

RunEnd::RunEnd(const SamplerConfig& sampler)
    : sampler_(sampler), warmup_(sampler.warmup), warmup_end_(sampler.warmup) {}

void RunEnd::resume(const SamplerState& state) {
  warmup_ = state.warmup;
  warmup_end_ = state.warmup_begin + warmup_;
}

void RunEnd::check_time(std::int64_t step, double seconds) {
  const double most = sampler_.until.seconds;
  if (most > 0 && step >= warmup_end_ + kFirstDecision * sampler_.thin && seconds >= most)
    ended_by_ = "seconds";
}

Decision RunEnd::decide(const DrawDiagnostics& draws) {
  const StoppingRule rule{sampler_.until.ess, sampler_.thin, sampler_.chooses_warmup ? kLongestWarmup : 0};
  const Decision decision = emomc::decide(rule, draws, warmup_);
  if (decision == Decision::enough) ended_by_ = sampler_.until.ess > 0 ? "ess" : "converged";
  return decision;
}

void RunEnd::begin_longer_warmup(std::int64_t end) {
  warmup_ = std::max<std::int64_t>(1, 2 * warmup_);
  warmup_end_ = end;
}

std::string RunEnd::ended_by(const RunResult& result) const {
  const bool complete = result.state.step == warmup_end_ + sampler_.draws * sampler_.thin;
  return complete ? "" : ended_by_;
}

}  // namespace emomc
