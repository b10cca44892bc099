// The subcommands: each adds itself to the command line and runs when chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace emomc::app {

/// What `main` returns.
enum ExitCode : int {
  kDone = 0,          ///< the work is done
  kCheckFailed = 1,   ///< it ran, but the check it makes failed
  kBadInput = 2,      ///< bad input or usage; nothing was written
  kMachineFault = 3,  ///< GPU, disk or memory failed
};

/// Each adds a subcommand whose callback does the work and leaves its exit code in `status`.
void add_run(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_fit(CLI::App& app, int& status);
void add_summary(CLI::App& app, int& status);
void add_diagnose(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_loglik(CLI::App& app, int& status);
void add_export(CLI::App& app, int& status);
void add_simulate(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_features(CLI::App& app, int& status);
void add_evaluate(CLI::App& app, int& status);
void add_train(CLI::App& app, int& status);
void add_classify(CLI::App& app, int& status);
void add_devices(CLI::App& app, int& status);

/// Writes out what is buffered of standard output. Throws MachineError where the file, disk or pipe behind it
/// did not take everything that was printed so far. run_program() calls it after every command; a command
/// that prints as it goes calls it in between.
void flush_standard_output();

/// Parses the command line and runs the subcommand; never throws. Errors are one line on stderr.
int run_program(int argc, const char* const* argv);

}  // namespace emomc::app
