#include "restarted_claim.hpp"

#include <fstream>
#include <sstream>

#include "emomc/core/errors.hpp"
#include "ranks.hpp"

namespace emomc::app {
namespace {

namespace fs = std::filesystem;

// The lines of a configuration on which results depend.
std::string comparable(std::istream&& text) {
  std::string result, line;
  while (std::getline(text, line))
    if (!line.starts_with("threads:") && !line.starts_with("  directory:")) result += line + '\n';
  return result;
}

void refuse_other_results(const fs::path& directory, ResultKind kind, const EvaluationConfig& config) {
  const bool is_model = kind == ResultKind::model;
  std::error_code error;
  if (fs::exists(directory / (is_model ? "scores.json" : "model.json"), error))
    throw InputError(directory.string() + ": holds " + (is_model ? "an evaluation" : "a trained model") +
                     ", which --resume would remove; choose another directory, or remove it with --force");
  std::ifstream written(directory / "config.yaml", std::ios::binary);
  if (written && comparable(std::move(written)) != comparable(std::istringstream(to_yaml(config))))
    throw InputError(directory.string() +
                     ": the configuration has changed since; give the options of the first call, choose "
                     "another directory, or start anew with --force");
}

}  // namespace

void claim_to_restart(const fs::path& directory, ExistingRun policy, ResultKind kind,
                      const EvaluationConfig& config, std::optional<RunClaim>& claim) {
  if (!is_first()) return;
  claim.emplace(directory, policy);
  if (claim->checkpoint() != nullptr)
    throw InputError(directory.string() + ": holds chains of mixtures; choose another directory" +
                     (config.classifier == ClassifierKind::softmax ? ", or write classifier: mixtures" : ""));
  if (policy == ExistingRun::resume) refuse_other_results(directory, kind, config);
}

}  // namespace emomc::app
