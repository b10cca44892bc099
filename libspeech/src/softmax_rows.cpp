#include "softmax_rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

#include "emomc/device/random.hpp"

namespace emomc {
namespace {

FunctionalTable sorted_table(const FunctionalTable& table, const std::vector<std::size_t>& order) {
  FunctionalTable sorted{table.columns, {}, {}, {}};
  const std::size_t stride = table.columns.size();
  for (const std::size_t row : order) {
    sorted.rows.push_back(table.rows[row]);
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(row * stride);
    sorted.values.insert(sorted.values.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
    if (!table.frames.empty()) sorted.frames.push_back(table.frames[row]);
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

std::vector<std::vector<std::size_t>> clips_of_rows(const std::vector<UtteranceLabels>& rows,
                                                    const FunctionalTable& clips) {
  std::map<std::pair<std::string, std::string>, std::size_t> place;
  for (std::size_t row = 0; row < rows.size(); ++row) place[{rows[row].speaker, rows[row].id}] = row;
  std::vector<std::vector<std::size_t>> of_row(rows.size());
  for (std::size_t clip = 0; clip < clips.rows.size(); ++clip)
    if (const auto at = place.find({clips.rows[clip].speaker, clips.rows[clip].id}); at != place.end())
      of_row[at->second].push_back(clip);
  for (auto& own : of_row)
    std::sort(own.begin(), own.end(),
              [&](std::size_t a, std::size_t b) { return clips.frames[a] > clips.frames[b]; });
  return of_row;
}

bool is_among(const std::vector<int>& sorted, int speaker) {
  return std::binary_search(sorted.begin(), sorted.end(), speaker);
}

}  // namespace

void require_sizes(const SoftmaxCorpus& corpus, const SoftmaxSettings& settings) {
  const std::size_t rows = corpus.table.rows.size();
  if (corpus.class_of.size() != rows || corpus.speaker_of.size() != rows || settings.prior_sds.empty() ||
      (!settings.class_weights.empty() &&
       settings.class_weights.size() != static_cast<std::size_t>(corpus.num_classes)) ||
      corpus.table.values.size() != rows * corpus.table.columns.size() ||
      (!corpus.table.frames.empty() && corpus.table.frames.size() != rows) ||
      corpus.clips.frames.size() != corpus.clips.rows.size() ||
      corpus.clips.values.size() != corpus.clips.rows.size() * corpus.table.columns.size())
    throw std::invalid_argument("softmax regression: sizes disagree");
}

SoftmaxRows::SoftmaxRows(const SoftmaxCorpus& corpus, std::uint64_t seed, SoftmaxPrior prior)
    : corpus_(corpus), order_(sorted_order(corpus.table.rows)), table_(sorted_table(corpus.table, order_)) {
  FunctionalTable standardized = table_;
  standardize_by_speaker(standardized);
  rotated_ = prior == SoftmaxPrior::ridge ? rotated_rows(standardized) : unrotated_rows(standardized);
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
  clips_ = clips_of_rows(table_.rows, corpus.clips);
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

SoftmaxProblem SoftmaxRows::problem(const std::vector<int>& excluded, double prior_sd,
                                    const SoftmaxSettings& settings) const {
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
  problem.x = x()(rows, Eigen::all);
  problem.row_weight = Eigen::VectorXd::Ones(problem.x.rows());
  if (!settings.balanced && settings.class_weights.empty()) return problem;
  std::vector<double> share = settings.class_weights;
  if (share.empty()) share.assign(count.size(), 1.0);
  double all = 0;
  for (std::size_t k = 0; k < count.size(); ++k) all += count[k] > 0 ? share[k] : 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto k = static_cast<std::size_t>(problem.truth[i]);
    problem.row_weight(static_cast<Eigen::Index>(i)) =
        static_cast<double>(rows.size()) * share[k] / all / count[k];
  }
  return problem;
}

// The next rows of the same speaker in the random order, which is treated as circular.
std::vector<std::size_t> SoftmaxRows::enrolment(std::size_t row, std::size_t count) const {
  const auto& own = shuffled_[static_cast<std::size_t>(speaker_of(row))];
  std::vector<std::size_t> others;
  for (std::size_t i = 1; i < own.size() && others.size() < count; ++i)
    others.push_back(own[(place_[row] + i) % own.size()]);
  return others;
}

void SoftmaxRows::standardize_less_known(std::span<double> values, std::size_t row,
                                         SpeakerKnowledge knowledge, const CorpusStatistics& corpus) const {
  const std::size_t stride = table_.columns.size();
  std::vector<std::span<const double>> others;
  for (const std::size_t other : enrolment(row, enrolment_of(knowledge)))
    others.emplace_back(table_.values.data() + other * stride, stride);
  standardize_by_enrolment(values, others, corpus);
}

OtherRows SoftmaxRows::less_known(const std::vector<int>& excluded, SpeakerKnowledge knowledge) const {
  const CorpusStatistics corpus = corpus_statistics(table_, rows_without(excluded));
  const std::size_t stride = table_.columns.size();
  std::vector<double> values;
  const std::vector<std::size_t> rows = rows_of(excluded);
  for (const std::size_t row : rows) {
    const auto own = table_.values.begin() + static_cast<std::ptrdiff_t>(row * stride);
    values.insert(values.end(), own, own + static_cast<std::ptrdiff_t>(stride));
    standardize_less_known({values.data() + values.size() - stride, stride}, row, knowledge, corpus);
  }
  OtherRows result = rotate_others(values, axes());
  for (std::size_t i = 0; i < rows.size(); ++i) result.streams[i] = static_cast<std::uint32_t>(rows[i]);
  return result;
}

ClippedRows SoftmaxRows::clips(const std::vector<int>& excluded, SpeakerKnowledge knowledge) const {
  const FunctionalTable& table = corpus_.clips;
  const std::size_t stride = table_.columns.size();
  const bool is_own = knowledge == SpeakerKnowledge::own;
  const CorpusStatistics corpus =
      is_own ? CorpusStatistics() : corpus_statistics(table_, rows_without(excluded));
  std::map<int, SpeakerUnits> units;
  for (const int speaker : excluded)
    if (is_own) units[speaker] = speaker_units(table_, rows_of({speaker}));
  ClippedRows result;
  std::vector<double> values;
  std::vector<std::uint32_t> streams;
  for (const std::size_t row : rows_of(excluded))
    for (std::size_t i = 0; i < clips_[row].size(); ++i) {
      const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(clips_[row][i] * stride);
      values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
      const std::span<double> clip(values.data() + values.size() - stride, stride);
      if (is_own)
        standardize_by(units[speaker_of(row)], clip);
      else
        standardize_less_known(clip, row, knowledge, corpus);
      result.of.push_back(row);
      result.num_frames.push_back(table.frames[clips_[row][i]]);
      streams.push_back(static_cast<std::uint32_t>(row + (i + 1) * size()));
    }
  if (result.of.empty()) return result;
  result.rows = rotate_others(values, axes());
  result.rows.streams = std::move(streams);
  return result;
}

std::vector<int> SoftmaxRows::num_frames_of(const std::vector<std::size_t>& rows) const {
  std::vector<int> frames;
  if (table_.frames.empty()) return frames;
  for (const std::size_t row : rows) frames.push_back(table_.frames[row]);
  return frames;
}

}  // namespace emomc
