#include "emomc/speech/feature_set.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "emomc/core/errors.hpp"
#include "libspeech/folder_test.hpp"
#include "shared_data.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

class FeatureTables : public FolderTest {
 protected:
  void expect_refused(const std::string& pattern, const std::vector<std::string>& words) {
    expect_input_error([&] { read_feature_tables(folder, pattern); }, words);
  }
};

FeatureSet small_set() {
  FeatureSet set;
  set.columns = {"c0", "c1"};
  set.values = {1, 10, 3, 10, 5, 10, 100, 7, 102, 7, 9, 9};
  set.utterances = {{"sad_A_1", "A", "sad", 0, 2},
                    {"joy_A_1", "A", "joy", 2, 1},
                    {"sad_B_1", "B", "sad", 3, 2},
                    {"joy_B_x", "B", "joy", 5, 1}};
  return set;
}

void expect_equal(const FeatureSet& a, const FeatureSet& b) {
  EXPECT_EQ(a.columns, b.columns);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_EQ(a.values[i], b.values[i]);
    EXPECT_EQ(std::signbit(a.values[i]), std::signbit(b.values[i]));
  }
  ASSERT_EQ(a.utterances.size(), b.utterances.size());
  for (std::size_t u = 0; u < a.utterances.size(); ++u) {
    EXPECT_EQ(a.utterances[u].id, b.utterances[u].id);
    EXPECT_EQ(a.utterances[u].speaker, b.utterances[u].speaker);
    EXPECT_EQ(a.utterances[u].emotion, b.utterances[u].emotion);
    EXPECT_EQ(a.utterances[u].first_row, b.utterances[u].first_row);
    EXPECT_EQ(a.utterances[u].num_rows, b.utterances[u].num_rows);
  }
}

TEST_F(FeatureTables, ReadsLabelsFromFileNamesAndUtterancesFromTheColumn) {
  write("sad_B.csv", "frame,utterance,c0,c1\n0,7,1,2\n1,7,3,4\n0,3,5,6\n");
  write("joy_A.csv", "utterance,frame,c0,c1\n\"x, y\",0,-1,-2\n");
  write("README.md", "no table");
  std::vector<fs::path> unmatched;
  const FeatureSet set = read_feature_tables(folder, "{emotion}_{speaker}.csv", &unmatched);
  EXPECT_EQ(set.columns, (std::vector<std::string>{"c0", "c1"}));
  EXPECT_EQ(set.values, (std::vector<double>{-1, -2, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(set.num_rows(), 4u);
  ASSERT_EQ(set.utterances.size(), 3u);
  EXPECT_EQ(set.utterances[0].id, "joy_A_x, y");
  EXPECT_EQ(set.utterances[1].id, "sad_B_7");
  EXPECT_EQ(set.utterances[1].speaker, "B");
  EXPECT_EQ(set.utterances[1].emotion, "sad");
  EXPECT_EQ(set.utterances[1].first_row, 1u);
  EXPECT_EQ(set.utterances[1].num_rows, 2u);
  EXPECT_EQ(set.utterances[2].id, "sad_B_3");
  EXPECT_EQ(set.utterances[2].first_row, 3u);
  EXPECT_EQ(unmatched, (std::vector<fs::path>{folder / "README.md"}));
}

TEST_F(FeatureTables, MatchesPatternsAndRefusesAmbiguousNames) {
  const std::string text = "utterance,c0\n1,2\n";
  write("mfcc-A.sad.v1.csv", text);
  const auto set = read_feature_tables(folder, "*-{speaker}.{emotion}.v*.csv");
  EXPECT_EQ(set.utterances.at(0).id, "sad_A_1");
  // A name that matches in several ways with the same labels is not ambiguous.
  EXPECT_EQ(read_feature_tables(folder, "mfcc-{speaker}.{emotion}.v1*").utterances.size(), 1u);
  fs::remove(folder / "mfcc-A.sad.v1.csv");
  write("hot_anger_A.csv", text);
  expect_refused("{emotion}_{speaker}.csv", {"hot_anger_A.csv", "'hot'", "'anger_A'", "pattern", "manifest"});
  EXPECT_EQ(read_feature_tables(folder, "hot_{emotion}_{speaker}.csv").utterances.at(0).emotion, "anger");
  expect_refused("{emotion}-{speaker}.csv", {"no file", "{emotion}-{speaker}.csv", "hot_anger_A.csv"});
  expect_refused("{emotion}.csv", {"{speaker}", "once"});
  expect_refused("{emotion}{emotion}_{speaker}", {"{emotion}", "2 times"});
  expect_refused("{emotion}_{spaeker}.csv", {"{spaeker}", "{speaker}"});
  expect_refused("{emotion}_{speaker", {"closed"});
  expect_input_error([&] { read_feature_tables(folder / "none", "{emotion}_{speaker}.csv"); }, {"none"});
}

// A search over all lengths for each star would not end in any reasonable time.
TEST_F(FeatureTables, MatchesPatternsOfManyStarsInSeconds) {
  write(std::string(200, 'a') + "-sad_A.csv", "utterance,c0\n1,2\n");
  std::string stars;
  for (int i = 0; i < 40; ++i) stars += "*a";
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(read_feature_tables(folder, stars + "-{emotion}_{speaker}.csv").utterances.at(0).id, "sad_A_1");
  expect_refused(stars + "b*{emotion}_{speaker}.csv", {"no file"});
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  expect_refused("{emotion}_{speaker}" + std::string(2000, '*'), {"2019 bytes"});
}

TEST_F(FeatureTables, RefusesBadTablesNamingThem) {
  const std::string pattern = "{emotion}_{speaker}.csv";
  write("a_b.csv", "utterance,c0\n1,2\n2,3\n1,4\n");
  expect_refused(pattern, {"a_b.csv", "row 3", "utterance '1'"});
  write("a_b.csv", "frame,c0\n1,2\n");
  expect_refused(pattern, {"a_b.csv", "'utterance'"});
  write("a_b.csv", "utterance,c0\n,2\n");
  expect_refused(pattern, {"a_b.csv", "missing"});
  write("a_b.csv", "utterance,c0\n1,2\n1,x\n");
  expect_refused(pattern, {"a_b.csv:3", "c0", "'x'"});
  write("a_b.csv", "utterance,c0\n1,2\n");
  write("a_c.csv", "utterance,c1\n1,2\n");
  expect_refused(pattern, {"a_c.csv:1", "differ", "a_b.csv"});
}

TEST_F(FeatureTables, RefusesAnIdThatOccursTwice) {
  write("1-a_b.csv", "utterance,c0\n1,2\n");
  write("2-a_b.csv", "utterance,c0\n1,2\n");
  expect_refused("*-{emotion}_{speaker}.csv", {"2-a_b.csv", "a_b_1", "twice"});
}

TEST_F(FeatureTables, AreReadBackToTheBit) {
  FeatureSet set = small_set();
  set.columns[1] = "a \"b\", c";
  set.values = {1.0 / 3,
                -0.0,
                std::numeric_limits<double>::denorm_min(),
                std::numeric_limits<double>::max(),
                0.1 + 0.2,
                -std::nextafter(1.0, 2.0),
                1e22,
                1e-300,
                123456789.123456789,
                5e-324,
                2.2250738585072014e-308,
                -1.7976931348623157e308};
  const std::string pattern = write_feature_tables(set, folder / "new" / "tables");
  EXPECT_EQ(pattern, "{emotion}_{speaker}.csv");
  EXPECT_TRUE(fs::exists(folder / "new" / "tables" / "sad_A.csv"));
  FeatureSet sorted = set;  // in the order of the file names: joy_A, joy_B, sad_A, sad_B
  sorted.utterances = {{"joy_A_1", "A", "joy", 0, 1},
                       {"joy_B_x", "B", "joy", 1, 1},
                       {"sad_A_1", "A", "sad", 2, 2},
                       {"sad_B_1", "B", "sad", 4, 2}};
  const auto& v = set.values;
  sorted.values = {v[4], v[5], v[10], v[11], v[0], v[1], v[2], v[3], v[6], v[7], v[8], v[9]};
  expect_equal(read_feature_tables(folder / "new" / "tables", pattern), sorted);
}

TEST_F(FeatureTables, LabelsWithUnderscoresAreReadBack) {
  FeatureSet set = small_set();
  for (auto& utterance : set.utterances) utterance.speaker = "Actor_" + utterance.speaker;
  set.utterances[0].emotion = "so-so";
  const std::string pattern = write_feature_tables(set, folder);
  EXPECT_EQ(pattern, "{emotion}+{speaker}.csv");
  std::set<std::pair<std::string, std::string>> labels;
  for (const auto& utterance : read_feature_tables(folder, pattern).utterances)
    labels.insert({utterance.emotion, utterance.speaker});
  EXPECT_EQ(labels, (std::set<std::pair<std::string, std::string>>{
                        {"so-so", "Actor_A"}, {"joy", "Actor_A"}, {"sad", "Actor_B"}, {"joy", "Actor_B"}}));
}

TEST_F(FeatureTables, IdsWithoutTheLabelsGetThem) {
  FeatureSet set = small_set();
  // The ids of the two utterances must stay different.
  set.utterances = {{"sad_A_1", "A", "sad", 0, 2}, {"1", "A", "sad", 2, 4}};
  const auto read = read_feature_tables(folder, write_feature_tables(set, folder));
  ASSERT_EQ(read.utterances.size(), 2u);
  EXPECT_EQ(read.utterances[0].id, "sad_A_sad_A_1");
  EXPECT_EQ(read.utterances[1].id, "sad_A_1");
}

TEST_F(FeatureTables, WritesNothingThatCannotBeReadBack) {
  const auto refused = [&](auto change, const std::vector<std::string>& words) {
    FeatureSet set = small_set();
    change(set);
    expect_input_error([&] { write_feature_tables(set, folder / "out"); }, words);
    EXPECT_FALSE(fs::exists(folder / "out"));
  };
  refused([](FeatureSet& s) { s.utterances[1].emotion = "a/b"; }, {"joy_A_1", "emotion", "a/b"});
  refused([](FeatureSet& s) { s.utterances[1].speaker = ""; }, {"joy_A_1", "speaker"});
  refused([](FeatureSet& s) { s.utterances[1].speaker = "a\nb"; }, {"joy_A_1", "control"});
  refused([](FeatureSet& s) { s.utterances[1].speaker = "_-+~=@"; }, {"_ - + ~ = @"});
  refused([](FeatureSet& s) { s.utterances[1].id = "sad_A_1"; }, {"sad_A_1", "twice"});
  refused([](FeatureSet& s) { s.utterances[1].num_rows = 0; }, {"joy_A_1", "no rows"});
  refused([](FeatureSet& s) { s.columns[0] = "frame"; }, {"frame", "reserved"});
  refused([](FeatureSet& s) { s.values[3] = std::nan(""); }, {"row 2", "c1"});
  refused([](FeatureSet& s) { s.utterances.clear(); }, {"no utterances"});
  write("file", "");
  EXPECT_THROW(write_feature_tables(small_set(), folder / "file"), MachineError);
}

TEST(Normalize, BringsEachGroupToMean0AndSd1) {
  FeatureSet corpus = small_set();
  normalize(corpus, Normalization::none);
  expect_equal(corpus, small_set());
  normalize(corpus, Normalization::corpus);
  double sum = 0, squares = 0;
  for (std::size_t row = 0; row < 6; ++row) {
    sum += corpus.values[2 * row];
    squares += corpus.values[2 * row] * corpus.values[2 * row];
  }
  EXPECT_NEAR(sum, 0, 1e-14);
  EXPECT_NEAR(squares, 6, 1e-13);

  FeatureSet speaker = small_set();  // A's c0: 1, 3, 5; c1: constant 10. B's c0: 100, 102, 9; c1: 7, 7, 9
  normalize(speaker, Normalization::speaker);
  EXPECT_NEAR(speaker.values[0], -2 / std::sqrt(8.0 / 3), 1e-14);
  EXPECT_NEAR(speaker.values[2], 0, 1e-14);
  EXPECT_EQ(speaker.values[1], 0);
  EXPECT_NEAR(speaker.values[11], std::sqrt(2.0), 1e-14);

  FeatureSet utterance = small_set();
  normalize(utterance, Normalization::utterance);
  EXPECT_EQ(utterance.values, (std::vector<double>{-1, 0, 1, 0, 0, 0, -1, 0, 1, 0, 0, 0}));
}

TEST(Normalize, GivesFiniteNumbersOfTinyDifferences) {
  FeatureSet set{{"c0"}, {1e-200, 2e-200, 3e-200}, {{"a", "s", "e", 0, 3}}};
  normalize(set, Normalization::corpus);
  for (double value : set.values) EXPECT_LT(std::abs(value), 1e-100);
}

TEST(DropRepeatedRows, LooksWithinUtterancesOnly) {
  FeatureSet set{{"a", "b"},
                 {0, 0, 0, 0, 0, 1, 0, 0, /**/ 0, 0, 2, 2, 2, 2, 2, 2},
                 {{"u", "s", "e", 0, 4}, {"v", "s", "e", 4, 4}}};
  EXPECT_EQ(drop_repeated_rows(set), 3u);
  EXPECT_EQ(set.values, (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 0, 2, 2}));
  EXPECT_EQ(set.utterances[0].num_rows, 3u);
  EXPECT_EQ(set.utterances[1].first_row, 3u);
  EXPECT_EQ(set.utterances[1].num_rows, 2u);
  EXPECT_EQ(drop_repeated_rows(set), 0u);
}

TEST(AppendDeltas, AreRegressionsWithRepeatedEdges) {
  FeatureSet set{{"c0"}, {1, 4, 9, 16, 25, 7}, {{"u", "s", "e", 0, 5}, {"v", "s", "e", 5, 1}}};
  FeatureSet same = set;
  append_deltas(same, 0);
  expect_equal(same, set);
  append_deltas(set, 2);
  EXPECT_EQ(set.columns, (std::vector<std::string>{"c0", "d_c0", "dd_c0"}));
  EXPECT_EQ(set.num_rows(), 6u);
  // The derivatives are computed by hand: d_t = (c[t+1] - c[t-1] + 2 (c[t+2] - c[t-2])) / 10, with c[-1] =
  // c[0] etc.
  const std::vector<double> d{(3 + 16) / 10.0,  (8 + 30) / 10.0, (12 + 48) / 10.0,
                              (16 + 42) / 10.0, (9 + 32) / 10.0, 0};
  for (std::size_t row = 0; row < 6; ++row) EXPECT_NEAR(set.values[3 * row + 1], d[row], 1e-14);
  EXPECT_NEAR(set.values[3 * 0 + 2], (3.8 - 1.9 + 2 * (6.0 - 1.9)) / 10, 1e-14);
  EXPECT_EQ(set.values[3 * 5 + 2], 0);
  EXPECT_EQ(set.values[3 * 2], 9);

  FeatureSet wide{{"a", "b"}, {0, 5, 1, 3, 3, 1}, {{"u", "s", "e", 0, 3}}};
  append_deltas(wide, 1, 1);
  EXPECT_EQ(wide.columns, (std::vector<std::string>{"a", "b", "d_a", "d_b"}));
  EXPECT_EQ(wide.values, (std::vector<double>{0, 5, 0.5, -1, 1, 3, 1.5, -2, 3, 1, 1, -1}));
  expect_input_error([&] { append_deltas(wide, 3); }, {"3", "0, 1 and 2"});
  expect_input_error([&] { append_deltas(wide, 1, 0); }, {"reach 0"});
}

TEST_F(FeatureTables, ReadTheThesisCorpusAndWriteItBack) {
  const auto data = testing::shared_data("thesis");
  if (!data) GTEST_SKIP() << "the thesis' features are not at shared/data/thesis (or EMOMC_SHARED_DATA)";
  std::vector<fs::path> unmatched;
  const FeatureSet set = read_feature_tables(*data, "{emotion}_{speaker}.csv", &unmatched);
  EXPECT_TRUE(unmatched.empty());
  EXPECT_EQ(set.dim(), 13u);
  std::set<std::string> emotions, speakers;
  std::size_t next_row = 0;
  for (const auto& utterance : set.utterances) {
    emotions.insert(utterance.emotion);
    speakers.insert(utterance.speaker);
    EXPECT_EQ(utterance.first_row, next_row);
    next_row += utterance.num_rows;
  }
  EXPECT_EQ(next_row, set.num_rows());
  EXPECT_EQ(emotions, (std::set<std::string>{"Bored", "Happy", "HotAnger", "Neutral", "Sad"}));
  EXPECT_EQ(speakers, (std::set<std::string>{"CC1", "CL1", "GG1", "JG1", "MF1"}));
  EXPECT_EQ(set.values[0], 12.16948);
  expect_equal(read_feature_tables(folder, write_feature_tables(set, folder)), set);
}

TEST(CentreByUtterance, TakesTheGainOutOfOneColumn) {
  FeatureSet frames{
      {"c1", "c0"}, {1, 10, 2, 20, 3, 30, 4, 100, 5, 102}, {{"a", "A", "x", 0, 3}, {"b", "A", "x", 3, 2}}};
  centre_by_utterance(frames, "c0");
  EXPECT_EQ(frames.values, (std::vector<double>{1, -10, 2, 0, 3, 10, 4, -1, 5, 1}));
  const std::vector<double> before = frames.values;
  centre_by_utterance(frames, "level");
  EXPECT_EQ(frames.values, before);
}

}  // namespace
}  // namespace emomc
