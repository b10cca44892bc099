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
  /// Decides block `accept_block` of every chain, then proposes block `propose_block`; kNoBlock omits one of
  /// the two. `evaluated`: whether the engine has evaluated the candidates since the previous call.
  virtual void enqueue(const device::StepView& view, int accept_block, int propose_block,
                       bool evaluated) const = 0;
  /// Draws in advance (device::DrawnAhead) the random numbers of the next `num_steps` steps, at most as many
  /// as there are slots. Does nothing if there is no buffer, as on the host.
  virtual void draw_ahead(const device::StepView& view, std::int64_t num_steps) const = 0;
};

/// Returns the names separated by commas.
std::string listed(const std::vector<std::string>& names);

/// Returns the traits of any kind, including gradient samplers. Throws InputError for an unknown kind, with
/// the list of known kinds.
ProposalTraits traits_of_kind(const std::string& kind);

/// Makes the stepper of a kind. Throws InputError if the kind is unknown or has no stepper, like gradient
/// samplers.
std::unique_ptr<Stepper> make_stepper(const std::string& kind, Device& device);

/// Make the stepper of a kind for one backend; return nullptr for an unknown kind.
std::unique_ptr<Stepper> make_host_stepper(const std::string& kind);
std::unique_ptr<Stepper> make_cuda_stepper(const std::string& kind, Stream stream);

}  // namespace emomc
