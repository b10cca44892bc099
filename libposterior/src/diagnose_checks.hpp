// The checks of `diagnose` that do not judge the draws' convergence: how the sampler went, and what the data
// are.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/diagnose.hpp"

namespace emomc {

/// "a, b, c, d and 5 more": at most four items are named.
std::string named(const std::vector<std::string>& items);

/// Starts, number of chains, acceptance rates, adaptation, densities that are not numbers, thinning.
void check_sampler(const Inspection& run, std::vector<Finding>& findings);

/// Scales at their floor and repeated rows.
void check_data(const Inspection& run, std::vector<Finding>& findings);

}  // namespace emomc
