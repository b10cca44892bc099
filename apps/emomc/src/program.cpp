#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/thread_pool.hpp"
#include "ranks.hpp"
#include "signals.hpp"

namespace emomc::app {
namespace {

// Newcomers type `version` and `help`, which the program has as options.
std::vector<std::string> with_dashes(std::vector<std::string> arguments) {
  if (arguments.size() == 1 && (arguments[0] == "version" || arguments[0] == "help"))
    arguments[0].insert(0, "--");
  if (arguments == std::vector<std::string>{"help", "errors"}) return {"manual", "errors"};
  if (arguments.size() == 2 && arguments[0] == "help") arguments = {arguments[1], "--help"};
  return arguments;
}

void refuse_undivided(const std::vector<std::string>& arguments) {
  static const std::vector<std::string> divided{"run", "fit", "evaluate", "train"};
  if (arguments.empty() || arguments[0].starts_with('-')) return;
  if (std::find(divided.begin(), divided.end(), arguments[0]) == divided.end())
    refuse_several_ranks(arguments[0], "use run, fit, evaluate or train, which do");
}

// Parses the command line, runs the subcommand and returns its exit code. Exceptions of the subcommand are
// passed on.
int parse_and_run(int argc, const char* const* argv) {
  const std::vector<std::string> arguments = spread_values(
      with_dashes(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>{}));
  CLI::App app("Metropolis-Hastings for mixture posteriors, on CPUs and GPUs", "emomc");
  app.set_version_flag("--version", std::string("emomc " EMOMC_VERSION));
  app.require_subcommand(1);
  app.fallthrough(false);
  int status = kDone;
  for (const auto add : {add_run,       add_check,  add_fit,      add_summary,  add_diagnose, add_compare,
                         add_evidence,  add_stack,  add_report,   add_loglik,   add_gradient, add_predict,
                         add_functions, add_export, add_simulate, add_features, add_evaluate, add_train,
                         add_classify,  add_bench,  add_devices,  add_job,      add_manual})
    add(app, status);
  refuse_unknown_command(app, arguments);
  refuse_undivided(arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& asked_for_help) {
    if (is_first()) status = app.exit(asked_for_help);
  } catch (const CLI::ParseError&) {
    const std::string message = unknown_option(app, arguments);
    if (message.empty()) throw;
    throw InputError(message);
  }
  // Output that nobody can read counts as a failure of every command.
  flush_standard_output();
  return status;
}

// Prints an error as one line without control characters, even if the message contains names from files. With
// several ranks, one of them prints the line; the others end, too.
int fail(const std::string& what, int code, bool is_shared) {
  const ErrorReport report = report_of_error(code, is_shared);
  const std::string message = report.prefix + what;
  constexpr std::size_t kLongest = 4000;
  std::string line = message.substr(0, kLongest);
  if (message.size() > kLongest) line += " ...";
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  if (report.is_said) std::cerr << "emomc: error: " << line << std::endl;
  if (report.ends_all) end_all(code);
  return code;
}

// The warning is printed once, since every thread pool meets the same limit. It is also printed with -q,
// since the machine provides less than was requested.
void warn_of_refused_threads(int wanted, int got, const std::string& why) {
  static bool warned = false;
  if (std::exchange(warned, true)) return;
  if (why.empty())  // ThreadPool bounds the number itself
    std::cerr << fmt::format(
        "emomc: warning: {} threads are too many for the processors of this machine; going on with {}\n",
        wanted, got);
  else
    std::cerr << fmt::format(
        "emomc: warning: the system refused {} of {} threads ({}; see ulimit -u, ulimit -v, the container's "
        "limit of processes); going on with {}\n",
        wanted - got, wanted, why, got);
}

bool processor_is_supported() {
#if defined(__x86_64__) && defined(__FMA__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

}  // namespace

void flush_standard_output() {
  errno = 0;
  const bool flushed =
      static_cast<bool>(std::cout.flush()) && std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (flushed) return;
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  throw MachineError("standard output: writing failed" + reason);
}

namespace {

int run_and_report(int argc, const char* const* argv) {
  constexpr bool kIsShared = true;
  if (!processor_is_supported())
    return fail("this build needs a processor with fused multiply-add (x86-64-v3)", kMachineFault, false);
  set_refused_threads_handler(warn_of_refused_threads);
  try {
    return parse_and_run(argc, argv);
  } catch (const FailedElsewhere& failed) {
    return failed.code;
  } catch (const CLI::ParseError& error) {
    return fail(std::string(error.what()) + " (see emomc --help)", kBadInput, kIsShared);
  } catch (const Interrupted& stopped) {
    if (report_of_error(signal_exit_code(), kIsShared).is_said) std::cerr << stopped.what() << '\n';
    return signal_exit_code();
  } catch (const InputError& error) {
    return fail(error.what(), kBadInput, kIsShared);
  } catch (const DensityError& error) {
    return fail(error.what(), kBadInput, kIsShared);
  } catch (const MachineError& error) {
    return fail(error.what(), kMachineFault, false);
  } catch (const std::filesystem::filesystem_error& error) {
    const bool is_cycle = error.code() == std::errc::too_many_symbolic_link_levels,
               is_of_path = is_cycle || error.code() == std::errc::filename_too_long;
    return fail(error.path1().string() + ": " +
                    (is_cycle ? "its symbolic links lead in a circle" : error.code().message()),
                is_of_path ? kBadInput : kMachineFault, false);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kMachineFault, false);
  } catch (const std::exception& error) {
    return fail(std::string("internal error, please report it: ") + error.what(), kMachineFault, false);
  }
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  const int code = run_and_report(argc, argv);
  tell_code(code);
  return code;
}

}  // namespace emomc::app
