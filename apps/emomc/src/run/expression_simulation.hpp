// Simulates data of a likelihood of the user's own, by drawing some of its columns anew.
#pragma once

#include <cstddef>
#include <string>

#include "run_config.hpp"

namespace emomc::app {

/// Writes two files to the directory `output`: the configuration's data with the columns that
/// likelihood.simulate draws, and truth.json with the parameters. `config_file` is the file that `config` was
/// read from. The parameters come from the file `parameters`, or from the prior if that is empty. With
/// `num_rows` above 0 there are no data. Throws InputError before anything is written, also if one of the two
/// files would replace a file that was read.
void simulate_expression(const RunConfig& config, const std::string& config_file, const std::string& output,
                         const std::string& parameters, std::size_t num_rows, bool quiet);

}  // namespace emomc::app
