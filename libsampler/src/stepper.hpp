// Enqueues the steps of one proposal kind for all chains, on the host or in a CUDA stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emomc/core/execution.hpp"
#include "emomc/device/metropolis.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

class Stepper {
 public:
  virtual ~Stepper() = default;
  virtual ProposalTraits traits() const = 0;
  /// For every chain: decides block `accept_block`, then proposes block `propose_block`; kNoBlock omits one
  /// of the two. `evaluated`: the engine has evaluated the candidates since the previous call.
  virtual void enqueue(const device::StepView& view, int accept_block, int propose_block,
                       bool evaluated) const = 0;
  /// Draws in advance (device::DrawnAhead) the random numbers of the next `num_steps` steps, at most as many
  /// as it has slots. Does nothing where it has no buffer, as on the host.
  virtual void draw_ahead(const device::StepView& view, std::int64_t num_steps) const = 0;
};

/// The names with commas between them.
std::string listed(const std::vector<std::string>& names);

/// Of any kind, gradient samplers too. Throws InputError for an unknown one, with the list of known kinds.
ProposalTraits traits_of_kind(const std::string& kind);

/// Throws InputError for a kind that is unknown or that has no stepper, as gradient samplers.
std::unique_ptr<Stepper> make_stepper(const std::string& kind, Device& device);

/// The same for one backend; returns nullptr for an unknown kind.
std::unique_ptr<Stepper> make_host_stepper(const std::string& kind);
std::unique_ptr<Stepper> make_cuda_stepper(const std::string& kind, Stream stream);

}  // namespace emomc
