#include "stepper.hpp"

#include "emomc/core/errors.hpp"
#include "emomc/device/proposals.hpp"
#include "emomc/device/trajectories.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {
namespace {

template <class Proposal>
class HostStepper final : public Stepper {
 public:
  void enqueue(const device::StepView& view, int accept_block, int propose_block, bool) const override {
    for (int chain = 0; chain < view.num_chains; ++chain)
      device::transition<Proposal>(device::HostTeam{}, view, chain, accept_block, propose_block);
  }
  void draw_ahead(const device::StepView&, std::int64_t) const override {}
};

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> proposal_names() {
  std::vector<std::string> names;
#define EMOMC_NAME(Proposal) names.emplace_back(device::Proposal::name);
  EMOMC_PROPOSALS(EMOMC_NAME)
  EMOMC_TRAJECTORIES(EMOMC_NAME)
#undef EMOMC_NAME
  return names;
}

std::unique_ptr<Stepper> make_host_stepper(const std::string& kind) {
#define EMOMC_MAKE(Proposal) \
  if (kind == device::Proposal::name) return std::make_unique<HostStepper<device::Proposal>>();
  EMOMC_PROPOSALS(EMOMC_MAKE)
#undef EMOMC_MAKE
  return nullptr;
}

double default_target_acceptance(const std::string& kind) {
  constexpr double kOfRandomWalks = 0.234;  // Roberts, Gelman and Gilks 1997
#define EMOMC_TARGET(Kind) \
  if (kind == device::Kind::name) return device::Kind::target_acceptance;
  EMOMC_TRAJECTORIES(EMOMC_TARGET)
#undef EMOMC_TARGET
  return kOfRandomWalks;
}

ProposalTraits traits_of_kind(const std::string& kind) {
#define EMOMC_TRAITS(Proposal) \
  if (kind == device::Proposal::name) return traits_of<device::Proposal>();
  EMOMC_PROPOSALS(EMOMC_TRAITS)
  EMOMC_TRAJECTORIES(EMOMC_TRAITS)
#undef EMOMC_TRAITS
  throw InputError("sampler.proposal.kind: " + kind + " is not known; allowed: " + listed(proposal_names()));
}

std::unique_ptr<Stepper> make_stepper(const std::string& kind, Device& device) {
  auto stepper =
      device.kind() == DeviceKind::cuda ? make_cuda_stepper(kind, device.stream()) : make_host_stepper(kind);
  if (stepper) return stepper;
  throw InputError("sampler.proposal.kind: " + kind + " is not known; allowed: " + listed(proposal_names()));
}

}  // namespace emomc
