// Tests columns of tables about recordings or speakers.
#include "emomc/speech/named_column.hpp"

#include <gtest/gtest.h>

#include "folder_test.hpp"

namespace emomc {
namespace {

using Texts = std::vector<std::string>;

class NamedColumns : public FolderTest {};

TEST_F(NamedColumns, AreAboutRecordingsOrSpeakers) {
  const NamedColumn by_path = read_named_column(
      write("m.csv", "speaker;path;fold\n\ns1; a/x.wav ;one\ns2;\"b/x.wav\"; two\n"), "fold");
  EXPECT_FALSE(by_path.is_about_speakers);
  EXPECT_EQ(by_path.names, (Texts{"a/x.wav", "b/x.wav"}));
  EXPECT_EQ(by_path.values, (Texts{"one", "two"}));
  EXPECT_EQ(by_path.lines, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(values_of_utterances(by_path, {"b/x", "a/x"}, {"s2", "s1"}, "k"), (Texts{"two", "one"}));
  const NamedColumn by_speaker =
      read_named_column(write("s.csv", "speaker,gender\ns1,f\ns2,\ns3,m\n"), "gender");
  EXPECT_TRUE(by_speaker.is_about_speakers);
  EXPECT_EQ(values_of_utterances(by_speaker, {"a", "b", "c"}, {"s2", "s1", "s1"}, "k"),
            (Texts{"", "f", "f"}));
  // Of the two columns that can name recordings, `recording` takes precedence over `file`.
  EXPECT_EQ(read_named_column(write("r.csv", "file\trecording\tx\na\tb\t1\n"), "x").names, Texts{"b"});
}

TEST_F(NamedColumns, ThatCannotBeReadAreRefused) {
  const auto refused = [&](const std::string& text, const Texts& words) {
    const auto file = write("t.csv", text);
    expect_input_error([&] { read_named_column(file, "gender"); }, words);
  };
  refused("", {"t.csv", "empty"});
  refused("speaker,gendre\na,f\n",
          {"t.csv:1", "no column 'gender'", "did you mean gendre", "found: speaker"});
  refused("name,gender\na,f\n", {"t.csv:1", "recording, path, utterance or file, or speaker"});
  refused("speaker,gender,gender\na,f,f\n", {"t.csv:1", "'gender' is doubled"});
  refused("speaker,gender\na,f\nb\n", {"t.csv:3", "1 values", "2 columns"});
  refused("speaker,gender\n,f\n", {"t.csv:2", "the speaker is missing"});
  refused("speaker,gender\na,\xff\n", {"t.csv:2", "the gender is not UTF-8"});
  refused("speaker,gender\n", {"t.csv", "no rows"});
  expect_input_error([&] { read_named_column(folder / "nowhere.csv", "gender"); },
                     {"nowhere.csv", "no such file"});
}

TEST_F(NamedColumns, ThatDoNotFitTheUtterancesAreRefused) {
  const auto refused = [&](const std::string& text, const Texts& words) {
    const NamedColumn column = read_named_column(write("t.csv", text), "fold");
    expect_input_error(
        [&] {
          values_of_utterances(column, {"a/x", "a/y"}, {"s1", "s2"}, "folds.file");
        },
        words);
  };
  refused("path,fold\na/x.wav,1\n", {"folds.file", "t.csv", "'a/y' has no row", "1 of 2"});
  refused("path,fold\na/x.wav,1\na/y.wav,1\na/x.wav,2\n", {"folds.file", "t.csv:4", "'a/x.wav'", "line 2"});
  refused("path,fold\na/x.wav,1\na/y.wav,1\nx.wav,2\n", {"t.csv:4", "a second row", "line 2"});
  refused("speaker,fold\ns1,1\n", {"folds.file", "speaker 's2' has no row"});
  refused("speaker,fold\ns1,1\ns2,1\ns1,2\n", {"t.csv:4", "speaker 's1' has fold '2'", "'1' in line 2"});
}

}  // namespace
}  // namespace emomc
