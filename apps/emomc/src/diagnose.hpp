// What is wrong with a run, in words. docs/diagnose.md lists the checks.
#pragma once

#include <string>
#include <vector>

#include "inspection.hpp"

namespace emomc::app {

enum class Severity {
  note,     ///< worth knowing
  warning,  ///< the run is slower or less sure than it could be
  problem,  ///< the run should not be trusted
};

struct Finding {
  Severity severity;
  std::string check;   ///< a short name for scripts: rhat, ess, labels, ...
  std::string text;    ///< what was found, with chains and numbers
  std::string advice;  ///< what to do
};

/// The worst first. Empty where all is well.
std::vector<Finding> diagnose(const Inspection& run);

bool is_trusted(const std::vector<Finding>& findings);
const char* severity_name(Severity severity);

}  // namespace emomc::app
