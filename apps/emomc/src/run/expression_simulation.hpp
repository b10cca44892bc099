// Data of a likelihood of the user's own, with columns that are drawn anew.
#pragma once

#include <cstddef>
#include <string>

#include "run_config.hpp"

namespace emomc::app {

/// Writes the data of the configuration, with the columns that likelihood.simulate draws, and the parameters,
/// truth.json, to the directory `output`. The parameters are those of a file, or a draw from the prior where
/// `parameters` is empty. With `num_rows` above 0 there are no data. Throws InputError before it writes.
void simulate_expression(const RunConfig& config, const std::string& output, const std::string& parameters,
                         std::size_t num_rows, bool quiet);

}  // namespace emomc::app
