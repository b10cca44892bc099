#include "emomc/speech/corpus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "libspeech/folder_test.hpp"
#include "shared_data.hpp"

namespace emomc {
namespace {

namespace fs = std::filesystem;
using Labels = std::pair<std::string, std::string>;  // speaker, emotion

class Corpora : public FolderTest {
 protected:
  /// Expects that empty recordings with these names are parsed to these labels.
  void expect_labels(const std::string& kind, const std::map<std::string, Labels>& label_of) {
    for (const auto& [name, labels] : label_of) write(name, "");
    const auto listing = list_corpus(kind, folder);
    for (const auto& unparsed : listing.unparsed) ADD_FAILURE() << unparsed.file << ": " << unparsed.why;
    EXPECT_EQ(listing.utterances.size(), label_of.size());
    for (const auto& utterance : listing.utterances) {
      const auto found = label_of.find(utterance.file.lexically_relative(folder).string());
      ASSERT_NE(found, label_of.end()) << utterance.file;
      EXPECT_EQ(Labels(utterance.speaker, utterance.emotion), found->second) << utterance.file;
      EXPECT_EQ(utterance.id, fs::path(found->first).replace_extension().string());
    }
  }

  /// Expects that recordings with these names, added to the existing ones, are left out with these words as
  /// the reason.
  void expect_unparsed(const std::string& kind, const std::map<std::string, std::string>& why_of) {
    for (const auto& [name, why] : why_of) write(name, "");
    const auto listing = list_corpus(kind, folder);
    EXPECT_EQ(listing.unparsed.size(), why_of.size());
    for (const auto& unparsed : listing.unparsed) {
      const auto found = why_of.find(unparsed.file.lexically_relative(folder).string());
      ASSERT_NE(found, why_of.end()) << unparsed.file << ": " << unparsed.why;
      EXPECT_NE(unparsed.why.find(found->second), std::string::npos) << unparsed.file << ": " << unparsed.why;
    }
  }

  void expect_refused(const std::string& kind, const fs::path& path, const std::vector<std::string>& words) {
    expect_input_error([&] { list_corpus(kind, path); }, words);
  }
};

// Otherwise a class "happy " would silently be added beside the class "happy".
TEST_F(Corpora, ManifestsOfOtherProgramsAreRead) {
  write("a.wav", "");
  write("b.wav", "");
  for (const std::string text : {"path, label ,speaker\na.wav, happy,s\nb.wav,happy ,s\n",
                                 "path;label;speaker\na.wav;happy;s\nb.wav;happy;s\n",
                                 "sep=;\r\npath;label;speaker\r\na.wav;happy;s\r\nb.wav;happy;s\r\n",
                                 "speaker\tlabel\tpath\ns\thappy\ta.wav\ns\thappy\tb.wav\n"}) {
    const auto listing = list_corpus("manifest", write("m.csv", text));
    ASSERT_EQ(listing.utterances.size(), 2u) << text;
    for (const auto& utterance : listing.utterances) {
      EXPECT_EQ(utterance.emotion, "happy") << text;
      EXPECT_EQ(utterance.speaker, "s") << text;
    }
  }
  expect_refused("manifest", write("w.csv", "sep=;\npath;label;speaker\na.wav;;s\n"), {"w.csv:3", "label"});
}

// The name has an accented letter as one code point, and as a letter and a combining accent.
TEST_F(Corpora, LabelsInTwoUnicodeFormsAreRefused) {
  const std::string composed = "col\u00e8re", decomposed = "cole\u0300re";
  write(composed + "/s/a.wav", "");
  write("col\u00f4re/s/a.wav", "");  // another letter is another label
  EXPECT_EQ(list_corpus("folders", folder).utterances.size(), 2u);
  write(decomposed + "/s/b.wav", "");
  expect_refused("folders", folder, {decomposed, composed, "Unicode form"});
}

TEST_F(Corpora, EmoDb) {
  expect_labels("emodb", {{"wav/03a01Fa.wav", {"03", "happiness"}},
                          {"wav/08b10Wc.WAV", {"08", "anger"}},
                          {"wav/16a02La.flac", {"16", "boredom"}},
                          {"wav/09a04Ed.Wav", {"09", "disgust"}},
                          {"wav/10a05Ab.wav", {"10", "fear"}},
                          {"wav/11b01Tc.wav", {"11", "sadness"}},
                          {"wav/12b02Na.wav", {"12", "neutral"}}});
  write("erklaerung.txt", "");
  write("lablaut/03a01Fa.lablaut", "");
  expect_unparsed("emodb", {{"wav/03a01Xa.wav", "known are A, E, F"},
                            {"wav/3a01Fa.wav", "03a01Fa"},
                            {"wav/03a01Fab.wav", "form"},
                            {"wav/._03a01Fa.wav", "hidden"}});
}

TEST_F(Corpora, Ravdess) {
  expect_labels("ravdess", {{"Actor_12/03-01-06-01-02-01-12.wav", {"Actor_12", "fear"}},
                            {"Actor_01/03-01-01-01-01-01-01.wav", {"Actor_01", "neutral"}},
                            {"Actor_01/03-01-02-01-01-01-01.wav", {"Actor_01", "calm"}},
                            {"Actor_01/03-01-03-01-01-01-01.wav", {"Actor_01", "happiness"}},
                            {"Actor_01/03-01-04-02-01-01-01.wav", {"Actor_01", "sadness"}},
                            {"Actor_24/03-01-05-01-01-02-24.wav", {"Actor_24", "anger"}},
                            {"Actor_24/03-01-07-01-01-01-24.wav", {"Actor_24", "disgust"}},
                            {"Actor_24/01-01-08-01-01-01-24.wav", {"Actor_24", "surprise"}}});
  expect_unparsed("ravdess", {{"song/Actor_12/03-02-06-01-02-01-12.wav", "song"},
                              {"copy/Actor_12/03-01-06-01-02-01-12.wav", "Actor_12/03-01-06-01-02-01-12.wav"},
                              {"Actor_12/03-01-09-01-02-01-12.wav", "'09'"},
                              {"Actor_12/03-01-06-01-02-12.wav", "03-01-06-01-02-01-12"}});
}

TEST_F(Corpora, CremaD) {
  expect_labels("cremad", {{"AudioWAV/1001_DFA_ANG_XX.wav", {"1001", "anger"}},
                           {"AudioWAV/1001_IEO_DIS_HI.wav", {"1001", "disgust"}},
                           {"AudioWAV/1091_IEO_FEA_LO.wav", {"1091", "fear"}},
                           {"AudioWAV/1091_IEO_HAP_MD.wav", {"1091", "happiness"}},
                           {"AudioWAV/1002_WSI_NEU_XX.wav", {"1002", "neutral"}},
                           {"AudioWAV/1040_ITH_SAD_X.wav", {"1040", "sadness"}}});
  expect_unparsed("cremad",
                  {{"AudioWAV/1001_DFA_BOR_XX.wav", "'BOR'"}, {"AudioWAV/1001_DFA_ANG.wav", "form"}});
}

TEST_F(Corpora, Tess) {
  expect_labels("tess", {{"OAF_angry/OAF_back_angry.wav", {"OAF", "anger"}},
                         {"YAF_disgust/YAF_dog_disgust.wav", {"YAF", "disgust"}},
                         {"OAF_Fear/OAF_dog_fear.wav", {"OAF", "fear"}},
                         {"YAF_happy/YAF_dog_happy.wav", {"YAF", "happiness"}},
                         {"YAF_pleasant_surprised/YAF_dog_ps.wav", {"YAF", "surprise"}},
                         {"OAF_Sad/OAF_dog_sad.wav", {"OAF", "sadness"}},
                         {"OAF_neutral/OA_bite_neutral.wav", {"OAF", "neutral"}}});
  expect_unparsed("tess", {{"TESS/OAF_angry/OAF_back_angry.wav", "there already"},
                           {"OAF_back_furious.wav", "'furious'"},
                           {"back_angry.wav", "form"}});
}

TEST_F(Corpora, Savee) {
  expect_labels("savee", {{"AudioData/DC/a01.wav", {"DC", "anger"}},
                          {"AudioData/JE/d15.wav", {"JE", "disgust"}},
                          {"JK_f02.wav", {"JK", "fear"}},
                          {"KL_h03.wav", {"KL", "happiness"}},
                          {"KL_n30.wav", {"KL", "neutral"}},
                          {"KL_sa04.wav", {"KL", "sadness"}},
                          {"AudioData/KL/su05.wav", {"KL", "surprise"}},
                          {"AudioData/KL/a01.wav", {"KL", "anger"}}});
  expect_unparsed("savee", {{"AudioData/DC/x01.wav", "'x'"}, {"a01.wav", "DC_a01"}, {"DC_a1.wav", "form"}});
}

TEST_F(Corpora, IemocapByItsLabelFiles) {
  const std::string labels = "Session1/dialog/EmoEvaluation/";
  const std::string wav = "Session1/sentences/wav/Ses01F_impro01/Ses01F_impro01_";
  write(labels + "Ses01F_impro01.txt",
        "% [START_TIME - END_TIME] TURN_NAME EMOTION [V, A, D]\n\n"
        "[6.2901 - 8.2357]\tSes01F_impro01_F000\tneu\t[2.5000, 2.5000, 2.5000]\n"
        "C-E2:\tNeutral;\t()\nA-E3:\tval 3; act 2; dom  2;\t()\n\n"
        "[10.0100 - 11.3925]\tSes01F_impro01_M001\tfru\t[2.5000, 2.5000, 2.5000]\r\n"
        "[12.0 - 13.0]\tSes01F_impro01_M002\txxx\t[2.5000, 2.5000, 2.5000]\n"
        "[12.0 - 13.0]\tSes01F_impro01_M003\texc\t[2.5000, 2.5000, 2.5000]\n"
        "[12.0 - 13.0]\tSes01F_impro01_M004\tbor\t[2.5000, 2.5000, 2.5000]\n"
        "[12.0 - 13.0]\n");
  write(labels + "._Ses01F_impro01.txt", "[1 - 2]\tSes01F_impro01_F000\tneu\t[]\n");
  write(labels + "Categorical/Ses01F_impro01_e2_cat.txt", "Ses01F_impro01_F000 :Neutral state; ()\n");
  for (const char* turn : {"F000", "M001", "M002", "M004", "M009"}) write(wav + turn + ".wav", "");
  write("Session1/dialog/wav/Ses01F_impro01.wav", "");  // a whole dialogue
  write("Session5/dialog/EmoEvaluation/Ses05M_script01_1b.txt",
        "[12.0 - 13.0]\tSes05M_script01_1b_F012a\thap\t[2.5000, 2.5000, 2.5000]\n");
  write("Session5/sentences/wav/Ses05M_script01_1b/Ses05M_script01_1b_F012a.wav", "");

  const auto listing = list_corpus("iemocap", folder);
  ASSERT_EQ(listing.utterances.size(), 3u);
  EXPECT_EQ(listing.utterances[0].id, wav + "F000");
  EXPECT_EQ(listing.utterances[0].file, folder / (wav + "F000.wav"));
  EXPECT_EQ(listing.utterances[0].speaker, "Ses01F");
  EXPECT_EQ(listing.utterances[0].emotion, "neutral");
  EXPECT_EQ(listing.utterances[1].speaker, "Ses01M");
  EXPECT_EQ(listing.utterances[1].emotion, "frustration");
  EXPECT_EQ(listing.utterances[2].speaker, "Ses05F");
  EXPECT_EQ(listing.utterances[2].emotion, "happiness");
  std::map<std::string, std::string> why;
  for (const auto& unparsed : listing.unparsed) why[unparsed.file.filename().string()] = unparsed.why;
  EXPECT_EQ(listing.unparsed.size(), 5u);
  EXPECT_NE(why["Ses01F_impro01_M002.wav"].find("agree"), std::string::npos);
  EXPECT_NE(why["Ses01F_impro01_M003.wav"].find("no such recording"), std::string::npos);
  EXPECT_NE(why["Ses01F_impro01_M004.wav"].find("'bor'"), std::string::npos);
  EXPECT_NE(why["Ses01F_impro01_M009.wav"].find("no label"), std::string::npos);
  EXPECT_NE(why["Ses01F_impro01.txt"].find(":11:"), std::string::npos) << why["Ses01F_impro01.txt"];
  expect_refused("iemocap", folder / "Session1", {"Session1"});
}

TEST_F(Corpora, FoldersOfEmotionsAndSpeakers) {
  expect_labels("folders", {{"Hot Anger/s_1/x.1.wav", {"s_1", "Hot Anger"}},
                            {"Hot Anger/s_1/x.2.wav", {"s_1", "Hot Anger"}},
                            {"calm/B/x.FLAC", {"B", "calm"}}});
  expect_unparsed("folders", {{"calm/x.wav", "emotion/speaker/file"},
                              {"calm/B/deep/x.wav", "emotion/speaker/file"},
                              {"calm/B/._x.wav", "hidden"}});
  write("Hot Anger/s_1/x.1.flac", "");
  expect_refused("folders", folder, {"x.1.flac", "x.1.wav", "id 'Hot Anger/s_1/x.1'"});
}

TEST_F(Corpora, ManifestWithQuotes) {
  write("audio/b, c.wav", "");
  write("audio/a.ogg", "");
  write("elsewhere/d.wav", "");
  const auto manifest = write("lists/all.csv",
                              "\xEF\xBB\xBFspeaker,notes,path,label\r\n"
                              "\"the \"\"one\"\"\",,\"../audio/b, c.wav\",very sad\r\n"
                              "B,x,./../audio/a.ogg,joy\r\nC,," +
                                  (folder / "elsewhere/d.wav").string() + ",joy\r\n\r\n");
  const auto listing = list_corpus("manifest", manifest);
  ASSERT_EQ(listing.utterances.size(), 3u);
  EXPECT_TRUE(listing.unparsed.empty());
  EXPECT_EQ(listing.utterances[0].id, "../audio/a");
  EXPECT_EQ(listing.utterances[1].id, "../audio/b, c");
  EXPECT_EQ(listing.utterances[1].speaker, "the \"one\"");
  EXPECT_EQ(listing.utterances[1].emotion, "very sad");
  EXPECT_TRUE(fs::equivalent(listing.utterances[1].file, folder / "audio/b, c.wav"));
  EXPECT_EQ(listing.utterances[2].file, folder / "elsewhere/d.wav");
}

TEST_F(Corpora, ManifestNeedsNoLabelsWhereTheyAreOptional) {
  write("a.wav", "");
  const auto emotion_of = [&](const std::string& text) {
    return list_corpus("manifest", write("m.csv", text), ManifestLabels::optional).utterances.at(0).emotion;
  };
  EXPECT_EQ(emotion_of("path;speaker;arousal\na.wav;s;2\n"), "");
  EXPECT_EQ(emotion_of("path,label,speaker\na.wav,,s\n"), "");
  EXPECT_EQ(emotion_of("path,label,speaker\na.wav,joy,s\n"), "joy");
  expect_refused("manifest", write("m.csv", "path,speaker\na.wav,s\n"), {"m.csv:1", "'label'"});
  const auto optional = [&] { list_corpus("manifest", folder / "m.csv", ManifestLabels::optional); };
  write("m.csv", "path,label\na.wav,joy\n");
  expect_input_error(optional, {"m.csv:1", "path and speaker", "'speaker'"});
  write("m.csv", "path,label,label,speaker\na.wav,joy,joy,s\n");
  expect_input_error(optional, {"m.csv:1", "'label' is missing or doubled"});
  write("m.csv", "path,speaker\na.wav,\n");
  expect_input_error(optional, {"m.csv:2", "the speaker is missing"});
}

TEST_F(Corpora, ManifestIsRefusedWithItsLine) {
  write("a.wav", "");
  const auto refused = [&](const std::string& text, const std::vector<std::string>& words) {
    expect_refused("manifest", write("m.csv", text), words);
  };
  refused("", {"m.csv", "empty"});
  refused("path,label,speaker\n", {"m.csv", "no rows"});
  refused("path,label\na.wav,x\n", {"m.csv:1", "speaker"});
  refused("path,label,speaker\na.wav,x\n", {"m.csv:2", "2 values", "3"});
  refused("path,label,speaker\na.wav,x,\n", {"m.csv:2", "speaker", "missing"});
  refused("path,label,speaker\na.wav,x,s\nb.wav,x,s\n", {"m.csv:3", "b.wav", "no such file"});
  refused("path,label,speaker\na.wav,x,s\n./a.wav,y,s\n", {"m.csv:3", "a second row of 'a.wav'", "line 2"});
  write("a.flac", "");
  refused("path,label,speaker\n\na.wav,x,s\na.flac,x,s\n",
          {"m.csv:4", "'a.flac' has the id 'a'", "'a.wav' in line 3"});
  refused("path,label,speaker\n\"a.wav,x,s\n", {"m.csv:2", "quote"});
  write("b.wav", "");
  refused("path,label,speaker,corpus\na.wav,x,03,one\nb.wav,x,03,two\n",
          {"m.csv:3", "speaker '03' is of corpus 'two'", "'one' in line 2", "two_03"});
  expect_refused("manifest", folder, {"folder"});
}

TEST_F(Corpora, AreRefusedWhereNothingCanBeParsed) {
  EXPECT_EQ(corpus_kinds(), (std::vector<std::string>{"emodb", "ravdess", "cremad", "tess", "savee",
                                                      "iemocap", "folders", "manifest"}));
  expect_refused("emo-bd", folder, {"emo-bd", "did you mean emodb", "cremad", "manifest"});
  expect_refused("emodb", folder / "none", {"none", "no such"});
  expect_refused("emodb", folder, {"no recordings"});
  const auto file = write("x.wav", "");
  expect_refused("emodb", file, {"x.wav", "not a folder"});
  expect_refused("emodb", folder, {"none of 1", "x.wav", "03a01Fa"});
}

TEST_F(Corpora, AreListedInOrder) {
  for (const char* name : {"b/08a01Fa.wav", "a/16a01Fa.wav", "c.wav", "a.wav", "B/03a01Fa.wav"})
    write(name, "");
  const auto listing = list_corpus("emodb", folder);
  EXPECT_EQ(listing.utterances.at(0).id, "B/03a01Fa");
  EXPECT_EQ(listing.utterances.at(1).id, "a/16a01Fa");
  EXPECT_EQ(listing.utterances.at(2).id, "b/08a01Fa");
  EXPECT_EQ(listing.unparsed.at(0).file.filename(), "a.wav");
}

TEST_F(Corpora, RealEmoDb) {
  const auto data = testing::shared_data("emodb");
  if (!data) GTEST_SKIP() << "EMO-DB is not at shared/data/emodb (or EMOMC_SHARED_DATA)";
  const auto listing = list_corpus("emodb", *data);
  EXPECT_EQ(listing.utterances.size(), 278u);
  EXPECT_TRUE(listing.unparsed.empty());
  std::set<std::string> speakers;
  std::map<std::string, int> count;
  for (const auto& utterance : listing.utterances) {
    speakers.insert(utterance.speaker);
    ++count[utterance.emotion];
  }
  EXPECT_EQ(speakers, (std::set<std::string>{"03", "08", "09", "10", "11", "12"}));
  EXPECT_EQ(count, (std::map<std::string, int>{{"anger", 72},
                                               {"boredom", 40},
                                               {"disgust", 14},
                                               {"fear", 35},
                                               {"happiness", 36},
                                               {"sadness", 34},
                                               {"neutral", 47}}));
}

}  // namespace
}  // namespace emomc
