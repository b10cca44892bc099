// Enqueues the step body of one proposal kind for all chains, on the host or in a stream.
#pragma once

#include <memory>
#include <string>

#include "emomc/core/execution.hpp"
#include "emomc/device/metropolis.hpp"
#include "proposal_blocks.hpp"

namespace emomc {

class Stepper {
 public:
  virtual ~Stepper() = default;
  virtual ProposalTraits traits() const = 0;
  /// For every chain: accept block `accept_block`, then propose `propose_block`; kNoBlock leaves out.
  /// `evaluated`: the engine's work lies between this call and the one before.
  virtual void enqueue(const device::StepView& view, int accept_block, int propose_block,
                       bool evaluated) const = 0;
  /// Draws ahead (device::DrawnAhead) what the next `num_steps` steps need, at most as many as it has slots.
  /// Nothing where it has no values, which is so on the host.
  virtual void draw_ahead(const device::StepView& view, std::int64_t num_steps) const = 0;
};

/// Throws InputError for an unknown kind, naming those there are.
std::unique_ptr<Stepper> make_stepper(const std::string& kind, Device& device);

/// The same for one backend; nullptr for an unknown kind.
std::unique_ptr<Stepper> make_host_stepper(const std::string& kind);
std::unique_ptr<Stepper> make_cuda_stepper(const std::string& kind, Stream stream);

}  // namespace emomc
