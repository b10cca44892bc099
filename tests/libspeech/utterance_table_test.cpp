#include "emomc/speech/utterance_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "emomc/core/errors.hpp"
#include "folder_test.hpp"

namespace emomc {
namespace {

using Names = std::vector<std::string>;

class UtteranceTableTest : public FolderTest {
 protected:
  UtteranceTable read(const std::string& name, const std::string& text, const std::string& names = "") {
    write(name, text);
    return read_utterance_table(folder / name, names);
  }
  void expect_refused(const std::string& name, const std::string& text, const Names& words,
                      const std::string& names = "") {
    expect_input_error([&] { read(name, text, names); }, words);
  }
};

TEST_F(UtteranceTableTest, ReadsCsv) {
  const UtteranceTable table = read("a.csv",
                                    "file,start,end,f0.mean,\"a,b\"\n"
                                    "wav/one.wav,0 days,0 days,1.5,-2e-3\n"
                                    "wav/two.wav,0 days,0 days,,nan\n");
  EXPECT_EQ(table.columns, (Names{"f0.mean", "a,b"}));
  EXPECT_EQ(table.names, (Names{"wav/one.wav", "wav/two.wav"}));
  EXPECT_EQ(table.skipped, (Names{"start", "end"}));
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(table.values[0], 1.5);
  EXPECT_EQ(table.values[1], -2e-3);
  EXPECT_TRUE(std::isnan(table.values[2]) && std::isnan(table.values[3]));
}

// The tables are one that `emomc features --functionals` writes, openSMILE's own CSV, and one of pandas.
TEST_F(UtteranceTableTest, ReadsCsvOfOtherPrograms) {
  const UtteranceTable own = read("own.csv", "utterance,speaker,emotion,x\nu1,s,sad,1\n");
  EXPECT_EQ(own.columns, Names{"x"});
  const UtteranceTable smile =
      read("smile.csv", "name;frameTime;F0_sma;pcm_RMS\n'03a01Fa';0.000000;1.0e+01;+2\n");
  EXPECT_EQ(smile.columns, (Names{"F0_sma", "pcm_RMS"}));
  EXPECT_EQ(smile.names, Names{"03a01Fa"});
  EXPECT_EQ(smile.values, (std::vector<double>{10, 2}));
  const UtteranceTable pandas = read("pandas.csv", "\xef\xbb\xbf,path,0,1\r\n0,a.wav,3,4\r\n\r\n");
  EXPECT_EQ(pandas.columns, (Names{"0", "1"}));
  EXPECT_EQ(pandas.values, (std::vector<double>{3, 4}));
  const UtteranceTable chosen = read("chosen.csv", "clip\tfile\tx\nc1\tf1\t1\n", "clip");
  EXPECT_EQ(chosen.names, Names{"c1"});
  EXPECT_EQ(chosen.columns, Names{"x"});
}

TEST_F(UtteranceTableTest, ReadsArff) {
  const UtteranceTable table = read("a.arff",
                                    "% a comment\n@RELATION 'some thing'\n\n@attribute name string\n"
                                    "@attribute 'the f0' NUMERIC\n@attribute energy real % of all\n"
                                    "@attribute class {sad,glad}\n@data\n"
                                    "'o\\'ne.wav', 1.25, ?, sad\n% between\n\"two\",-3,4,'?'\n");
  EXPECT_EQ(table.columns, (Names{"the f0", "energy"}));
  EXPECT_EQ(table.names, (Names{"o'ne.wav", "two"}));
  EXPECT_EQ(table.skipped, Names{"class"});
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{9, 11}));
  EXPECT_EQ(table.values[0], 1.25);
  EXPECT_TRUE(std::isnan(table.values[1]));
  EXPECT_EQ(table.values[3], 4);
}

TEST_F(UtteranceTableTest, ReadsNpyWithNames) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() + 1);
  bytes += '\0';
  bytes += header + '\n';
  const double values[] = {1, 2, 3, 4, 5, 6};
  bytes.append(reinterpret_cast<const char*>(values), sizeof values);
  write("names.txt", "one.wav\r\ntwo.wav\n\n");
  const std::string names = (folder / "names.txt").string();
  const UtteranceTable table = read("a.npy", bytes, names);
  EXPECT_EQ(table.names, (Names{"one.wav", "two.wav"}));
  EXPECT_EQ(table.columns.size(), 3u);
  EXPECT_EQ(table.values, std::vector<double>(values, values + 6));
  expect_refused("a.npy", bytes, {"a.npy", "features.table_names"});
  write("names.txt", "one.wav\n");
  expect_refused("a.npy", bytes, {"names.txt", "1 names", "2 rows"}, names);
  write("names.txt", "one.wav\n\ntwo.wav\n");
  expect_refused("a.npy", bytes, {"names.txt:2", "missing"}, names);
  expect_refused("a.npy", bytes, {"nowhere.txt"}, (folder / "nowhere.txt").string());
}

TEST_F(UtteranceTableTest, RefusesOtherFiles) {
  expect_refused("a.csv", "", {"a.csv", "empty"});
  expect_refused("a.csv", "file,x\n", {"a.csv", "no rows"});
  expect_refused("a.csv", "x,y\n1,2\n", {"a.csv:1", "file, name, filename", "features.table_names"});
  expect_refused("a.csv", "file,x\na,1\n", {"a.csv:1", "'clp'"}, "clp");
  expect_refused("a.csv", "file,x\na,1\nb,1,2\n", {"a.csv:3", "3 values", "2 columns"});
  expect_refused("a.csv", "file,x\na,1\nb,low\n", {"a.csv:3", "'x'", "'low'"});
  expect_refused("a.csv", "file,x\na,inf\n", {"a.csv:2", "finite"});
  expect_refused("a.csv", "file,x\na,1e999\n", {"a.csv:2", "finite"});
  expect_refused("a.csv", "file,x,x\na,1,2\n", {"a.csv:1", "'x'", "twice"});
  expect_refused("a.csv", "file,x,\na,1,2\n", {"a.csv:1", "column 3", "no name"});
  expect_refused("a.csv", "file,start\na,1\n", {"a.csv:1", "no column of numbers"});
  expect_refused("a.csv", "file,x\n,1\n", {"a.csv:2", "missing"});
  expect_refused("a.arff", "@attribute x numeric\n", {"a.arff", "@data"});
  expect_refused("a.arff", "@data\n1\n", {"a.arff:1", "@attribute"});
  expect_refused("a.arff", "@relation r\nnonsense\n", {"a.arff:2", "expected @relation"});
  expect_refused("a.arff", "@attribute name string\n@attribute x numeric\n@data\n{0 a}\n",
                 {"a.arff:4", "sparse"});
  expect_refused("a.arff", "@attribute name string\n@attribute x numeric\n@data\n'a,1\n",
                 {"a.arff:4", "quote"});
  expect_refused("a.arff", "@attribute name string\n@attribute x numeric\n@data\n'a' b,1\n",
                 {"a.arff:4", "quote"});
  EXPECT_THROW(read_utterance_table(folder / "nowhere.csv", ""), InputError);
  EXPECT_THROW(read_utterance_table(folder, ""), InputError);
}

TEST_F(UtteranceTableTest, JoinsByTheEndOfPaths) {
  const auto join = [](const Names& names, const Names& ids) {
    UtteranceTable table;
    table.file = "t.csv";
    table.names = names;
    for (std::size_t i = 0; i < names.size(); ++i) table.lines.push_back(i + 2);
    return rows_of_utterances(table, ids);
  };
  using Rows = std::vector<std::optional<std::size_t>>;
  EXPECT_EQ(join({"/data/wav/b.wav", "a"}, {"a", "b", "c"}), (Rows{1, 0, std::nullopt}));
  EXPECT_EQ(join({"sad/s1/take0.wav", "s2/take0.wav", "x\\glad\\s1\\take0.wav"},
                 {"sad/s1/take0", "glad/s1/take0", "sad/s2/take0"}),
            (Rows{0, 2, 1}));
  EXPECT_EQ(join({"v1.2"}, {"v1.2"}), Rows{0});  // .2 is not the ending of a file's name
  const auto why = [&](const Names& names, const Names& ids) -> std::string {
    try {
      join(names, ids);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(why({"take0"}, {"sad/take0", "glad/take0"}).find("t.csv:2: 'take0' could be"), std::string::npos);
  EXPECT_NE(why({"a", "a.wav"}, {"a"}).find("t.csv:3: a second row of 'a', after that of line 2"),
            std::string::npos);
}

}  // namespace
}  // namespace emomc
