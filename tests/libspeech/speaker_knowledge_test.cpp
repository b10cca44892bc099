#include "emomc/speech/speaker_knowledge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace emomc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns three speakers of one column. Their values are 1, 3; 4, 4, 7; and 10 and a value that is not
// defined.
FunctionalTable small_table() {
  FunctionalTable table{{"x"}, {}, {1, 3, 4, 4, 7, 10, kNaN}, {}};
  for (const char* speaker : {"a", "a", "b", "b", "b", "c", "c"})
    table.rows.push_back({"u" + std::to_string(table.rows.size()), speaker, "sad"});
  return table;
}

std::vector<std::size_t> all_rows(const FunctionalTable& table) {
  std::vector<std::size_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

TEST(SpeakerKnowledge, StatisticsAreOfSpeakersMeansAndOfRecordingsAboutThem) {
  const FunctionalTable table = small_table();
  const CorpusStatistics all = corpus_statistics(table, all_rows(table));
  EXPECT_NEAR(all.mean[0], 17.0 / 3, 1e-12);  // mean of 2, 5 and 10
  EXPECT_NEAR(all.between[0],
              (std::pow(2 - 17.0 / 3, 2) + std::pow(5 - 17.0 / 3, 2) + std::pow(10 - 17.0 / 3, 2)) / 2,
              1e-12);
  EXPECT_NEAR(all.within[0], (2.0 + 6.0) / 3, 1e-12);  // sums of squares 2 and 6, degrees of freedom 1 and 2
  const CorpusStatistics one = corpus_statistics(table, {2, 3, 4});
  EXPECT_EQ(one.mean[0], 5);
  EXPECT_EQ(one.within[0], 3);
  EXPECT_EQ(one.between[0], 3);  // one speaker shows nothing about other speakers
  EXPECT_THROW(corpus_statistics(table, {}), std::invalid_argument);
}

// With two recordings of mean 6 and B = 8, W = 4, the share is 8 / (8 + 2), the mean is 2 + 0.8 * 4, the
// variance of the mean is 0.2 * 8, and the variance within is (2 + 10 * 4) / 11.
TEST(SpeakerKnowledge, RowsAreExpectedDistancesFromTheSpeakersMean) {
  const CorpusStatistics corpus{{2}, {8}, {4}};
  std::vector<double> row{9};
  const std::vector<double> first{5}, second{7};
  standardize_by_enrolment(row, {first, second}, corpus);
  EXPECT_NEAR(row[0], std::sqrt(42.0 / 11) * (9 - 5.2) / (42.0 / 11 + 1.6), 1e-12);
  row = {9};
  standardize_by_enrolment(row, {}, corpus);
  EXPECT_NEAR(row[0], 2.0 * (9 - 2) / (4 + 8), 1e-12);
  // Values that are not defined count as missing.
  std::vector<double> same{9};
  const std::vector<double> none{kNaN};
  standardize_by_enrolment(same, {none, none}, corpus);
  EXPECT_EQ(same, row);
  row = {kNaN};
  standardize_by_enrolment(row, {first}, corpus);
  EXPECT_EQ(row[0], 0);
  // A column without spread carries no information.
  row = {9};
  standardize_by_enrolment(row, {first}, {{2}, {0}, {0}});
  EXPECT_EQ(row[0], 0);
  std::vector<double> two{1, 2};
  EXPECT_THROW(standardize_by_enrolment(two, {}, corpus), std::invalid_argument);
  EXPECT_THROW(standardize_by_enrolment(row, {two}, corpus), std::invalid_argument);
}

// The recordings are drawn from the model: mu ~ N(M, B), recordings ~ N(mu, W). The regression of (x - mu) /
// sqrt(W) on the result of standardize_by_enrolment for x has the slope 1. 20,000 pairs have a standard error
// of 0.007 and 0.012.
TEST(SpeakerKnowledge, RowsAreUnbiasedUnderTheModel) {
  const CorpusStatistics corpus{{3}, {4}, {1}};
  std::uint64_t state = 1;
  const auto normal = [&] {  // from twelve uniform numbers
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      sum += static_cast<double>(state >> 11) / 9007199254740992.0;
    }
    return sum;
  };
  for (const int others : {0, 1}) {
    double products = 0, squares = 0;
    for (int i = 0; i < 20000; ++i) {
      const double mean = 3 + 2 * normal();
      const std::vector<double> other{mean + normal()};
      const double z = normal();
      std::vector<double> row{mean + z};
      std::vector<std::span<const double>> known;
      if (others == 1) known.emplace_back(other);
      standardize_by_enrolment(row, known, corpus);
      products += row[0] * z;
      squares += row[0] * row[0];
    }
    EXPECT_NEAR(products / squares, 1, 0.07) << others;
  }
}

// Much is known about the speaker: the row is the distance from the speaker's mean in units of the speaker's
// standard deviation.
TEST(SpeakerKnowledge, ManyRecordingsStandForThemselves) {
  const CorpusStatistics corpus{{0}, {1}, {1}};
  std::vector<std::vector<double>> others;
  for (int i = 0; i < 4000; ++i) others.push_back({i % 2 == 0 ? 90.0 : 110.0});
  std::vector<double> row{115};
  standardize_by_enrolment(row, {others.begin(), others.end()}, corpus);
  EXPECT_NEAR(row[0], 1.5, 0.1);  // shrunk towards 0 by W / B / 4000, with W / B = 100
}

TEST(SpeakerKnowledge, NumbersOfRecordingsHaveTheNearestKind) {
  EXPECT_EQ(knowledge_of(0), SpeakerKnowledge::corpus);
  EXPECT_EQ(knowledge_of(1), SpeakerKnowledge::one);
  EXPECT_EQ(knowledge_of(2), SpeakerKnowledge::one);
  EXPECT_EQ(knowledge_of(3), SpeakerKnowledge::five);
  EXPECT_EQ(knowledge_of(9), SpeakerKnowledge::five);
  EXPECT_EQ(enrolment_of(SpeakerKnowledge::five), 5u);
  EXPECT_EQ(enrolment_of(SpeakerKnowledge::corpus), 0u);
  EXPECT_EQ(knowledge_name(SpeakerKnowledge::one), "one");
}

}  // namespace
}  // namespace emomc
