#include "chain_checks.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

std::string difference_text(const char* name, std::uint64_t chain, double was, double is) {
  std::array<char, 200> text{};
  std::snprintf(
      text.data(), text.size(),
      "checkpoint: the %s of chain %s was %.17g, is now %.17g; data, backend or device have changed", name,
      chain_text(chain).c_str(), was, is);
  return text.data();
}

}  // namespace

void refuse_too_much(const Device& device, std::span<const Target> targets, const ProposalSpec& proposal,
                     const std::vector<ChainPlan>& plans) {
  const std::size_t needed = sampler_memory(device.kind(), targets, proposal, plans).total();
  const std::size_t free = device.free_bytes();
  if (needed <= free) return;
  throw MachineError(std::string("out of ") + (device.kind() == DeviceKind::cuda ? "GPU " : "") +
                     "memory: state and draws of " + std::to_string(plans.size()) + " chains take " +
                     std::to_string(needed) + " bytes, " + std::to_string(free) +
                     " are free; use fewer chains");
}

void refuse_unusable_starts(const std::vector<ChainPlan>& plans, const ChainShare& share,
                            const Ensemble& ensemble, const Trajectories* trajectories) {
  const auto& current = ensemble.view().current;
  const auto ll = share.all(ensemble.download_scalars(current.log_likelihood), 1);
  const auto prior = share.all(ensemble.download_scalars(current.log_prior), 1);
  for (std::size_t c = 0; c < plans.size(); ++c)
    if (!std::isfinite(ll[c]) || !std::isfinite(prior[c]))
      throw DensityError("start of chain " + chain_text(plans[c].id) + ": the log likelihood is " +
                         std::to_string(ll[c]) + " and the log prior " + std::to_string(prior[c]) +
                         "; both must be finite");
  if (!trajectories) return;
  const std::vector<bool> own = trajectories->arrays().have_finite_gradients();
  const auto finite = share.all(std::vector<std::uint8_t>(own.begin(), own.end()), 1);
  for (std::size_t c = 0; c < plans.size(); ++c)
    if (!finite[c])
      throw DensityError("start of chain " + chain_text(plans[c].id) +
                         ": the gradient of the log density is not finite");
}

void refuse_another_density(const std::vector<ChainPlan>& plans, const std::vector<double>& was,
                            const std::vector<double>& is, const char* name) {
  for (std::size_t c = 0; c < is.size(); ++c)
    if (is[c] != was.at(c)) throw InputError(difference_text(name, plans[c].id, was[c], is[c]));
}

}  // namespace emomc
