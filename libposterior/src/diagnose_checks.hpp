// The checks of `diagnose` that do not concern the draws' convergence: the behaviour of the sampler, and the
// properties of the data.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/diagnose.hpp"

namespace emomc {

/// "a, b, c, d and 5 more": at most four items are named.
std::string named(const std::vector<std::string>& items);

/// Checks starts, number of chains, acceptance rates, adaptation, densities that are not numbers, and
/// thinning.
void check_sampler(const Inspection& run, std::vector<Finding>& findings);

/// Checks for scales at their floor and for repeated rows.
void check_data(const Inspection& run, std::vector<Finding>& findings);

}  // namespace emomc
