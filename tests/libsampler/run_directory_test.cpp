#include "emomc/sampler/run_directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>

#include "emomc/core/errors.hpp"
#include "mixture_target.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

class RunDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("emomc-test-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static ChainHeader header() {
    ChainHeader h;
    h.chain_id = 3;
    h.seed = 9;
    h.warmup = 10;
    h.thin = 2;
    h.layout = testing::mixture_layout(2, 1);
    h.block_names = {"weights", "means[0]"};
    return h;
  }
  static std::vector<double> point(int i) {
    std::vector<double> theta;
    for (int j = 0; j < 6; ++j) theta.push_back(i + 0.1 * j);
    return theta;
  }
  static DrawStatistics statistics(int i) {
    return {0.5 + i, 0.25 * i, 1000.25 - i, i, (1 << i) - 1, i % 2, 0};
  }
  // Writes three blocks of draws and two of acceptance counts; draw i has step 12 + 2 i.
  fs::path write_chain(bool with_statistics = false) const {
    fs::path file = folder_ / "chain-3.emc";
    ChainWriter writer(file, header());
    for (int i = 0; i < 7; ++i) {
      const auto theta = point(i);
      if (with_statistics) writer.append(statistics(i));
      writer.append(DrawView{12 + 2 * i, -1.0 * i, -100.5 * i, theta});
      if (i % 3 == 2) {
        const std::vector<std::uint64_t> accepted{1, 2}, proposed{6, 6};
        writer.append(AcceptanceView{12 + 2 * i, accepted, proposed});
        writer.flush();
      }
    }
    writer.commit();
    return file;
  }
  static std::string content_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void write_content(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
  }
  // Expects that the draws are a correct prefix of those that were written.
  static void expect_prefix(const ChainDraws& chain) {
    for (std::int64_t i = 0; i < chain.num_draws; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(chain.steps[at], 12 + 2 * i);
      EXPECT_EQ(chain.log_likelihood[at], -100.5 * static_cast<double>(i));
      EXPECT_EQ(std::vector<double>(chain.parameters.begin() + 6 * i, chain.parameters.begin() + 6 * i + 6),
                point(static_cast<int>(i)));
    }
    if (chain.statistics.empty()) return;
    ASSERT_EQ(chain.statistics.size(), static_cast<std::size_t>(chain.num_draws));
    for (int i = 0; i < chain.num_draws; ++i) {
      const DrawStatistics is = chain.statistics[static_cast<std::size_t>(i)], was = statistics(i);
      EXPECT_EQ(is.step_size, was.step_size);
      EXPECT_EQ(is.acceptance, was.acceptance);
      EXPECT_EQ(is.energy, was.energy);
      EXPECT_EQ(is.tree_depth, was.tree_depth);
      EXPECT_EQ(is.num_leapfrogs, was.num_leapfrogs);
      EXPECT_EQ(is.divergent, was.divergent);
    }
  }

  fs::path folder_;
};

TEST_F(RunDirectory, DrawsComeBackBitForBit) {
  const ChainDraws chain = read_chain(write_chain());
  EXPECT_EQ(chain.header, header());
  ASSERT_EQ(chain.num_draws, 7);
  expect_prefix(chain);
  EXPECT_EQ(chain.accepted, (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(chain.proposed, (std::vector<std::uint64_t>{12, 12}));
  EXPECT_EQ(chain.bytes_ignored, 0);
}

TEST_F(RunDirectory, StatisticsComeBackBitForBit) {
  const ChainDraws chain = read_chain(write_chain(true));
  ASSERT_EQ(chain.statistics.size(), 7U);
  expect_prefix(chain);
  EXPECT_TRUE(read_chain(write_chain(false)).statistics.empty());
}

TEST_F(RunDirectory, AFileCutAtAnyByteGivesTheDrawsBeforeIt) {
  for (const bool with_statistics : {false, true}) {
    const fs::path file = write_chain(with_statistics);
    const std::string whole = content_of(file);
    std::int64_t most = 0;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
      write_content(file, whole.substr(0, length));
      try {
        const ChainDraws chain = read_chain(file);
        expect_prefix(chain);
        EXPECT_EQ(chain.statistics.size(), with_statistics ? static_cast<std::size_t>(chain.num_draws) : 0U);
        EXPECT_GE(chain.num_draws, most) << length;
        most = chain.num_draws;
      } catch (const InputError&) {
        EXPECT_EQ(most, 0) << length;  // the header itself was cut
      }
    }
    EXPECT_EQ(most, 7);
  }
}

TEST_F(RunDirectory, EveryFlippedBitIsRefusedWithItsPlaceAndWhatCanBeDone) {
  const fs::path file = write_chain(true);
  const std::string whole = content_of(file);
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 5) {  // all positions within a byte
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    write_content(file, damaged);
    for (const bool resuming : {false, true}) try {
        if (resuming)
          check_committed(file, header(), static_cast<std::int64_t>(whole.size()));
        else
          read_chain(file);
        ADD_FAILURE() << "bit " << bit % 8 << " of byte " << bit / 8 << ", resuming " << resuming;
      } catch (const InputError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("chain-3.emc"), std::string::npos) << message;
        EXPECT_NE(message.find("--force"), std::string::npos) << message;
      }
  }
}

TEST_F(RunDirectory, WhatIsCommittedMustBeThereAndTheRestMayBeAnything) {
  const fs::path file = write_chain();
  const std::string whole = content_of(file);
  const auto size = static_cast<std::int64_t>(whole.size());
  EXPECT_EQ(read_chain(file, size).num_draws, 7);
  for (std::int64_t lost = 1; lost < size; lost += 7) {
    write_content(file, whole.substr(0, static_cast<std::size_t>(size - lost)));
    EXPECT_THROW(read_chain(file, size), InputError) << lost;
    EXPECT_THROW(check_committed(file, header(), size), InputError) << lost;
  }
  write_content(file, whole + std::string(100, '\0'));
  EXPECT_THROW(read_chain(file, size), InputError);
  const ChainEnd end = check_committed(file, header(), size);
  EXPECT_EQ(end.num_draws, 7);
  ChainWriter(file, header(), end).commit();
  EXPECT_EQ(content_of(file), whole);
}

TEST_F(RunDirectory, AppendingGoesOnFromACommit) {
  const fs::path file = folder_ / "chain-3.emc";
  std::int64_t committed = 0;
  {
    ChainWriter writer(file, header());
    for (int i = 0; i < 4; ++i) {
      const auto theta = point(i);
      writer.append(statistics(i));
      writer.append(DrawView{12 + 2 * i, -1.0 * i, -100.5 * i, theta});
      if (i == 2) committed = writer.commit();
    }
  }
  {
    const ChainEnd end = check_committed(file, header(), committed);
    EXPECT_EQ(end.num_draws, 3);
    ChainWriter writer(file, header(), end);
    for (int i = 3; i < 7; ++i) {
      const auto theta = point(i);
      writer.append(statistics(i));
      writer.append(DrawView{12 + 2 * i, -1.0 * i, -100.5 * i, theta});
    }
  }
  const ChainDraws chain = read_chain(file);
  EXPECT_EQ(chain.num_draws, 7);
  expect_prefix(chain);
  EXPECT_THROW(check_committed(file, header(), 1 << 20), InputError);
  ChainHeader other = header();
  other.thin = 5;
  EXPECT_THROW(check_committed(file, other, committed), InputError);
}

TEST_F(RunDirectory, AChainFileThatIsRemovedOrReplacedWhileItIsWrittenIsNoticed) {
  for (const bool replaced : {false, true}) {
    const fs::path file = folder_ / "chain-3.emc";
    ChainWriter writer(file, header());
    writer.append(DrawView{12, -1, -2, point(0)});
    writer.commit();
    fs::rename(file, folder_ / "elsewhere");
    if (replaced) write_content(file, "x");
    writer.append(DrawView{14, -1, -2, point(1)});
    EXPECT_THROW(writer.commit(), MachineError);
    fs::rename(folder_ / "elsewhere", file);
    EXPECT_THROW(writer.commit(), MachineError) << "a failed writer goes on";
  }
}

TEST_F(RunDirectory, ForeignFilesAreRefusedByName) {
  for (const std::string content : {"", "EMOMC", "hello, this is text and no chain file at all"}) {
    write_content(folder_ / "x.emc", content);
    try {
      read_chain(folder_ / "x.emc");
      ADD_FAILURE() << content;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("x.emc"), std::string::npos);
    }
  }
  EXPECT_THROW(read_chains(folder_), InputError);
}

TEST_F(RunDirectory, CheckpointsComeBackAndDamageIsDetected) {
  Checkpoint c;
  c.config = "sampler:\n  seed: 5\n";
  c.data.columns = {"a", "b,c"};
  c.data.parts = {{"x.csv", 3, "12ab"}, {"y.csv", 4, "34cd"}};
  c.engine = "cpu mixed";
  c.seed = 5;
  c.state.step = 77;
  c.state.num_chains = 2;
  c.state.dim_unconstrained = 3;
  c.state.dim = 4;
  c.state.num_blocks = 1;
  c.state.unconstrained = {1, 2, 3, 4, 5, 0.1};
  c.state.log_prior = c.state.log_likelihood = c.state.log_jacobian = {-1.5, 1e-300};
  c.state.adaptation = {9, 8};
  c.state.accepted = {1, 2};
  c.state.proposed = {3, 4};
  c.state.window_accepted = {0, 1};
  c.state.window_proposed = {1, 2};
  c.state.faults = {0, 1};
  c.state.num_evaluations = 12;
  c.chains = {{0, 100}, {7, 200}};
  const fs::path file = folder_ / "checkpoint";
  write_checkpoint(file, c);
  const Checkpoint back = read_checkpoint(file);
  EXPECT_EQ(back.engine, c.engine);
  EXPECT_EQ(back.state.unconstrained, c.state.unconstrained);
  EXPECT_EQ(back.state.adaptation, c.state.adaptation);
  EXPECT_EQ(back.state.faults, c.state.faults);
  EXPECT_EQ(back.state.window_accepted, c.state.window_accepted);
  EXPECT_EQ(back.state.window_proposed, c.state.window_proposed);
  EXPECT_EQ(back.state.num_evaluations, 12u);
  EXPECT_EQ(back.config, c.config);
  EXPECT_EQ(back.data.columns, c.data.columns);
  EXPECT_EQ(back.data.parts, c.data.parts);
  ASSERT_EQ(back.chains.size(), 2u);
  EXPECT_EQ(back.chains[1].id, 7u);
  EXPECT_EQ(back.chains[1].bytes, 200);
  EXPECT_EQ(committed_chains(file).size(), 2u);
  EXPECT_TRUE(committed_chains(folder_ / "none").empty());
  EXPECT_FALSE(fs::exists(folder_ / "checkpoint.tmp"));
  const std::string whole = content_of(file);
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    write_content(file, damaged);
    EXPECT_THROW(read_checkpoint(file), InputError) << byte;
    EXPECT_THROW(committed_chains(file), InputError) << byte;
    write_content(file, whole.substr(0, byte));
    EXPECT_THROW(read_checkpoint(file), InputError) << byte;
    EXPECT_THROW(committed_chains(file), InputError) << byte;
  }
  write_content(file, "EMOMCCK1" + whole.substr(8));
  try {
    read_checkpoint(file);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("earlier version"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(committed_chains(file).empty());
}

// The run has two chains and a checkpoint that has committed their draws.
TEST_F(RunDirectory, ChainsThatLackWhatTheCheckpointHasCommittedAreRefused) {
  const fs::path run = folder_ / "run";
  EXPECT_FALSE(prepare_run_directory(run, ExistingRun::refuse));
  Checkpoint c;
  c.state.num_chains = 2;
  c.state.num_blocks = 1;
  c.state.log_prior = c.state.log_likelihood = c.state.log_jacobian = {0, 0};
  c.state.accepted = c.state.proposed = c.state.window_accepted = c.state.window_proposed =
      c.state.faults = {0, 0};
  ChainHeader h = header();
  for (const std::uint64_t id : {0, 1}) {
    h.chain_id = id;
    ChainWriter writer(chain_file(run, id), h);
    writer.append(DrawView{12, -1, -2, point(0)});
    c.chains.push_back({id, writer.commit()});
    writer.append(DrawView{14, -1, -2, point(1)});
    writer.commit();
  }
  write_checkpoint(run / "checkpoint", c);
  EXPECT_EQ(read_chains(run)[1].num_draws, 2);
  const auto refused = [&](const std::string& word) {
    try {
      read_chains(run);
      ADD_FAILURE() << word;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  const std::string second = content_of(chain_file(run, 1));
  const auto committed = static_cast<std::size_t>(c.chains[1].bytes);
  write_content(chain_file(run, 1), second.substr(0, committed));
  EXPECT_EQ(read_chains(run)[1].num_draws, 1);
  write_content(chain_file(run, 1), second.substr(0, committed - 1));
  refused("chain-00001.emc: ends at byte");
  write_content(chain_file(run, 1), second.substr(0, committed) + std::string(64, '\0'));
  refused("--resume cuts that off");
  fs::remove(chain_file(run, 1));
  refused("chain-00001.emc: missing");
  write_content(run / "checkpoint", "EMOMCCK3 and what not");
  refused("damaged checkpoint");
  fs::remove(run / "checkpoint");
  EXPECT_EQ(read_chains(run).size(), 1u);
}

// Each further file would count as another independent chain and raise the ESS.
TEST_F(RunDirectory, AChainFileThatIsNoneOfThisRunIsRefusedByName) {
  const fs::path run = folder_ / "run";
  ASSERT_FALSE(prepare_run_directory(run, ExistingRun::refuse));
  const auto write = [&](std::uint64_t id, std::uint64_t seed) {
    ChainHeader h = header();
    h.chain_id = id;
    h.seed = seed;
    ChainWriter writer(chain_file(run, id), h);
    writer.append(DrawView{12, -1, -2, point(0)});
    return writer.commit();
  };
  const auto expect_refused = [&](const std::vector<std::string>& words) {
    try {
      read_chains(run);
      ADD_FAILURE() << words[0];
    } catch (const InputError& error) {
      for (const auto& word : words)
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  const std::int64_t bytes = write(0, 9);
  write(1, 9);
  EXPECT_EQ(read_chains(run).size(), 2u);
  fs::copy(chain_file(run, 1), run / "chains" / "chain-00001 (copy).emc");
  expect_refused({"chain-00001 (copy).emc", "chain 1", "chain-00001.emc"});
  fs::rename(run / "chains" / "chain-00001 (copy).emc", chain_file(run, 2));
  expect_refused({"chain-00002.emc", "chain 1"});
  fs::remove(chain_file(run, 2));
  write(1, 10);
  expect_refused({"chain-00001.emc", "chain-00000.emc", "another seed"});
  write(1, 9);
  Checkpoint c;
  c.state.num_chains = c.state.num_blocks = 1;
  c.state.log_prior = c.state.log_likelihood = c.state.log_jacobian = {0};
  c.state.accepted = c.state.proposed = c.state.window_accepted = c.state.window_proposed =
      c.state.faults = {0};
  c.chains = {{0, bytes}};
  write_checkpoint(run / "checkpoint", c);
  expect_refused({"chain-00001.emc", "checkpoint has no chain 1"});
  fs::remove(chain_file(run, 1));
  EXPECT_EQ(read_chains(run).size(), 1u);
}

// A run that is killed while it replaces a file leaves the temporary file next to it.
TEST_F(RunDirectory, AnUnfinishedFileOfAKilledRunIsNoObstacle) {
  for (const char* name : {"manifest.json.tmp", "checkpoint.tmp", "summary.csv.tmp"}) {
    const auto run = folder_ / (std::string("killed_") + name);
    EXPECT_FALSE(prepare_run_directory(run, ExistingRun::refuse));
    std::ofstream(run / name) << "{";
    EXPECT_FALSE(prepare_run_directory(run, ExistingRun::resume)) << name;
    EXPECT_FALSE(std::filesystem::exists(run / name));
    std::ofstream(run / name) << "{";
    std::ofstream(run / "checkpoint") << "x";
    EXPECT_TRUE(prepare_run_directory(run, ExistingRun::resume)) << name;
    EXPECT_FALSE(std::filesystem::exists(run / name));
    std::ofstream(run / name) << "{";
    EXPECT_FALSE(prepare_run_directory(run, ExistingRun::overwrite)) << name;
    EXPECT_FALSE(std::filesystem::exists(run / name));
  }
  const auto other = folder_ / "other";
  std::filesystem::create_directories(other);
  std::ofstream(other / "mine.tmp") << "x";
  EXPECT_THROW(prepare_run_directory(other, ExistingRun::resume), InputError);
}

TEST_F(RunDirectory, ANonEmptyDirectoryIsRefusedAndForeignFilesAreNeverRemoved) {
  const fs::path run = folder_ / "run";
  EXPECT_FALSE(prepare_run_directory(run, ExistingRun::refuse));
  EXPECT_THROW(prepare_run_directory(run, ExistingRun::refuse), InputError);
  EXPECT_FALSE(prepare_run_directory(run, ExistingRun::resume));  // no checkpoint: from the beginning
  write_content(run / "checkpoint", "x");
  write_content(run / "chains" / "chain-0.emc", "x");
  EXPECT_TRUE(prepare_run_directory(run, ExistingRun::resume));
  EXPECT_FALSE(prepare_run_directory(run, ExistingRun::overwrite));
  EXPECT_TRUE(fs::is_empty(run / "chains"));
  write_content(run / "thesis.tex", "years of work");
  EXPECT_THROW(prepare_run_directory(run, ExistingRun::overwrite), InputError);
  EXPECT_TRUE(fs::exists(run / "thesis.tex"));
}

TEST_F(RunDirectory, ASecondProcessIsRefused) {
  const RunLock first(folder_);
  EXPECT_THROW(RunLock second(folder_), InputError);
  // A directory with only a lock is not a run.
  check_run_directory(folder_, ExistingRun::refuse);
}

// A process that was just killed may still hold its lock for a short time.
TEST_F(RunDirectory, ALockThatIsReleasedSoonIsWaitedFor) {
  auto first = std::make_unique<RunLock>(folder_);
  std::thread ending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first.reset();
  });
  EXPECT_NO_THROW(RunLock second(folder_));
  ending.join();
}

}  // namespace
}  // namespace emomc
