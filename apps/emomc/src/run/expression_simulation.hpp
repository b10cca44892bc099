// Simulates data of a likelihood of the user's own, by drawing some of its columns anew.
#pragma once

#include <cstddef>
#include <string>

#include "run_config.hpp"

namespace emomc::app {

/// Writes two files to the directory `output`: the configuration's data with the columns that
/// likelihood.simulate draws, and truth.json with the parameters. The parameters come from the file
/// `parameters`, or from the prior if that is empty. With `num_rows` above 0 there are no data. Throws
/// InputError before anything is written.
void simulate_expression(const RunConfig& config, const std::string& output, const std::string& parameters,
                         std::size_t num_rows, bool quiet);

}  // namespace emomc::app
