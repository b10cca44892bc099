// Runs the program as several processes that mpirun starts.
#pragma once

#include <filesystem>
#include <string>

#include "program.hpp"

namespace emomc::testing {

// Returns the call of mpirun with `number` ranks. Tests have fewer processors than ranks, and CI runs as
// root. mpirun's messages about the ends of processes are suppressed.
inline std::string ranks(int number) {
  return "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_execute_quiet=1 mpirun "
         "--oversubscribe --bind-to none -n " +
         std::to_string(number);
}

/// Returns commands of sh that wait until a file exists, 20 s at most.
inline std::string until_there_is(const std::string& file) {
  return "tries=0; until [ -e " + file +
         " ] || [ $tries -gt 400 ]; do sleep 0.05; tries=$((tries + 1)); done; ";
}

/// Returns a line of sh that runs the program with `arguments` on `number` ranks and kills the rank `victim`
/// after `after` seconds; `first` contains commands that precede the wait. The line prints "killed" if the
/// rank still existed, and two times in ns: that of the kill, and that at which the last process has ended,
/// for which it waits 60 s. Then it prints "stuck" if mpirun had to be killed, too. Its exit code is that of
/// mpirun.
inline std::string killing_a_rank(const std::string& arguments, int number, int victim, double after,
                                  const std::string& first = "") {
  // The victim's parent is mpirun, and the rank is in the victim's environment. Processes that have ended
  // stay zombies until mpirun waits for them.
  return "( " + ranks(number) + " \"$EMOMC\" " + arguments + " & all=$!; " + first + "sleep " +
         std::to_string(after) + "; for p in $(pgrep -P $all); do if tr '\\0' '\\n' < /proc/$p/environ | " +
         "grep -q '^OMPI_COMM_WORLD_RANK=" + std::to_string(victim) +
         "$'; then kill -9 $p && echo killed; fi; done; date +%s%N; tries=0; "
         "while [ $tries -lt 1200 ] && ps --ppid $all -o stat= | grep -qv Z; do sleep 0.05; "
         "tries=$((tries + 1)); done; date +%s%N; ( sleep 30; kill -9 $all && echo stuck ) & guard=$!; "
         "wait $all; status=$?; kill $guard; exit $status )";
}

class Ranks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(EMOMC_HAVE_MPI) != "ON") GTEST_SKIP() << "this build has no MPI";
    if (std::system("command -v mpirun >/dev/null") != 0) GTEST_SKIP() << "there is no mpirun";
  }
};

/// Expects that the models in these two folders, tables and model.json, have the same bytes.
inline void expect_equal_models(const ProgramFolder& folder, const std::string& one,
                                const std::string& other) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / one)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".npy") && name != "model.json") continue;
    EXPECT_TRUE(folder.read(one + "/" + name) == folder.read(other + "/" + name)) << name;
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

inline void expect_one_error(const ProgramResult& result, int code, const std::string& words) {
  EXPECT_EQ(result.exit_code, code) << result.err;
  const auto at = result.err.find("emomc: error: ");
  ASSERT_NE(at, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("emomc: error: ", at + 1), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
}

}  // namespace emomc::testing
