// Work on ranks that are threads of this process.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "emomc/core/communicator.hpp"

namespace emomc {

/// Calls `work` with each rank at the same time: with rank 0 in this thread, with the others in threads of
/// their own, and waits for all. Where calls throw, the other ranks are told, and the exception of the first
/// rank that failed of itself is rethrown; the communicators are then of no more use.
void on_rank_threads(std::span<const std::unique_ptr<Communicator>> ranks,
                     const std::function<void(Communicator&)>& work);

}  // namespace emomc
