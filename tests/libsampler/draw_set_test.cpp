// Draws that other programs wrote.
#include "emomc/sampler/draw_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "emomc/core/errors.hpp"
#include "shared_data.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

class StanCsv : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "emomc-test-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  // Message of the refusal, without the folder.
  std::string refusal(const std::string& text) const {
    try {
      read_stan_csv({write("x.csv", text)});
    } catch (const InputError& error) {
      const std::string message = error.what();
      return message.substr(message.find("x.csv"));
    }
    return "";
  }
  fs::path folder_;
};

const char* const kHeader = "lp__,accept_stat__,divergent__,mu.1,mu.2,tau\n";

TEST_F(StanCsv, IsReadWithItsNames) {
  const std::string first =
      std::string("# num_samples = 2\n#     num_warmup = 1\n# thin = 1\n") + kHeader +
      "# Adaptation terminated\n-1,0.9,0,1,2,0.5\n-2.5e0,0.8,1,3,4,inf\n"
      "# \n#  Elapsed Time: 0.25 seconds (Warm-up)\n#                0.5 seconds (Sampling)\n";
  const std::string second = std::string(kHeader) + "-3,1,0,5,6,nan\r\n-4,1,0,7,8,-0.5\r\n";
  const DrawSet set = read_stan_csv({write("a.csv", first), write("b.csv", second)});
  EXPECT_EQ(set.names, (std::vector<std::string>{"lp__", "mu.1", "mu.2", "tau"}));
  EXPECT_EQ(set.num_log_densities, 1u);
  EXPECT_EQ(set.chains, (std::vector<std::string>{"a.csv", "b.csv"}));
  EXPECT_EQ(set.num_draws, 2u);
  EXPECT_EQ(std::vector<double>(set.values.begin(), set.values.begin() + 8),
            (std::vector<double>{-1, -2.5, -3, -4, 1, 3, 5, 7}));
  EXPECT_EQ(set.values[13], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(set.values[14]));
  EXPECT_EQ(set.divergences, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(set.warmup_seconds, 0.25);
  EXPECT_EQ(set.sampling_seconds, 0.5);
}

TEST_F(StanCsv, SavedWarmUpIsLeftOut) {
  const std::string text = std::string("#     num_warmup = 5\n#     save_warmup = 1\n#     thin = 2\n") +
                           kHeader + "0,1,0,1,1,1\n0,1,0,1,1,1\n0,1,0,1,1,1\n9,1,0,2,2,2\n";
  const DrawSet set = read_stan_csv({write("a.csv", text)});
  EXPECT_EQ(set.num_draws, 1u);
  EXPECT_EQ(set.values[0], 9);
}

TEST_F(StanCsv, WhatIsNoSuchFileIsRefusedInOneLine) {
  const std::string rows = std::string(kHeader) + "-1,0.9,0,1,2,0.5\n";
  EXPECT_EQ(refusal(""), "x.csv: there is no header of column names in it");
  EXPECT_EQ(refusal(kHeader), "x.csv: there are no draws in it");
  EXPECT_EQ(refusal(rows + "-1,0.9,0,1,2"), "x.csv:3: 5 fields, but the header has 6; the file is cut off");
  EXPECT_EQ(refusal(rows + "-1,0.9,0,1,2,0.5"),
            "x.csv:3: the last row has no line break; the file is cut off");
  EXPECT_EQ(refusal(rows + "-1,0.9,0,1,two,0.5\n"), "x.csv:3: 'two' is no number");
  EXPECT_EQ(refusal(rows + "-1,0.9,0,1,,0.5\n"), "x.csv:3: '' is no number");
  EXPECT_EQ(refusal(std::string("a,b\n1,\0\n", 8)), "x.csv:2: a zero byte; this is no CSV file");
  EXPECT_EQ(refusal("lp__,x__\n1,2\n"), "x.csv: there is no parameter in it");
  EXPECT_THROW(read_stan_csv({folder_ / "absent.csv"}), InputError);
  EXPECT_THROW(read_stan_csv({folder_}), InputError);
  EXPECT_THROW(read_stan_csv({write("a.csv", rows), write("b.csv", rows + "-1,0.9,0,1,2,0.5\n")}),
               InputError);
  EXPECT_THROW(read_stan_csv({write("a.csv", rows), write("b.csv", "y\n1\n")}), InputError);
}

TEST_F(StanCsv, TheBlockerDrawsAreRead) {
  const auto folder = testing::shared_data("diagnostics/blocker");
  if (!folder) GTEST_SKIP() << "no shared data: set EMOMC_SHARED_DATA";
  const DrawSet set = read_stan_csv({*folder / "blocker.1.csv", *folder / "blocker.2.csv"});
  EXPECT_EQ(set.num_draws, 1000u);
  EXPECT_EQ(set.num_chains(), 2u);
  EXPECT_EQ(set.names.front(), "lp__");
  EXPECT_EQ(set.names.back(), "sigma_delta");
  EXPECT_EQ(set.sampling_seconds.value_or(0) > 0, true);
}

// Lower triangles, row after row, become whole matrices: of the second matrix of three rows.
TEST(QuantityArrays, MatricesAreWhole) {
  DrawSet set;
  set.num_log_densities = 3;
  set.layout.blocks.push_back(
      {"covariances", {2, 3, 3}, Support::covariance, DataUnit::scale, Influence::component, 0, -1});
  const auto arrays = arrays_of(set, 12);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].shape, (std::vector<int>{2, 3, 3}));
  EXPECT_EQ(std::vector<std::size_t>(arrays[0].quantities.begin() + 9, arrays[0].quantities.end()),
            (std::vector<std::size_t>{9, 10, 12, 10, 11, 13, 12, 13, 14}));
}

TEST(NameBlocks, FollowTheNames) {
  const std::vector<std::string> names{"lp",    "mu[1,1]", "mu[1,2]", "mu[2,1]", "mu[2,2]",
                                       "tau.1", "tau.2",   "a.b.3",   "x[k]",    "sigma"};
  const auto blocks = blocks_of_names(names);
  ASSERT_EQ(blocks.size(), 6u);
  EXPECT_EQ(blocks[1].name, "mu");
  EXPECT_EQ(blocks[1].indices[2], (std::vector<int>{2, 1}));
  EXPECT_EQ(blocks[2].name, "tau");
  EXPECT_EQ(blocks[2].begin, 5u);
  EXPECT_EQ(blocks[2].size, 2u);
  EXPECT_EQ(blocks[3].name, "a.b");
  EXPECT_EQ(blocks[4].name, "x[k]");
}

}  // namespace
}  // namespace emomc
