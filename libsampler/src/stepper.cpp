#include "stepper.hpp"

#include "emomc/core/errors.hpp"
#include "emomc/device/proposals.hpp"
#include "emomc/sampler/run_chains.hpp"

namespace emomc {
namespace {

template <class Proposal>
class HostStepper final : public Stepper {
 public:
  ProposalTraits traits() const override { return traits_of<Proposal>(); }
  void enqueue(const device::StepView& view, int accept_block, int propose_block, bool) const override {
    for (int chain = 0; chain < view.num_chains; ++chain)
      device::transition<Proposal>(device::HostTeam{}, view, chain, accept_block, propose_block);
  }
  void draw_ahead(const device::StepView&, std::int64_t) const override {}
};

}  // namespace

std::vector<std::string> proposal_names() {
  std::vector<std::string> names;
#define EMOMC_NAME(Proposal) names.emplace_back(device::Proposal::name);
  EMOMC_PROPOSALS(EMOMC_NAME)
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

std::unique_ptr<Stepper> make_stepper(const std::string& kind, Device& device) {
  auto stepper =
      device.kind() == DeviceKind::cuda ? make_cuda_stepper(kind, device.stream()) : make_host_stepper(kind);
  if (stepper) return stepper;
  std::string known;
  for (const auto& name : proposal_names()) known += (known.empty() ? "" : ", ") + name;
  throw InputError("sampler.proposal.kind: " + kind + " is not known; allowed: " + known);
}

}  // namespace emomc
