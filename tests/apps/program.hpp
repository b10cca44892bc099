// Runs the emomc program in a temporary folder, for tests of the program.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace emomc::testing {

struct ProgramResult {
  int exit_code = -1;
  std::string out, err;
};

/// A temporary folder in which the program runs; the destructor removes it.
class ProgramFolder {
 public:
  ProgramFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "emomc-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~ProgramFolder() { std::filesystem::remove_all(path_); }
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;

  std::filesystem::path path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(path_ / name, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(path_ / name); }

  /// Runs the program. `arguments` are words for the shell; `under` is a command that starts the program,
  /// such as `timeout`.
  ProgramResult run(const std::string& arguments, const std::string& under = "") const {
    return shell(under + " '" EMOMC_PROGRAM "' " + arguments);
  }
  /// Runs a command of sh in the folder; $EMOMC is the program.
  ProgramResult shell(const std::string& line) const {
    // Several commands may run at the same time.
    const std::string number = std::to_string(num_runs_++), out = ".stdout" + number,
                      err = ".stderr" + number;
    const std::string command = "cd '" + path_.string() + "' && export EMOMC='" EMOMC_PROGRAM "' && { " +
                                line + "; } >'" + out + "' 2>'" + err + "' </dev/null";
    const int status = std::system(command.c_str());
    ProgramResult result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
    std::filesystem::remove(path_ / out);
    std::filesystem::remove(path_ / err);
    return result;
  }

 private:
  std::filesystem::path path_;
  mutable std::atomic<int> num_runs_ = 0;
};

/// Returns `text` with the first occurrence of `from` replaced; the test fails if there is none.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Expects exit code 2, no standard output, and an error of one line that contains all `words`.
inline void expect_refused(const ProgramFolder& folder, const std::string& arguments,
                           const std::vector<std::string>& words) {
  const ProgramResult result = folder.run(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments << ": " << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.out, "");
  for (const auto& word : words)
    EXPECT_NE(result.err.find(word), std::string::npos) << "no '" << word << "' in: " << result.err;
}

}  // namespace emomc::testing
