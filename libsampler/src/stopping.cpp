#include "emomc/sampler/stopping.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace emomc {
namespace {

constexpr std::int64_t kFirstLook = 250;
constexpr double kLookGrowth = 1.25;
constexpr double kUnsettledRhat = 1.1;

std::int64_t look_after(std::int64_t draws) {
  return static_cast<std::int64_t>(std::ceil(kLookGrowth * static_cast<double>(draws)));
}

// Returns the number of draws at the first check for convergence after at least `steps` steps.
std::int64_t first_look_from(std::int64_t steps, std::int64_t thin) {
  std::int64_t look = kFirstLook;
  while (look < (steps + thin - 1) / thin) look = look_after(look);
  return look;
}

bool is_unsettled(const DrawDiagnostics& run) {
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q)
    if (run.is_label_free(q) && !run.is_constant(q) && !(run.summaries[q].rhat <= kUnsettledRhat))
      return true;
  return false;
}

// The quantity with the smallest ESS among those that are not constant; `ess` is infinite if no quantity has
// an ESS.
struct Least {
  std::size_t quantity = 0;
  double ess = INFINITY;
};
Least least_ess(const DrawDiagnostics& run) {
  Least least;
  for (std::size_t q = 0; q < run.draws.num_quantities(); ++q) {
    const double ess = std::min(run.summaries[q].ess_bulk, run.summaries[q].ess_tail);
    if (!run.is_constant(q) && ess < least.ess) least = {q, ess};
  }
  return least;
}

template <class... Arguments>
std::string text(const char* format, const std::string& name, Arguments... arguments) {
  std::array<char, 200> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, arguments...);
  return name + buffer.data();
}

}  // namespace

std::vector<std::int64_t> looks_below(std::int64_t most) {
  std::vector<std::int64_t> looks;
  for (std::int64_t draws = kFirstLook; draws < most; draws = look_after(draws)) looks.push_back(draws);
  return looks;
}

Decision decide(const StoppingRule& rule, const DrawDiagnostics& run, std::int64_t warmup) {
  const auto draws = static_cast<std::int64_t>(run.draws.num_draws);
  const ConvergenceVerdict verdict = judge_convergence(run);
  if (verdict.converged() && verdict.reaches_ess && verdict.reaches_rhat && least_ess(run).ess >= rule.ess)
    return Decision::enough;
  const bool may_warm_up = 2 * warmup <= rule.most_warmup && draws == first_look_from(warmup, rule.thin);
  return may_warm_up && is_unsettled(run) ? Decision::longer_warmup : Decision::more_draws;
}

std::string worst_of(const DrawDiagnostics& run, double ess) { return worst_of(run, ess, run.draws.names); }

std::string worst_of(const DrawDiagnostics& run, double ess, const std::vector<std::string>& names) {
  const ConvergenceVerdict verdict = judge_convergence(run);
  if (verdict.too_few_draws) return "there are too few draws for any diagnostic";
  for (const FailedQuantities* failed : {&verdict.label_free, &verdict.parameters}) {
    if (!failed->rhat.empty()) {
      const std::size_t q = failed->rhat[0];
      return text(" is %.3f, at most %.3g is allowed", "R-hat of " + names[q], run.summaries[q].rhat,
                  run.rhat_bound(q));
    }
    if (!failed->trend.empty()) {
      const std::size_t q = failed->trend[0];
      if (run.tests[q].trend_is_of_scale)
        return text(" is %s in the first %.0f %% of the draws than later", "the spread of " + names[q],
                    run.tests[q].trend > 0 ? "larger" : "smaller", 100 * run.tests[q].trend_share);
      return text(" is %.2f posterior sds away from its later value in the first %.0f %% of the draws",
                  names[q], std::abs(run.tests[q].trend), 100 * run.tests[q].trend_share);
    }
    if (!failed->ess.empty()) {
      const std::size_t q = failed->ess[0];
      return text(" is %.0f, at least %.0f is needed", "the ESS of " + names[q],
                  std::min(run.summaries[q].ess_bulk, run.summaries[q].ess_tail),
                  std::max(run.least_ess(), ess));
    }
  }
  if (const Least least = least_ess(run); least.ess < ess)
    return text(" is %.0f, sampler.until.ess asks for %.6g", "the ESS of " + names[least.quantity], least.ess,
                ess);
  return "";
}

}  // namespace emomc
