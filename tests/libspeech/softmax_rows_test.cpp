#include "softmax_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "synthetic_corpus.hpp"

namespace emomc {
namespace {

// Returns one recording of class 0 and one of class 1 for each of five speakers, and none of class 2.
SoftmaxCorpus pairs() {
  const SoftmaxCorpus all = testing::synthetic_corpus(5, 1);
  SoftmaxCorpus corpus;
  corpus.table.columns = all.table.columns;
  corpus.num_classes = 3;
  corpus.num_speakers = 5;
  for (std::size_t row = 0; row < 15; ++row) {
    if (row % 3 == 2) continue;
    corpus.table.rows.push_back(all.table.rows[row]);
    const auto begin = all.table.values.begin() + static_cast<std::ptrdiff_t>(30 * row);
    corpus.table.values.insert(corpus.table.values.end(), begin, begin + 30);
    corpus.class_of.push_back(all.class_of[row]);
    corpus.speaker_of.push_back(all.speaker_of[row]);
  }
  return corpus;
}

// For every kind of knowledge, the enrolment is the speaker's other recording, and the statistics come from
// speakers that are not excluded.
TEST(SoftmaxRows, EnrolmentIsOfOtherRecordingsAndStatisticsOfOtherSpeakers) {
  const SoftmaxCorpus corpus = pairs();
  const SoftmaxRows rows(corpus, 7);
  const std::vector<int> excluded{1, 3};
  const CorpusStatistics others = corpus_statistics(corpus.table, {0, 1, 4, 5, 8, 9});
  const auto row_of = [&](std::size_t row) {
    return std::span<const double>(corpus.table.values.data() + 30 * row, 30);
  };
  for (const SpeakerKnowledge knowledge :
       {SpeakerKnowledge::five, SpeakerKnowledge::one, SpeakerKnowledge::corpus}) {
    std::vector<double> expected;
    for (const auto& [own, other] : {std::pair<std::size_t, std::size_t>{2, 3}, {3, 2}, {6, 7}, {7, 6}}) {
      std::vector<double> row(row_of(own).begin(), row_of(own).end());
      std::vector<std::span<const double>> known{row_of(other)};
      if (knowledge == SpeakerKnowledge::corpus) known.clear();
      standardize_by_enrolment(row, known, others);
      expected.insert(expected.end(), row.begin(), row.end());
    }
    const OtherRows wanted = rotate_others(expected, rows.axes()),
                    found = rows.less_known(excluded, knowledge);
    EXPECT_TRUE(found.x.isApprox(wanted.x, 1e-12)) << knowledge_name(knowledge);
    EXPECT_TRUE(found.outside.isApprox(wanted.outside, 1e-9));
    EXPECT_EQ(found.streams, (std::vector<std::uint32_t>{2, 3, 6, 7}));
  }
}

// Lengths are kept: the part of a row that the rotation cannot represent is outside.
TEST(SoftmaxRows, OtherRowsKeepTheirLength) {
  const SoftmaxCorpus corpus = pairs();
  const SoftmaxRows rows(corpus, 7);
  std::vector<double> values(corpus.table.values.begin(), corpus.table.values.begin() + 90);
  const OtherRows found = rotate_others(values, rows.axes());
  EXPECT_LT(rows.axes().cols(), 10);
  for (Eigen::Index i = 0; i < 3; ++i) {
    double squares = 0;
    for (int j = 0; j < 30; ++j)
      squares +=
          values[30 * static_cast<std::size_t>(i) + j] * values[30 * static_cast<std::size_t>(i) + j] / 30;
    const double inside = found.x.row(i).head(rows.axes().cols()).squaredNorm();
    EXPECT_NEAR(inside + found.outside(i) * found.outside(i), squares, 1e-9 * squares);
    EXPECT_GT(found.outside(i), 0.1);
    EXPECT_EQ(found.x(i, rows.axes().cols()), 1);
  }
}

TEST(SoftmaxRows, AClipOfAllFramesIsTheRecording) {
  SoftmaxCorpus corpus = pairs();
  corpus.table.frames.assign(10, 100);
  corpus.clips = corpus.table;
  const SoftmaxRows rows(corpus, 7);
  const std::vector<Eigen::Index> tested{2, 3, 6, 7};
  for (const SpeakerKnowledge knowledge :
       {SpeakerKnowledge::own, SpeakerKnowledge::five, SpeakerKnowledge::one, SpeakerKnowledge::corpus}) {
    const ClippedRows clips = rows.clips({1, 3}, knowledge);
    EXPECT_EQ(clips.of, (std::vector<std::size_t>{2, 3, 6, 7}));
    EXPECT_EQ(clips.num_frames, (std::vector<int>{100, 100, 100, 100}));
    const Eigen::MatrixXd wanted = knowledge == SpeakerKnowledge::own
                                       ? Eigen::MatrixXd(rows.x()(tested, Eigen::all))
                                       : rows.less_known({1, 3}, knowledge).x;
    EXPECT_TRUE(clips.rows.x.isApprox(wanted, 1e-9)) << knowledge_name(knowledge);
  }
}

// Rows count 1 on average, whatever the classes count.
TEST(SoftmaxRows, ClassesCountWhatIsGiven) {
  const SoftmaxCorpus corpus = pairs();  // one recording of class 0 and one of class 1 for each speaker
  const SoftmaxRows rows(corpus, 7);
  SoftmaxSettings settings;
  settings.class_weights = {0.6, 0.2, 0.2};
  const SoftmaxProblem given = rows.problem({1}, 1, settings);
  ASSERT_EQ(given.truth.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(given.row_weight(static_cast<Eigen::Index>(i)), given.truth[i] == 0 ? 1.5 : 0.5, 1e-12);
  settings.class_weights.clear();
  EXPECT_TRUE(rows.problem({1}, 1, settings).row_weight.isOnes(1e-12));
}

TEST(SoftmaxRows, EnrolmentDependsOnTheSeedAlone) {
  const SoftmaxCorpus corpus = testing::synthetic_corpus(4, 4);
  const OtherRows one = SoftmaxRows(corpus, 1).less_known({0}, SpeakerKnowledge::one),
                  same = SoftmaxRows(corpus, 1).less_known({0}, SpeakerKnowledge::one),
                  other = SoftmaxRows(corpus, 2).less_known({0}, SpeakerKnowledge::one);
  EXPECT_EQ(one.x, same.x);
  EXPECT_NE(one.x, other.x);
}

}  // namespace
}  // namespace emomc
