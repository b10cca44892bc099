#include "emomc/sampler/tempering.hpp"

#include <cmath>

#include "emomc/core/errors.hpp"

namespace emomc {

std::string chain_text(std::uint64_t chain_id) {
  const std::string chain = std::to_string(chain_id % kRungStride);
  return rung_of(chain_id) == 0 ? chain : chain + " of rung " + std::to_string(rung_of(chain_id));
}

void check_tempering(const Tempering& tempering, const std::string& key) {
  const auto refuse = [&](const std::string& what) { throw InputError(key + what); };
  const std::string number = std::to_string(tempering.rungs);
  if (tempering.rungs < 1 || tempering.rungs > kMostRungs)
    refuse(".rungs: " + number + " is out of range; allowed: 1 to " + std::to_string(kMostRungs) +
           ", 1: no tempering");
  if (tempering.every < 0) refuse(".every: it must not be negative; allowed: auto, or 1 or more");
  if (tempering.is_adaptive()) return;
  const auto& betas = tempering.betas;
  if (betas.size() != static_cast<std::size_t>(tempering.rungs))
    refuse(".ladder: " + std::to_string(betas.size()) + " powers for " + number +
           " rungs; allowed: adaptive, or as many as rungs");
  bool decreases = betas[0] == 1 && betas.back() >= 0;
  for (std::size_t k = 1; k < betas.size(); ++k) decreases = decreases && betas[k] < betas[k - 1];
  if (!decreases)
    refuse(
        ".ladder: it does not decrease from 1; allowed: adaptive, or powers that decrease from 1 to 0 or "
        "more");
}

std::vector<double> first_betas(const Tempering& tempering) {
  if (!tempering.is_adaptive()) return tempering.betas;
  std::vector<double> betas;
  for (int k = 0; k < tempering.rungs; ++k)
    betas.push_back(std::pow(1 - static_cast<double>(k) / (tempering.rungs - 1), 5));
  return betas;
}

std::vector<ChainPlan> tempered_plans(const std::vector<ChainPlan>& plans, const Tempering& tempering) {
  if (!tempering.is_on()) return plans;
  check_tempering(tempering);
  const std::vector<double> betas = first_betas(tempering);
  std::vector<ChainPlan> all;
  for (std::size_t k = 0; k < betas.size(); ++k)
    for (const ChainPlan& plan : plans) {
      if (plan.group != 0 || plan.beta != 1 || plan.id >= kRungStride)
        throw InputError("sampler.tempering.rungs: only the chains of one posterior can be tempered");
      ChainPlan rung = plan;
      rung.id += k * kRungStride;
      rung.group = static_cast<int>(k);
      rung.beta = betas[k];
      all.push_back(std::move(rung));
    }
  return all;
}

}  // namespace emomc
