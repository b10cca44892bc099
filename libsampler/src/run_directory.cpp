#include "emomc/sampler/run_directory.hpp"

#include <algorithm>
#include <array>

#include "emomc/core/errors.hpp"
#include "file_operations.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 13> kOurFiles = {
    "config.yaml", "manifest.json", "checkpoint", "draws.nc",        "summary.csv",
    "run.log",     "report.html",   "lock",       "predictions.csv", "predictions_em.csv",
    "scores.json", "model.json",    "draws.npy"};
// Of a file that a killed run was about to replace (file_operations.hpp).
constexpr std::string_view kUnfinished = ".tmp";

bool is_ours(const fs::path& entry) {
  std::string name = entry.filename().string();
  if (name.ends_with(kUnfinished)) name.resize(name.size() - kUnfinished.size());
  return name == "chains" || std::find(kOurFiles.begin(), kOurFiles.end(), name) != kOurFiles.end();
}

// What is written would be written elsewhere, and what is removed removed there.
void refuse_links(const fs::path& directory) {
  for (const auto& folder : {directory, directory / "chains"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_symlink())
        throw InputError(entry.path().string() +
                         ": a symbolic link, which no emomc run writes; choose another --output");
  }
}

}  // namespace

void check_run_directory(const fs::path& directory, ExistingRun policy) {
  if (directory.empty()) throw InputError("output.directory: it is empty; name a directory");
  if (!fs::exists(directory)) return;
  if (!fs::is_directory(directory))
    throw InputError(directory.string() + ": exists and is no directory; choose another --output");
  if (fs::is_empty(directory)) return;
  if (policy == ExistingRun::refuse)
    throw InputError(directory.string() +
                     ": the run directory is not empty; use --resume to go on, --force to start over, or "
                     "another --output");
  for (const auto& entry : fs::directory_iterator(directory))
    if (!is_ours(entry.path()))
      throw InputError(directory.string() + ": holds " + entry.path().filename().string() +
                       ", which no emomc run writes; choose another --output");
  refuse_links(directory);
}

bool prepare_run_directory(const fs::path& directory, ExistingRun policy) {
  check_run_directory(directory, policy);
  std::error_code error;
  fs::create_directories(directory / "chains", error);
  if (error) throw MachineError(directory.string() + ": cannot be created: " + error.message());
  const bool can_resume = policy == ExistingRun::resume && fs::exists(directory / "checkpoint");
  if (can_resume) return true;
  // From the beginning: what an earlier run left would be mixed up with this one's files.
  for (const auto& name : kOurFiles) {
    if (name != "lock" && name != "run.log") fs::remove(directory / name, error);
    fs::remove(directory / (std::string(name) + std::string(kUnfinished)), error);
  }
  for (const auto& entry : fs::directory_iterator(directory / "chains"))
    if (entry.path().extension() == ".emc") fs::remove(entry.path(), error);
  return false;
}

}  // namespace emomc
