// Tests malicious files of a run: all checksums are right, but the numbers are not.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>

#include "chain_format.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/sampler/draw_set.hpp"
#include "emomc/sampler/mixture_labels.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

class HostileFiles : public ::testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("emomc-hostile-" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  static ChainHeader header() {
    ChainHeader h;
    h.warmup = 10;
    h.layout = testing::mixture_layout(2, 1);
    h.block_names = {"weights"};
    return h;
  }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  }
  static void expect_refused(const std::function<void()>& read, const std::vector<std::string>& words) {
    try {
      read();
      ADD_FAILURE() << "accepted; expected: " << words.front();
    } catch (const InputError& error) {
      for (const auto& word : words)
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
  void expect_header_refused(const std::function<void(ChainHeader&)>& change, const std::string& why) const {
    ChainHeader h = header();
    change(h);
    const auto file = write("chain.emc", encode_header(h));
    expect_refused([&] { read_chain(file); }, {"chain.emc", "damaged", why});
  }
};

TEST_F(HostileFiles, HeadersThatNoRunWritesAreRefused) {
  EXPECT_NO_THROW(read_chain(write("good.emc", encode_header(header()))));
  using H = ChainHeader&;
  // A block with an extent of 0 has a name but no elements, which would be looked up beyond the draws.
  expect_header_refused([](H h) { h.layout.blocks[1].shape = {5, 0}; }, "shape");
  expect_header_refused([](H h) { h.layout.blocks[1].shape = {-1}; }, "shape");
  expect_header_refused([](H h) { h.layout.blocks[1].shape = {1 << 24, 2}; }, "shape");
  expect_header_refused([](H h) { h.layout.blocks[1].shape = std::vector<int>(1000, 1); }, "shape");
  expect_header_refused(
      [](H h) {
        h.layout.blocks.resize(1);
        h.layout.blocks.push_back({"a", {1 << 23}});
        h.layout.blocks.push_back({"b", {1 << 23}});
        h.layout.blocks.push_back({"c", {1 << 23}});
      },
      "parameters");
  expect_header_refused([](H h) { h.layout.blocks[0].name = std::string(100'000, 'x'); }, "name");
  expect_header_refused([](H h) { h.layout.blocks[0].name = ""; }, "name");
  expect_header_refused([](H h) { h.layout.blocks[0].name = "a\x1b[2J"; }, "name");
  expect_header_refused([](H h) { h.block_names[0] = "a\nb"; }, "name");
  expect_header_refused([](H h) { h.block_names[0] = "h\xf6he"; }, "name");
  expect_header_refused([](H h) { h.layout.blocks[0].support = static_cast<Support>(6); }, "kind");
  expect_header_refused([](H h) { h.layout.blocks[0].unit = static_cast<DataUnit>(-1); }, "kind");
  expect_header_refused([](H h) { h.layout.blocks[0].component_axis = 1; }, "axis");
  expect_header_refused([](H h) { h.layout.blocks[0].feature_axis = -2; }, "axis");
  expect_header_refused([](H h) { h.layout.blocks[1].support = Support::covariance; }, "shape");
  expect_header_refused([](H h) { h.thin = 0; }, "steps");
  expect_header_refused([](H h) { h.warmup = -1; }, "steps");
}

TEST_F(HostileFiles, NamesOfMillionsOfParametersWithoutADrawAreNotMade) {
  ChainHeader h = header();
  h.layout.blocks = {{std::string(256, 'x'), {1 << 24}}};
  const ChainDraws chain = read_chain(write("chain.emc", encode_header(h)));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THROW(draw_set_of({chain}, "run"), InputError);
  EXPECT_EQ(draw_set_of({chain}, "run", Phase::warmup).num_quantities(), 3u);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
}

// Each block is possible, but together they are not a mixture. Indices into a mixture would be outside of the
// draws.
TEST_F(HostileFiles, BlocksThatDoNotBelongTogetherAreNoMixture) {
  DrawSet set;
  set.num_draws = 1;
  set.chains = {"0"};
  const auto mixture_of = [&](int num_means, int num_scales) {
    set.layout = testing::mixture_layout(2, 1);
    set.layout.blocks[1].shape[0] = num_means;
    set.layout.blocks[2].shape[0] = num_scales;
    return find_mixture(set).has_value();
  };
  EXPECT_TRUE(mixture_of(2, 2));
  EXPECT_FALSE(mixture_of(3, 2));
  EXPECT_FALSE(mixture_of(2, 1));
}

TEST_F(HostileFiles, CheckpointsWithImpossibleNumbersAreRefused) {
  Checkpoint c;
  c.state.step = 4;
  c.state.num_chains = 1;
  c.state.dim = c.state.dim_unconstrained = c.state.num_blocks = 1;
  c.state.unconstrained = c.state.log_prior = c.state.log_likelihood = c.state.log_jacobian = {1};
  c.state.accepted = c.state.proposed = c.state.faults = {0};
  c.chains = {{0, 10}};
  c.state.window_accepted = c.state.window_proposed = c.state.accepted;
  const auto expect_checkpoint_refused = [&](const std::function<void(Checkpoint&)>& change) {
    Checkpoint changed = c;
    change(changed);
    write_checkpoint(folder / "checkpoint", changed);
    expect_refused([&] { read_checkpoint(folder / "checkpoint"); }, {"checkpoint", "damaged"});
  };
  write_checkpoint(folder / "checkpoint", c);
  EXPECT_NO_THROW(read_checkpoint(folder / "checkpoint"));
  // A negative size would recreate the chain file.
  expect_checkpoint_refused([](Checkpoint& x) { x.chains = {{0, -1}}; });
  expect_checkpoint_refused([](Checkpoint& x) { x.state.step = -1; });
  expect_checkpoint_refused([](Checkpoint& x) { x.state.log_prior = {}; });
  expect_checkpoint_refused([](Checkpoint& x) { x.state.log_jacobian = {1, 2}; });
  expect_checkpoint_refused([](Checkpoint& x) { x.state.num_chains = -1; });
}

TEST_F(HostileFiles, PipesAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder / "pipe.emc").c_str(), 0600), 0);
  expect_refused([&] { read_chain(folder / "pipe.emc"); }, {"pipe.emc", "cannot be read"});
  expect_refused([&] { read_checkpoint(folder / "pipe.emc"); }, {"pipe.emc", "cannot be read"});
  expect_refused([&] { read_stan_csv({folder / "pipe.emc"}); }, {"pipe.emc", "cannot be read"});
}

TEST_F(HostileFiles, LinksOutOfARunDirectoryAreNotWrittenThrough) {
  fs::create_directories(folder / "mine");
  const auto mine = write("mine/chain-00000.emc", "years of work");
  fs::create_directories(folder / "run");
  fs::create_directory_symlink(folder / "mine", folder / "run" / "chains");
  write("run/checkpoint", "x");
  for (const auto policy : {ExistingRun::overwrite, ExistingRun::resume})
    expect_refused([&] { prepare_run_directory(folder / "run", policy); }, {"chains", "symbolic link"});
  EXPECT_TRUE(fs::exists(mine));
  fs::remove(folder / "run" / "chains");
  fs::create_directories(folder / "run" / "chains");
  fs::create_symlink(mine, folder / "run" / "chains" / "chain-00000.emc");
  expect_refused([&] { prepare_run_directory(folder / "run", ExistingRun::resume); },
                 {"chain-00000.emc", "symbolic link"});
  // A temporary name may be a link. This matters for commands that do not check the directory.
  fs::create_symlink(mine, folder / "run" / "report.html.tmp");
  EXPECT_THROW(write_file_atomically(folder / "run" / "report.html", "<html>"), MachineError);
  EXPECT_EQ(fs::file_size(mine), 13u);
}

TEST_F(HostileFiles, ARunDirectoryThatCannotBeReadIsRefused) {
  const auto check = [](const fs::path& directory) {
    return [=] { check_run_directory(directory, ExistingRun::resume); };
  };
  expect_refused(check(folder / std::string(300, 'x')), {"xxx: cannot be read: ", "choose another --output"});
  fs::create_directory_symlink(folder / "loop", folder / "loop");
  expect_refused(check(folder / "loop"), {"loop: cannot be read: ", "choose another --output"});
  if (::geteuid() == 0) return;  // permissions do not bind root
  fs::create_directories(folder / "closed");
  fs::permissions(folder / "closed", fs::perms::none);
  expect_refused(check(folder / "closed"), {"closed: cannot be read: "});
  expect_refused(check(folder / "closed" / "run"), {"run: cannot be read: "});
  fs::permissions(folder / "closed", fs::perms::owner_all);
}

TEST_F(HostileFiles, StanFilesWithEndlessLinesOrNamesAreRefused) {
  const auto expect_stan_refused = [&](const std::string& content, const std::vector<std::string>& words) {
    const auto file = write("x.csv", content);
    expect_refused([&] { read_stan_csv({file}); }, words);
  };
  expect_stan_refused("lp__,x\n1," + std::string(17 << 20, '1') + "\n", {"x.csv:2", "16 MiB"});
  expect_stan_refused("# " + std::string(17 << 20, '#'), {"x.csv:1", "16 MiB"});
  expect_stan_refused(std::string(2 << 20, ',') + "\n", {"x.csv:1", "columns"});
  // Text such as "1.1.1..." is parsed as indices from each dot on.
  std::string dots = "x";
  for (int i = 0; i < 500'000; ++i) dots += ".1";
  expect_stan_refused("lp__," + dots + "y\n1,2\n", {"x.csv:1", "1024 bytes"});
  std::string long_line = "lp__";
  std::string row = "1";
  for (int i = 0; i < 20'000; ++i) {  // a line that is longer than a buffer
    long_line += ",x" + std::to_string(i);
    row += ",2.5";
  }
  EXPECT_EQ(read_stan_csv({write("x.csv", long_line + "\n" + row + "\n")}).num_quantities(), 20'001u);
}

}  // namespace
}  // namespace emomc
