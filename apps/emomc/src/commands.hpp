// The subcommands. Each function adds one subcommand to the command line, which runs if the user chooses it.
#pragma once

#include <CLI/CLI.hpp>

namespace emomc::app {

/// The exit codes of the program.
enum ExitCode : int {
  kDone = 0,          ///< the work was done
  kCheckFailed = 1,   ///< the work was done, but the check that the command makes failed
  kBadInput = 2,      ///< bad input or usage; no file was written
  kMachineFault = 3,  ///< a GPU, a disk or memory failed
};

/// Each function adds a subcommand whose callback does the work and stores its exit code in `status`.
void add_run(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_fit(CLI::App& app, int& status);
void add_summary(CLI::App& app, int& status);
void add_diagnose(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_evidence(CLI::App& app, int& status);
void add_stack(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_loglik(CLI::App& app, int& status);
void add_gradient(CLI::App& app, int& status);
void add_export(CLI::App& app, int& status);
void add_simulate(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_features(CLI::App& app, int& status);
void add_evaluate(CLI::App& app, int& status);
void add_train(CLI::App& app, int& status);
void add_classify(CLI::App& app, int& status);
void add_devices(CLI::App& app, int& status);
void add_job(CLI::App& app, int& status);
void add_predict(CLI::App& app, int& status);
void add_functions(CLI::App& app, int& status);
void add_manual(CLI::App& app, int& status);

/// Flushes standard output. Throws MachineError if the file, disk or pipe behind it did not accept everything
/// that was printed so far. run_program() calls it after every command; a command that prints results one by
/// one calls it in between.
void flush_standard_output();

/// Parses the command line and runs the subcommand. Never throws; an error becomes one line on standard
/// error.
int run_program(int argc, const char* const* argv);

}  // namespace emomc::app
