#include "emomc/emotion/softmax_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_range.hpp"
#include "emomc/core/thread_pool.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "emomc/speech/frame_functionals.hpp"

namespace emomc {
namespace {

const std::vector<std::string> kPriors{"ridge", "horseshoe"};  // in the order of SoftmaxPrior

}  // namespace

std::vector<std::string> softmax_prior_names() { return kPriors; }

SoftmaxPrior softmax_prior(const std::string& name) {
  const auto at = std::find(kPriors.begin(), kPriors.end(), name);
  if (at == kPriors.end()) throw InputError("prior: " + name + " is unknown; allowed: ridge, horseshoe");
  return static_cast<SoftmaxPrior>(at - kPriors.begin());
}

std::string softmax_prior_name(SoftmaxPrior prior) { return kPriors[static_cast<std::size_t>(prior)]; }

void set_defaults_of_prior(SoftmaxPrior prior, SoftmaxConfig& softmax, FeaturesConfig& features) {
  softmax.prior = prior;
  if (prior == SoftmaxPrior::ridge) return;
  softmax.temperature = 1;
  softmax.warmup = kHorseshoeWarmup;
  features.set = FunctionalSet::compact;
}

SoftmaxCorpus softmax_corpus(const LabelledFrames& frames, const CorpusFeatures& features) {
  const FunctionalTable& table = features.functionals;
  std::map<std::string, std::size_t> place;
  for (std::size_t row = 0; row < table.rows.size(); ++row) place[table.rows[row].id] = row;
  SoftmaxCorpus corpus;
  corpus.table.columns = table.columns;
  const std::size_t stride = table.columns.size();
  for (const UtteranceFrames& utterance : frames.features.utterances) {
    const std::size_t row = place.at(utterance.id);
    corpus.table.rows.push_back(table.rows[row]);
    const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(row * stride);
    corpus.table.values.insert(corpus.table.values.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
    if (!table.frames.empty()) corpus.table.frames.push_back(table.frames[row]);
  }
  corpus.clips = features.clips;
  corpus.class_of = frames.class_of;
  corpus.speaker_of = frames.speaker_of;
  corpus.num_classes = static_cast<int>(frames.num_classes());
  corpus.num_speakers = static_cast<int>(frames.speakers.size());
  return corpus;
}

SoftmaxSettings softmax_settings(const EvaluationConfig& config) {
  SoftmaxSettings settings;
  settings.prior_sds = config.softmax.prior_sds;
  settings.prior = config.softmax.prior;
  settings.relevant_share = config.softmax.relevant_share;
  settings.slab_scale = config.softmax.slab_scale;
  if (settings.prior == SoftmaxPrior::horseshoe) {
    settings.inner_warmup = kHorseshoeInnerWarmup;
    settings.inner_draws = kHorseshoeInnerDraws;
  }
  settings.temper = config.softmax.temper;
  settings.temper_frames = config.softmax.temper_frames;
  settings.temperature = config.softmax.temperature;
  settings.chains = config.softmax.chains;
  settings.warmup = config.softmax.warmup;
  settings.draws = config.softmax.draws;
  settings.balanced = config.classification.class_prior == ClassPrior::uniform;
  settings.seed = config.run.sampler.seed;
  return settings;
}

SoftmaxSettings softmax_settings(const EvaluationConfig& config, const std::vector<std::string>& classes) {
  SoftmaxSettings settings = softmax_settings(config);
  if (config.classification.class_prior == ClassPrior::given)
    for (const std::string& name : classes)
      settings.class_weights.push_back(config.classification.class_probabilities.at(name));
  return settings;
}

void require_inner_speakers(const SoftmaxSettings& settings, std::size_t speakers, std::size_t most_tested) {
  const bool is_chosen = !settings.temper || settings.prior_sds.size() > 1;
  if (is_chosen && speakers < most_tested + 2)
    throw InputError(
        "folds: fewer than two training speakers, so that none can be left out to choose by; give "
        "softmax.temper and one of softmax.prior_sds");
}

namespace {

struct NamedSet {
  std::string name;
  int version;
};

// Tables of frames have a set of functionals of their own.
NamedSet named_set(const EvaluationConfig& config) {
  if (config.corpus.kind == "tables") return {"frames", kFrameFunctionalsVersion};
  return {functional_set_name(config.features.set), kFunctionalsVersion};
}

}  // namespace

nlohmann::ordered_json functionals_json(const EvaluationConfig& config, std::size_t columns) {
  if (!config.features.table.empty())
    return {{"table", config.features.table.string()}, {"columns", columns}};
  const NamedSet set = named_set(config);
  return {{"set", set.name}, {"version", set.version}, {"columns", columns}};
}

void require_few_columns(const EvaluationConfig& config, std::size_t columns) {
  std::string what = config.features.table.string();
  if (what.empty()) what = "the set of functionals " + named_set(config).name;
  require_few_columns(config.softmax.prior, columns, what);
}

std::string functionals_text(const EvaluationConfig& config, std::size_t columns) {
  if (!config.features.table.empty())
    return fmt::format("{} columns of {}", columns, config.features.table.string());
  const NamedSet set = named_set(config);
  return fmt::format("{} functionals (set {}, version {})", columns, set.name, set.version);
}

namespace {

// NaN is larger and smaller than any number.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

// The worst of the posteriors that are averaged.
JudgedPair judged_pair(const SoftmaxFold& fold, std::size_t pair, std::size_t pairs, std::size_t chains) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  JudgedPair worst{-kInfinity, kInfinity, kInfinity};
  for (const std::vector<double>& posterior : fold.draw_log_probability) {
    const std::size_t draws = posterior.size() / pairs / chains;
    const DrawsView view{posterior.data() + pair * draws * chains, draws, chains, 1,
                         static_cast<std::ptrdiff_t>(draws)};
    worst = {larger(worst.rhat, rhat(view)), smaller(worst.bulk, ess_bulk(view)),
             smaller(worst.tail, ess_tail(view))};
  }
  return worst;
}

}  // namespace

std::vector<JudgedPairs> judged_pairs(std::span<const SoftmaxFold> folds, std::size_t classes, int chains,
                                      int threads, Communicator& ranks) {
  std::vector<std::size_t> counts;
  for (int r = 0; r < ranks.size(); ++r) {
    const RankRange range = range_of_rank(folds.size(), r, ranks.size());
    counts.push_back(0);
    for (std::size_t f = range.first; f < range.end; ++f) counts.back() += folds[f].rows.size() * classes;
  }
  ThreadPool pool(threads);
  JudgedPairs mine;
  const RankRange own = range_of_rank(folds.size(), ranks.rank(), ranks.size());
  for (const SoftmaxFold& fold : folds.subspan(own.first, own.size())) {
    const std::size_t pairs = fold.rows.size() * classes, first = mine.size();
    mine.resize(first + pairs);
    pool.for_each(pairs, [&](std::size_t pair, int) {
      mine[first + pair] = judged_pair(fold, pair, pairs, static_cast<std::size_t>(chains));
    });
  }
  const JudgedPairs all = all_gather<JudgedPair>(ranks, mine, counts);
  std::vector<JudgedPairs> judged;
  auto next = all.begin();
  for (const SoftmaxFold& fold : folds) {
    const auto end = next + static_cast<std::ptrdiff_t>(fold.rows.size() * classes);
    judged.emplace_back(next, end);
    next = end;
  }
  return judged;
}

std::vector<Convergence> softmax_convergence(const JudgedPairs& judged, std::size_t classes,
                                             StrictShare& strict) {
  std::vector<Convergence> of_class(classes);
  for (std::size_t pair = 0; pair < judged.size(); ++pair) {
    const JudgedPair& one = judged[pair];
    of_class[pair % classes].add(one.rhat, one.bulk);
    ++strict.pairs;
    if (one.rhat <= 1.01 && one.bulk >= 400 && one.tail >= 400) ++strict.within;
    strict.worst_rhat = larger(strict.worst_rhat, one.rhat);
  }
  return of_class;
}

}  // namespace emomc
