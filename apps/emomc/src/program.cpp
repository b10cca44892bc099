#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "commands.hpp"
#include "emomc/core/errors.hpp"
#include "signals.hpp"

namespace emomc::app {
namespace {

// One line that leaves the terminal alone, whatever names from files the message has.
int fail(const std::string& message, int code) {
  constexpr std::size_t kLongest = 4000;
  std::string line = message.substr(0, kLongest);
  if (message.size() > kLongest) line += " ...";
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  std::cerr << "emomc: error: " << line << '\n';
  return code;
}

bool processor_is_supported() {
#if defined(__x86_64__) && defined(__FMA__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  if (!processor_is_supported())
    return fail("this build needs a processor with fused multiply-add (x86-64-v3)", kMachineFault);
  CLI::App app("Metropolis-Hastings for mixture posteriors, on CPUs and GPUs", "emomc");
  app.set_version_flag("--version", std::string("emomc " EMOMC_VERSION));
  app.require_subcommand(1);
  app.fallthrough(false);
  int status = kDone;
  for (const auto add : {add_run, add_check, add_fit, add_summary, add_diagnose, add_compare, add_report,
                         add_loglik, add_export, add_simulate, add_features, add_evaluate, add_train,
                         add_classify, add_bench, add_devices})
    add(app, status);
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::Success& asked_for_help) {
    return app.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    return fail(std::string(error.what()) + " (see emomc --help)", kBadInput);
  } catch (const Interrupted& stopped) {
    std::cerr << stopped.what() << '\n';
    return signal_exit_code();
  } catch (const InputError& error) {
    return fail(error.what(), kBadInput);
  } catch (const DensityError& error) {
    return fail(error.what(), kBadInput);
  } catch (const MachineError& error) {
    return fail(error.what(), kMachineFault);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(error.path1().string() + ": " + error.code().message(), kMachineFault);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kMachineFault);
  } catch (const std::exception& error) {
    return fail(std::string("internal error, please report it: ") + error.what(), kMachineFault);
  }
}

}  // namespace emomc::app
