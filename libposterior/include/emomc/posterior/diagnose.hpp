// Judges whether a run can be trusted and describes its problems in words. docs/inspect.md has the checks.
#pragma once

#include <string>
#include <vector>

#include "emomc/posterior/inspection.hpp"

namespace emomc {

enum class Severity {
  note,     ///< worth knowing
  warning,  ///< the run is slower or less reliable than it could be
  problem,  ///< the run should not be trusted
};

struct Finding {
  Severity severity;
  std::string check;   ///< a short name for scripts: rhat, ess, labels, ...
  std::string text;    ///< description of the finding, with chains and numbers
  std::string advice;  ///< recommended action
};

/// All findings, the most severe first; empty if there is nothing to report.
std::vector<Finding> diagnose(const Inspection& run);

/// Whether no finding is a problem.
bool is_trusted(const std::vector<Finding>& findings);
const char* severity_name(Severity severity);

}  // namespace emomc
