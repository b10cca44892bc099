#include "emomc/likelihood/table.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/standardize.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;

class Tables : public ::testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("emomc-table-" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  }
  /// Writes a .npy file of version 1.0 with float64 values, by default in C order.
  std::string write_npy(const std::string& name, const std::string& shape, const std::vector<double>& values,
                        const std::string& type = "<f8", bool fortran = false) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                         ", 'shape': " + shape + ", }";
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 255);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    return write(name, bytes);
  }
  static void expect_refused(const TableRequest& request, const std::vector<std::string>& words) {
    try {
      read_table(request);
      ADD_FAILURE() << "accepted: " << request.files[0];
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos);
      for (const auto& word : words)
        EXPECT_NE(message.find(word), std::string::npos) << "no '" << word << "' in: " << message;
    }
  }
};

TEST_F(Tables, ACommentBeforeTheHeaderIsNamed) {
  for (const std::string text : {"# made by me\nx,y\n1,2\n", "# made by me, today\nx\n1\n", "# a\n# b\n1\n",
                                 "#\r\nx,y\r\n1,2\r\n", "# alone", "# a\n\nx\n1\n"})
    expect_refused({{write("a.csv", text)}, {}},
                   {"a.csv:1: the line begins with #, and comments are not read"});
  // Names that begin with #, as numpy.savetxt and others write them.
  EXPECT_EQ(read_table({{write("b.csv", "# x,y\n1,2\n")}, {}}).columns,
            (std::vector<std::string>{"# x", "y"}));
  EXPECT_EQ(read_table({{write("c.csv", "#x\n1\n2\n")}, {}}).num_rows, 2u);
}

TEST_F(Tables, ACircleOfLinksIsNamed) {
  fs::create_symlink("round.csv", folder / "round.csv");
  expect_refused({{(folder / "round.csv").string()}, {}}, {"round.csv: its symbolic links lead in a circle"});
}

TEST_F(Tables, ReadsNumbersAndKeepsLabelsApart) {
  const auto file = write("a.csv", "utterance,c0,c1,speaker\n1,1.5,-2e3,x\n1,0x1,3,y\n");
  expect_refused({{file}, {}}, {"a.csv", "3", "c0"});
  const auto good = write("b.csv", "utterance,c0,c1,speaker\r\n1,1.5,-2e3,x\r\n2,\"4\",3,y\r\n");
  const Table table = read_table({{good}, {}});
  EXPECT_EQ(table.columns, (std::vector<std::string>{"c0", "c1"}));
  EXPECT_EQ(table.values, (std::vector<double>{1.5, -2000, 4, 3}));
  EXPECT_EQ(table.skipped_columns, (std::vector<std::string>{"utterance", "speaker"}));
  const Table chosen = read_table({{good}, {"c1"}});
  EXPECT_EQ(chosen.values, (std::vector<double>{-2000, 3}));
}

TEST_F(Tables, JoinsFilesOfAGlobInOrder) {
  write("s_2.csv", "x\n3\n");
  write("s_1.csv", "x\n1\n2\n");
  const Table table = read_table({{(folder / "s_*.csv").string()}, {}});
  EXPECT_EQ(table.values, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(table.file_first_row, (std::vector<std::size_t>{0, 2}));
  expect_refused({{(folder / "t_*.csv").string()}, {}}, {"t_*.csv"});
  write("s_3.csv", "y\n4\n");
  expect_refused({{(folder / "s_*.csv").string()}, {}}, {"s_3.csv"});
}

TEST_F(Tables, CountsDuplicateRows) {
  const auto file = write("d.csv", "x,y\n1,2\n1,2\n2,1\n1,2\n-0,0\n0,0\n");
  EXPECT_EQ(read_table({{file}, {}}).num_duplicate_rows, 3u);
}

TEST_F(Tables, RefusesWithFileLineAndColumn) {
  expect_refused({{write("1.csv", "x,y\n1,2\n3,\n")}, {}}, {"1.csv", "3", "y"});
  expect_refused({{write("2.csv", "x,y\n1,2\n3,inf\n")}, {}}, {"2.csv", "3", "y", "inf"});
  expect_refused({{write("3.csv", "x,y\n1,2\n3,4,5\n")}, {}}, {"3.csv", "3"});
  expect_refused({{write("4.csv", "x,x\n1,2\n")}, {}}, {"4.csv", "x"});
  expect_refused({{write("5.csv", "x,y\n")}, {}}, {"5.csv", "no rows"});
  expect_refused({{write("6.csv", "")}, {}}, {"6.csv", "empty"});
  expect_refused({{write("7.csv", "x\n1e999\n")}, {}}, {"7.csv", "2", "x"});
  expect_refused({{folder.string()}, {}}, {folder.string()});
  expect_refused({{write("8.csv", "x,y\n1,2\n")}, {"z"}}, {"8.csv", "z", "x, y"});
}

TEST_F(Tables, BlankLinesAtTheEndAreNoRows) {
  for (const char* end : {"", "\n", "\n\n", " \n\t\n", "\r\n\r\n", "  "}) {
    const auto one = write("one.csv", std::string("x\n1\n2\n") + end);
    EXPECT_EQ(read_table({{one}, {}}).values, (std::vector<double>{1, 2})) << end;
    const auto two = write("two.csv", std::string("x,y\n1,2\n") + end);
    EXPECT_EQ(read_table({{two}, {}}).values, (std::vector<double>{1, 2})) << end;
  }
  expect_refused({{write("a.csv", "x\n1\n\n2\n")}, {}},
                 {"a.csv:3", "blank line", "missing value of column x"});
  expect_refused({{write("b.csv", "x\n1\n\"\"\n")}, {}}, {"b.csv:3", "x", "missing"});
  expect_refused({{write("c.csv", "x,y\n1,2\n\n3,4\n")}, {}}, {"c.csv:3", "blank line"});
  expect_refused({{write("d.csv", "x\n\n")}, {}}, {"d.csv", "no rows"});
}

TEST_F(Tables, ANumberHasOneSign) {
  EXPECT_EQ(read_table({{write("a.csv", "x\n+5\n-5\n")}, {}}).values, (std::vector<double>{5, -5}));
  for (const char* number : {"+-5", "-+5", "--5", "++5", "+", "-"})
    expect_refused({{write("b.csv", std::string("x\n1\n") + number + "\n")}, {}},
                   {"b.csv:3", std::string("'") + number + "'"});
}

// 2^53 + 1 would silently become 2^53.
TEST_F(Tables, RefusesIntegersOfNpyThatADoubleRounds) {
  const auto file = [&](const std::string& type, std::uint64_t bits) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return write_npy("i.npy", "(2, 1)", {0, value}, type);
  };
  const std::uint64_t exact = std::uint64_t{1} << 53;
  for (const char* type : {"<i8", "<u8"}) {
    EXPECT_EQ(read_table({{file(type, exact)}, {}}).values, (std::vector<double>{0, 0x1p53}));
    EXPECT_EQ(read_table({{file(type, exact << 8)}, {}}).values, (std::vector<double>{0, 0x1p61}));
    expect_refused({{file(type, exact + 1)}, {}}, {"i.npy", "row 1, column 0", "2^53", "float64"});
    expect_refused({{file(type, (std::uint64_t{1} << 63) - 1)}, {}}, {"i.npy", "2^53"});
  }
  expect_refused({{file("<u8", ~std::uint64_t{0})}, {}}, {"i.npy", "2^53"});
  EXPECT_EQ(read_table({{file("<i8", std::uint64_t{1} << 63)}, {}}).values,
            (std::vector<double>{0, -0x1p63}));
  expect_refused({{file("<i8", ~exact)}, {}}, {"i.npy", "2^53"});  // -2^53 - 1
}

TEST_F(Tables, ReadsNpyAndBelievesNoHeader) {
  const Table table = read_table({{write_npy("a.npy", "(2, 3)", {1, 2, 3, 4, 5, 6})}, {}});
  EXPECT_EQ(table.num_rows, 2u);
  EXPECT_EQ(table.columns.size(), 3u);
  EXPECT_EQ(table.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  expect_refused({{write_npy("i.npy", "(2, 2)", {1, 2, 3, 4.5})}, {}, {}, {}, {}, {}, {"c1"}},
                 {"i.npy: row 1, column 1 is 4.5", "no integer"});
  EXPECT_EQ(read_table({{write_npy("i.npy", "(2, 2)", {1, 2, 3, 4.5})}, {}, {}, {}, {}, {}, {"c0"}}).num_rows,
            2u);
  const std::vector<ColumnRename> renames{{"a", "c0"}, {"c0", "c2"}};
  const Table renamed = read_table({{(folder / "a.npy").string()}, {"c0", "a"}, {}, {}, {}, renames});
  EXPECT_EQ(renamed.columns, (std::vector<std::string>{"c0", "a"}));
  EXPECT_EQ(renamed.values, (std::vector<double>{3, 1, 6, 4}));
  EXPECT_EQ(renamed.skipped_columns, std::vector<std::string>{"c1"});
  EXPECT_EQ(read_column_names({{(folder / "a.npy").string()}, {}, {}, {}, {}, renames}),
            (std::vector<std::string>{"a", "c1", "c0"}));
  EXPECT_EQ(read_table({{write_npy("f.npy", "(2, 3)", {1, 4, 2, 5, 3, 6}, "<f8", true)}, {}}).values,
            table.values);
  EXPECT_EQ(read_table({{write_npy("v.npy", "(2,)", {7, 8})}, {}}).values, (std::vector<double>{7, 8}));
  expect_refused({{write_npy("b.npy", "(2, 4)", {1, 2, 3, 4, 5, 6})}, {}}, {"b.npy"});
  expect_refused({{write_npy("c.npy", "(1000000000, 1000000000)", {1})}, {}}, {"c.npy"});
  expect_refused({{write_npy("d.npy", "(1, 1)", {1}, "|O")}, {}}, {"d.npy"});
  expect_refused({{write_npy("e.npy", "(1, 2)", {1, std::nan("")})}, {}}, {"e.npy", "nan"});
  expect_refused({{write("g.npy", "\x93NUMPY")}, {}}, {"g.npy"});
  expect_refused({{write_npy("h.npy", "(0, 3)", {})}, {}}, {"h.npy", "no rows"});
}

// A search for each name among all previous names took minutes.
TEST_F(Tables, ReadsAHundredThousandColumnsInSeconds) {
  std::string header = "c0", row = "1";
  std::vector<std::string> wanted;
  for (int j = 1; j < 100'000; ++j) {
    header += ",c" + std::to_string(j);
    row += ",2";
    if (j % 2) wanted.push_back("c" + std::to_string(j));
  }
  const std::string file = write("wide.csv", header + "\n" + row + "\n");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(read_table({{file}, {}}).columns.size(), 100'000u);
  EXPECT_EQ(read_table({{file}, wanted}).skipped_columns.size(), 50'000u);
  expect_refused({{file}, {"d7"}}, {"d7", "there are: c0, c1", "..."});
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

// Each pair has a file in the format of another program, and the numbers in the file.
TEST_F(Tables, FindsSeparatorsDecimalMarksAndEncodings) {
  const std::string utf16(
      "\xFE\xFF\0a\0;\0b\0\n\0"
      "1\0,\0"
      "5\0;\0"
      "2\0\n",
      22);
  const std::vector<std::tuple<std::string, std::vector<double>, std::string>> files{
      {"a;b\n1.5;2.5\n1;2\n", {1.5, 2.5, 1, 2}, "separated by semicolons"},
      {"a;b\n1,5;2,5\n1;2\n", {1.5, 2.5, 1, 2}, "decimal commas"},
      {"a;b\r\n1;2\r\n1,5;-2,5e1\r\n", {1, 2, 1.5, -25}, "decimal commas"},
      {"a\tb\n1.5\t2.5\n1\t2\n", {1.5, 2.5, 1, 2}, "separated by tabs"},
      {"sep=,\na,b\n1,2\n2,3\n", {1, 2, 2, 3}, ""},
      {"sep=;\r\na;b\r\n1;2\r\n", {1, 2}, "separated by semicolons"},
      {"\xEF\xBB\xBFsep=;\na;b\n1;2\n", {1, 2}, "separated by semicolons"},
      {"height, m;weight, kg\n1,714;60,2\n", {1.714, 60.2}, "decimal commas"},
      {"\"height, m\"\n1,714\n1,783\n", {1.714, 1.783}, "decimal commas"},
      {"\"height, m\",\"b\"\n1.714,2\n", {1.714, 2}, ""},
      {"a,b\n\"1,5\",\"2,75\"\n", {1.5, 2.75}, "decimal commas"},
      {utf16, {1.5, 2}, "UTF-16"},
  };
  for (const auto& [text, values, note] : files) {
    const Table table = read_table({{write("f.csv", text)}, {}});
    EXPECT_EQ(table.values, values) << text;
    std::string notes;
    for (const auto& line : table.notes) notes += line + '\n';
    EXPECT_NE(notes.find(note), std::string::npos) << text << notes;
    EXPECT_EQ(notes.empty(), note.empty()) << text << notes;
  }
  expect_refused({{write("l.csv", "sep=;\na;b\n1;2\n1;x\n")}, {}}, {"l.csv:4", "column b", "'x'"});
  expect_refused({{write("m.csv", "a;b\n1,5;2,5\n1;2.5\n")}, {}}, {"m.csv:3", "column b", "data.decimal"});
  expect_refused({{write("s.csv", "a b\n1 2\n")}, {}}, {"s.csv:2", "not by blanks"});
  expect_refused({{write("x.csv", std::string("a\0,\0b\0\n\0", 8))}, {}}, {"x.csv", "UTF-16"});
  expect_refused({{write("o.csv", utf16.substr(0, 21))}, {}}, {"o.csv", "UTF-16", "odd"});
}

TEST_F(Tables, TwoReadingsAreRefusedAndAKeyDecides) {
  const auto decimals = write("d.csv", "height, m\n1,714\n1,783\n");
  expect_refused({{decimals}, {}}, {"d.csv:1", "height, m", "data.separator: comma", "data.decimal: comma"});
  CsvFormat format;
  format.decimal = ',';
  EXPECT_EQ(read_table({{decimals}, {}, format}).values, (std::vector<double>{1.714, 1.783}));
  EXPECT_EQ(read_table({{decimals}, {}, format}).columns, std::vector<std::string>{"height, m"});
  format = {};
  format.separator = ',';
  EXPECT_EQ(read_table({{decimals}, {}, format}).values, (std::vector<double>{1, 714, 1, 783}));
  // The file must not be read as a column "a,b" with the values 1.2 and 3.
  expect_refused({{write("r.csv", "a,b\n1,2\n3\n")}, {}}, {"r.csv:3"});
  const auto both = write("b.csv", "a,b;c,d\n1,2;3,4\n");
  format.separator = ';';
  format.decimal = ',';
  EXPECT_EQ(read_table({{both}, {}, format}).values, (std::vector<double>{1.2, 3.4}));
  expect_refused({{write("t.csv", "a,b\n\"1,714\",2\n")}, {}}, {"t.csv:2", "1,714", "data.decimal"});
}

TEST_F(Tables, AFirstRowOfNumbersIsRefusedAndAKeyDecides) {
  const auto file = write("n.csv", "0.5,1\n2,3\n");
  expect_refused({{file}, {}}, {"n.csv:1", "all numbers", "data.header: false", "data.header: true"});
  CsvFormat format;
  format.header = false;
  const Table data = read_table({{file}, {}, format});
  EXPECT_EQ(data.values, (std::vector<double>{0.5, 1, 2, 3}));
  EXPECT_EQ(data.columns, (std::vector<std::string>{"c0", "c1"}));
  EXPECT_EQ(read_table({{file}, {"c1"}, format}).values, (std::vector<double>{1, 3}));
  format.header = true;
  const Table named = read_table({{file}, {}, format});
  EXPECT_EQ(named.columns, (std::vector<std::string>{"0.5", "1"}));
  EXPECT_EQ(named.values, (std::vector<double>{2, 3}));
  EXPECT_EQ(read_table({{file}, {"1"}}).values, std::vector<double>{3});  // requested by name
  expect_refused({{write("m.csv", "1,nan\n2,3\n")}, {}}, {"m.csv:1", "all numbers"});
  format.header = false;
  expect_refused({{write("h.csv", "a,b\n2,3\n")}, {}, format}, {"h.csv:1", "'a' is not a number"});
}

TEST_F(Tables, AMissingValueIsSaidToBeMissing) {
  for (const std::string text : {"", "NA", "#N/A", "None"})
    expect_refused({{write("m.csv", "a,b\n1,2\n" + text + ",4\n")}, {}}, {"m.csv:3", "column a", "missing"});
  expect_refused({{write("t.csv", "a,b\n1,2\nNapoli,4\n")}, {}},
                 {"t.csv:3", "column a", "'Napoli' is not a number", "data.columns"});
}

// The files were written by pandas' to_csv and R's write.csv, and by pandas' to_csv after it has read such a
// file.
TEST_F(Tables, AnIndexIsNoData) {
  for (const std::string text :
       {",a,b\n0,1.5,2\n1,3,4\n", "\"\",\"a\",\"b\"\n\"Mazda\",1.5,2\n\"Fiat\",3,4\n",
        "Unnamed: 0,a,b\n0,1.5,2\n1,3,4\n"}) {
    const auto file = write("i.csv", text);
    const Table table = read_table({{file}, {}});
    EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b"})) << text;
    EXPECT_EQ(table.values, (std::vector<double>{1.5, 2, 3, 4})) << text;
    ASSERT_EQ(table.notes.size(), 1u) << text;
    EXPECT_NE(table.notes[0].find("i.csv: the first column"), std::string::npos) << table.notes[0];
    EXPECT_EQ(read_table({{file}, {"b"}}).values, (std::vector<double>{2, 4})) << text;
  }
  EXPECT_EQ(read_table({{write("u.csv", "Unnamed: 0,a\n0,5\n1,6\n")}, {"Unnamed: 0"}}).values,
            (std::vector<double>{0, 1}));
  expect_refused({{write("f.csv", ",a\n0,1\n0.5,2\n")}, {}}, {"f.csv:3", "0.5", "data.columns"});
  expect_refused({{write("e.csv", "a,,b\n0,1,2\n")}, {}}, {"e.csv:1", "column 2 has no name"});
  expect_refused({{write("r.csv", "a,b\nx,1,2\n")}, {}}, {"r.csv:2", "row.names"});
}

TEST_F(Tables, FoldersWithBracketsAreNames) {
  fs::create_directories(folder / "run[1]");
  write("run[1]/d_1.csv", "x\n1\n");
  write("run[1]/d_2.csv", "x\n2\n");
  EXPECT_EQ(read_table({{(folder / "run[1]/d_*.csv").string()}, {}}).values, (std::vector<double>{1, 2}));
  EXPECT_EQ(read_table({{(folder / "run*/d_[2].csv").string()}, {}}).values, std::vector<double>{2});
  expect_refused({{"~/d.csv"}, {}}, {"~/d.csv", "a ~ is not expanded"});
}

// The names are written to the manifest, which is JSON and therefore UTF-8.
TEST_F(Tables, NamesThatAreNotUtf8AreRefused) {
  expect_refused({{write("latin1.csv", "a,h\xf6he\n1,2\n")}, {}}, {"latin1.csv:1", "column 2", "UTF-8"});
  expect_refused({{write("m\xe4rz.csv", "a\n1\n")}, {}}, {"file's name", "UTF-8"});
  EXPECT_EQ(read_table({{write("utf8.csv", "a,h\xc3\xb6he\n1,2\n")}, {}}).columns[1], "h\xc3\xb6he");
}

TEST_F(Tables, APipeIsNotWaitedFor) {
  const auto pipe = folder / "pipe.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused({{pipe.string()}, {}}, {"pipe.csv", "not a regular file"});
  expect_refused({{"/dev/zero"}, {}}, {"/dev/zero", "not a regular file"});
}

TEST(Standardize, BringsColumnsToMean0AndSd1AndOnlyCentresConstants) {
  std::vector<double> values{1e6 + 1, 5, 1e6 + 2, 5, 1e6 + 3, 5};
  const ColumnUnits units = column_units(values, 2);
  EXPECT_DOUBLE_EQ(units.mean[0], 1e6 + 2);
  EXPECT_NEAR(units.sd[0], std::sqrt(2.0 / 3), 1e-12);
  EXPECT_EQ(units.sd[1], 1.0);
  EXPECT_EQ(constant_columns(values, 2), (std::vector<std::size_t>{1}));
  standardize(units, values);
  EXPECT_NEAR(values[0], -std::sqrt(1.5), 1e-12);
  EXPECT_EQ(values[1], 0.0);
}

}  // namespace
}  // namespace emomc
