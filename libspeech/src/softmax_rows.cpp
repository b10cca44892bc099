#include "softmax_rows.hpp"

#include <algorithm>
#include <numeric>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

FunctionalTable sorted_table(const FunctionalTable& table, const std::vector<std::size_t>& order) {
  FunctionalTable sorted{table.columns, {}, {}};
  const std::size_t stride = table.columns.size();
  for (const std::size_t row : order) {
    sorted.rows.push_back(table.rows[row]);
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(row * stride);
    sorted.values.insert(sorted.values.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
  }
  return sorted;
}

std::vector<std::size_t> sorted_order(const std::vector<UtteranceLabels>& rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(rows[a].speaker, rows[a].id) < std::pair(rows[b].speaker, rows[b].id);
  });
  return order;
}

bool is_among(const std::vector<int>& sorted, int speaker) {
  return std::binary_search(sorted.begin(), sorted.end(), speaker);
}

}  // namespace

SoftmaxRows::SoftmaxRows(const SoftmaxCorpus& corpus, std::uint64_t seed)
    : corpus_(corpus), order_(sorted_order(corpus.table.rows)), table_(sorted_table(corpus.table, order_)) {
  FunctionalTable standardized = table_;
  standardize_by_speaker(standardized);
  rotated_ = rotated_rows(standardized);
  shuffled_.resize(static_cast<std::size_t>(corpus.num_speakers));
  std::vector<double> key(size());
  for (std::size_t row = 0; row < size(); ++row) {
    const auto speaker = static_cast<std::uint32_t>(speaker_of(row));
    std::vector<std::size_t>& own = shuffled_[speaker];
    key[row] = device::RandomSource{seed, 0, speaker}.uniform(device::Purpose::choice,
                                                              static_cast<std::uint32_t>(own.size()));
    own.push_back(row);
  }
  place_.resize(size());
  for (auto& own : shuffled_) {
    std::sort(own.begin(), own.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    for (std::size_t i = 0; i < own.size(); ++i) place_[own[i]] = i;
  }
}

std::vector<std::size_t> SoftmaxRows::rows_of(const std::vector<int>& speakers) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < size(); ++row)
    if (is_among(speakers, speaker_of(row))) rows.push_back(row);
  return rows;
}

std::vector<std::size_t> SoftmaxRows::rows_without(const std::vector<int>& speakers) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < size(); ++row)
    if (!is_among(speakers, speaker_of(row))) rows.push_back(row);
  return rows;
}

SoftmaxProblem SoftmaxRows::problem(const std::vector<int>& excluded, double prior_sd, bool balanced) const {
  SoftmaxProblem problem;
  problem.num_classes = num_classes();
  problem.precision = 1 / (prior_sd * prior_sd);
  std::vector<Eigen::Index> rows;
  std::vector<double> count(static_cast<std::size_t>(num_classes()), 0.0);
  for (const std::size_t row : rows_without(excluded)) {
    if (class_of(row) < 0) continue;
    rows.push_back(static_cast<Eigen::Index>(row));
    problem.truth.push_back(class_of(row));
    ++count[static_cast<std::size_t>(class_of(row))];
  }
  const auto classes =
      static_cast<double>(std::count_if(count.begin(), count.end(), [](double c) { return c > 0; }));
  problem.x = x()(rows, Eigen::all);
  problem.row_weight = Eigen::VectorXd::Ones(problem.x.rows());
  for (std::size_t i = 0; i < rows.size() && balanced; ++i)
    problem.row_weight(static_cast<Eigen::Index>(i)) =
        static_cast<double>(rows.size()) / classes / count[static_cast<std::size_t>(problem.truth[i])];
  return problem;
}

// The rows of the same speaker that follow in the random order, which goes round.
std::vector<std::size_t> SoftmaxRows::enrolment(std::size_t row, std::size_t count) const {
  const auto& own = shuffled_[static_cast<std::size_t>(speaker_of(row))];
  std::vector<std::size_t> others;
  for (std::size_t i = 1; i < own.size() && others.size() < count; ++i)
    others.push_back(own[(place_[row] + i) % own.size()]);
  return others;
}

OtherRows SoftmaxRows::less_known(const std::vector<int>& excluded, SpeakerKnowledge knowledge) const {
  const CorpusStatistics corpus = corpus_statistics(table_, rows_without(excluded));
  const std::size_t stride = table_.columns.size();
  const auto values_of = [&](std::size_t row) {
    return std::span<const double>(table_.values.data() + row * stride, stride);
  };
  std::vector<double> values;
  const std::vector<std::size_t> rows = rows_of(excluded);
  for (const std::size_t row : rows) {
    std::vector<std::span<const double>> others;
    for (const std::size_t other : enrolment(row, enrolment_of(knowledge)))
      others.push_back(values_of(other));
    const std::span<const double> own = values_of(row);
    values.insert(values.end(), own.begin(), own.end());
    standardize_by_enrolment({values.data() + values.size() - stride, stride}, others, corpus);
  }
  OtherRows result = rotate_others(values, axes());
  for (std::size_t i = 0; i < rows.size(); ++i) result.streams[i] = static_cast<std::uint32_t>(rows[i]);
  return result;
}

}  // namespace emomc
