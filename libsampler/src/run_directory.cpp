#include "emomc/sampler/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "emomc/core/errors.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 20> kOurFiles = {"config.yaml",
                                                        "manifest.json",
                                                        "checkpoint",
                                                        "draws.nc",
                                                        "summary.csv",
                                                        "run.log",
                                                        "report.html",
                                                        "lock",
                                                        "predictions.csv",
                                                        "predictions_em.csv",
                                                        "predictions_penalised.csv",
                                                        "predictions_mixtures.csv",
                                                        "predictions_softmax.csv",
                                                        "probability_sd.csv",
                                                        "scores.json",
                                                        "model.json",
                                                        "draws.npy",
                                                        "rotation.npy",
                                                        "weights.npy",
                                                        "likelihood_source.hpp"};
// The suffix of the temporary files of write_file_atomically, which a killed run may leave behind.
constexpr std::string_view kUnfinished = ".tmp";
// A killed process keeps its lock until its memory is released; this took 0.4 s on a busy machine.
constexpr std::chrono::milliseconds kLockWait{2000}, kLockPause{10};

bool is_unfinished(const fs::path& entry) { return entry.filename().string().ends_with(kUnfinished); }

bool is_ours(const fs::path& entry) {
  std::string name = entry.filename().string();
  if (is_unfinished(entry)) name.resize(name.size() - kUnfinished.size());
  return name == "chains" || name == "rungs" ||
         std::find(kOurFiles.begin(), kOurFiles.end(), name) != kOurFiles.end();
}

[[noreturn]] void refuse_unreadable(const fs::path& path, const std::error_code& error) {
  throw InputError(path.string() + ": cannot be read: " + error.message() + "; choose another --output");
}

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::status_known(status)) refuse_unreadable(path, error);
  return status;
}

std::vector<fs::directory_entry> entries_of(const fs::path& directory) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(*entry);
  if (error) refuse_unreadable(directory, error);
  return entries;
}

// Throws InputError if there are symbolic links, because writing or removing through a link would change
// files elsewhere.
void refuse_links(const fs::path& directory) {
  for (const auto& folder : {directory, directory / "chains", directory / "rungs"}) {
    if (!fs::is_directory(status_of(folder))) continue;
    for (const auto& entry : entries_of(folder))
      if (std::error_code error; entry.is_symlink(error))
        throw InputError(entry.path().string() +
                         ": a symbolic link, which no emomc run writes; choose another --output");
  }
}

}  // namespace

void check_run_directory(const fs::path& directory, ExistingRun policy) {
  if (directory.empty()) throw InputError("output.directory: it is empty; name a directory");
  const fs::file_status status = status_of(directory);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw InputError(directory.string() + ": exists and is no directory; choose another --output");
  // The file `lock` does not count, because the holder of the lock has created it.
  const auto entries = entries_of(directory);
  const bool empty = std::all_of(entries.begin(), entries.end(),
                                 [](const auto& entry) { return entry.path().filename() == "lock"; });
  if (empty) return;
  if (policy == ExistingRun::refuse)
    throw InputError(directory.string() +
                     ": the run directory is not empty; use --resume to go on, --force to start over, or "
                     "another --output");
  for (const auto& entry : entries)
    if (!is_ours(entry.path()))
      throw InputError(directory.string() + ": holds " + entry.path().filename().string() +
                       ", which no emomc run writes; choose another --output");
  refuse_links(directory);
}

void refuse_inputs_in(const fs::path& directory, std::span<const std::string> inputs) {
  for (const fs::path input : inputs) {
    std::error_code error;
    const fs::path folder = input.has_parent_path() ? input.parent_path() : fs::path(".");
    if (fs::is_regular_file(input, error) && fs::equivalent(folder, directory, error))
      throw InputError(input.string() +
                       ": the run reads this file, which is in its directory and which it might " +
                       "replace; move the file, or choose another --output");
  }
}

bool prepare_run_directory(const fs::path& directory, ExistingRun policy) {
  check_run_directory(directory, policy);
  make_directories(directory / "chains");
  const bool can_resume = policy == ExistingRun::resume && fs::exists(status_of(directory / "checkpoint"));
  // For a new run, the files of an earlier run must not be mixed up with its own. The checkpoint is removed
  // first, because it declares the others to be valid.
  if (!can_resume) {
    remove_file(directory / "checkpoint");
    for (const auto& name : kOurFiles)
      if (name != "lock" && name != "run.log") remove_file(directory / name);
  }
  for (const auto& folder : {directory, directory / "chains", directory / "rungs"}) {
    if (!fs::is_directory(status_of(folder))) continue;
    std::vector<fs::path> left;
    for (const auto& entry : entries_of(folder))
      if (is_unfinished(entry.path()) || (!can_resume && entry.path().extension() == ".emc"))
        left.push_back(entry.path());
    for (const auto& file : left) remove_file(file);
  }
  return can_resume;
}

RunLock::RunLock(const fs::path& directory) {
  make_directories(directory);
  const auto file = directory / "lock";
  do {
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  } while (descriptor_ < 0 && errno == EINTR);
  int reason = errno;
  for (auto waited = kLockPause.zero(); descriptor_ >= 0; waited += kLockPause) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    reason = errno;
    if (reason != EINTR && (reason != EWOULDBLOCK || waited >= kLockWait)) break;
    std::this_thread::sleep_for(kLockPause);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
  if (descriptor_ >= 0 && reason == EWOULDBLOCK)
    throw InputError(directory.string() +
                     ": another emomc is working on this run; wait for it or choose another --output");
  throw MachineError(file.string() + ": locking failed: " + std::strerror(reason));
}

RunLock::~RunLock() { ::close(descriptor_); }

}  // namespace emomc
