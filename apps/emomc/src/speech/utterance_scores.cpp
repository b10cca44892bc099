#include "utterance_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_range.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "ranks.hpp"

namespace emomc::app {
namespace {

constexpr std::size_t kDrawsForTemper = 200;

Convergence judge(const ClassLikelihoods& likelihoods, int label, std::size_t num_chains) {
  Convergence result;
  const std::size_t per_chain = likelihoods.num_draws / num_chains;
  for (std::size_t u = 0; u < likelihoods.num_utterances; ++u) {
    const DrawsView view{likelihoods.of(u, label).data(), per_chain, num_chains, 1,
                         static_cast<std::ptrdiff_t>(per_chain)};
    const double r = rhat(view), ess = ess_bulk(view);
    ++result.num_pairs;
    if (r <= kMostRhat && ess >= kLeastEss) ++result.num_converged;
    // NaN comes from a chain that never moved and counts as the worst value.
    if (!std::isnan(result.worst_rhat) && !(r <= result.worst_rhat)) result.worst_rhat = r;
    if (u == 0 || (!std::isnan(result.least_ess) && !(ess >= result.least_ess))) result.least_ess = ess;
  }
  return result;
}

// The numbers of a fold's results, which ranks tell each other.
constexpr std::size_t kOfFold = 3, kOfConvergence = 4;

std::size_t num_numbers(std::size_t utterances, std::size_t classes, bool judge_convergence) {
  return kOfFold + utterances * classes + (judge_convergence ? kOfConvergence * classes : 0);
}

void write_numbers(const FoldResult& result, std::span<double> to) {
  double* next = to.data();
  *next++ = result.evidence == Evidence::mean ? 1 : 0;
  *next++ = result.temper;
  *next++ = result.inner_log_loss;
  next = std::copy(result.log_probability.begin(), result.log_probability.end(), next);
  for (const Convergence& c : result.of_class) {
    *next++ = static_cast<double>(c.num_pairs);
    *next++ = static_cast<double>(c.num_converged);
    *next++ = c.worst_rhat;
    *next++ = c.least_ess;
  }
}

FoldResult read_numbers(std::span<const double> from, std::vector<std::size_t> utterances,
                        std::size_t classes) {
  FoldResult result;
  result.evidence = from[0] == 1 ? Evidence::mean : Evidence::sum;
  result.temper = from[1];
  result.inner_log_loss = from[2];
  const auto probabilities = from.subspan(kOfFold, utterances.size() * classes);
  result.log_probability.assign(probabilities.begin(), probabilities.end());
  result.utterances = std::move(utterances);
  for (auto rest = from.subspan(kOfFold + probabilities.size()); !rest.empty();
       rest = rest.subspan(kOfConvergence))
    result.of_class.push_back(
        {static_cast<std::size_t>(rest[0]), static_cast<std::size_t>(rest[1]), rest[2], rest[3]});
  return result;
}

}  // namespace

GroupDraws read_group_draws(const std::filesystem::path& run_directory, const ClassPosteriors& posteriors,
                            std::size_t group, std::size_t most) {
  const auto chains = static_cast<std::size_t>(posteriors.chains_per_group);
  const std::size_t wanted = std::max<std::size_t>(1, most / chains);
  const auto dim = static_cast<std::size_t>(posteriors.run.engine->layout().dim());
  GroupDraws draws{0, chains, {}};
  for (std::size_t c = 0; c < chains; ++c) {
    const auto file =
        run_directory / "chains" / fmt::format("chain-{:05}.emc", posteriors.chain_of(group, c));
    const ChainDraws chain = read_chain(file);
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < chain.steps.size(); ++i)
      if (chain.steps[i] > chain.header.warmup) kept.push_back(i);
    if (kept.empty()) throw InputError(file.string() + ": it has no draws; resume the evaluation");
    const auto width = chain.parameters.size() / chain.steps.size();
    const std::size_t count = std::min(wanted, kept.size());
    for (std::size_t i = 0; i < count; ++i) {
      const double* row = chain.parameters.data() + kept[i * kept.size() / count] * width;
      std::vector<double> theta(row, row + width);
      from_written(chain.header.layout, theta);
      draws.theta.insert(draws.theta.end(), theta.begin(), theta.begin() + static_cast<std::ptrdiff_t>(dim));
      ++draws.num_draws;
    }
  }
  return draws;
}

UtteranceScorer::UtteranceScorer(const LabelledFrames& frames, const ClassPosteriors& posteriors,
                                 const RunConfig& config)
    : frames_(frames), posteriors_(posteriors), config_(config) {}

ClassLikelihoods UtteranceScorer::score(const std::vector<std::size_t>& utterances,
                                        const std::vector<GroupDraws>& classes) {
  if (!engine_ || held_ != utterances) {
    DataSet data;
    data.dim = frames_.rows.dim;
    const auto dim = static_cast<std::size_t>(data.dim);
    for (const std::size_t u : utterances) {
      const UtteranceFrames& frames = frames_.features.utterances[u];
      data.segments.push_back({data.num_rows, frames.num_rows});
      data.num_rows += frames.num_rows;
      const double* begin = frames_.rows.values.data() + frames.first_row * dim;
      data.values.insert(data.values.end(), begin, begin + frames.num_rows * dim);
    }
    const SampledChains& run = posteriors_.run;
    engine_ =
        make_engine(run.backend, run.model, config_.likelihood.precision, data, *run.device, config_.threads);
    held_ = utterances;
  }
  ClassLikelihoods result;
  result.num_utterances = utterances.size();
  result.num_classes = static_cast<int>(classes.size());
  result.num_draws = classes[0].num_draws;
  result.values.resize(utterances.size() * classes.size() * result.num_draws);
  for (const std::size_t u : utterances)
    result.num_frames.push_back(static_cast<double>(frames_.features.utterances[u].num_rows));
  std::vector<double> sums(result.num_draws * utterances.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    engine_->sums_by_segment(classes[c].theta.data(), static_cast<int>(result.num_draws), sums.data());
    for (std::size_t s = 0; s < result.num_draws; ++s)
      for (std::size_t u = 0; u < utterances.size(); ++u)
        result.values[(u * classes.size() + c) * result.num_draws + s] = sums[s * utterances.size() + u];
  }
  return result;
}

std::vector<double> class_log_prior(const LabelledFrames& frames, const std::vector<int>& excluded,
                                    const ClassificationConfig& config) {
  std::vector<double> p(frames.num_classes(), 1.0 / static_cast<double>(frames.num_classes()));
  if (config.class_prior == ClassPrior::observed) {
    std::fill(p.begin(), p.end(), 0.0);
    double total = 0;
    for (std::size_t u = 0; u < frames.class_of.size(); ++u) {
      if (std::find(excluded.begin(), excluded.end(), frames.speaker_of[u]) != excluded.end()) continue;
      ++p[static_cast<std::size_t>(frames.class_of[u])];
      ++total;
    }
    for (double& share : p) share /= total;
  } else if (config.class_prior == ClassPrior::given) {
    for (std::size_t c = 0; c < p.size(); ++c) p[c] = config.class_probabilities.at(frames.classes[c]);
  }
  for (double& x : p) x = std::log(x);
  return p;
}

FoldClassifier classifier_of(const LabelledFrames& frames, const Fold& fold, const EvaluationPlan& plan,
                             const EvaluationConfig& config, UtteranceScorer& scorer, const DrawSource& draws,
                             const std::function<void()>& scored) {
  const auto& how = config.classification;
  const auto& excluded = plan.sets[static_cast<std::size_t>(fold.set)].excluded;
  Classifier classifier{how.rule, how.evidence.value_or(Evidence::sum), how.temper.value_or(1.0),
                        class_log_prior(frames, excluded, how)};
  if (how.temper) return {classifier, std::nan("")};
  const std::size_t classes = frames.num_classes();
  std::vector<ClassLikelihoods> likelihoods;
  std::vector<LabelledLikelihoods> labelled;
  likelihoods.reserve(fold.inner.size());
  for (const InnerFold& inner : fold.inner) {
    std::vector<GroupDraws> of_class;
    for (std::size_t c = 0; c < classes; ++c)
      of_class.push_back(draws(static_cast<std::size_t>(inner.set) * classes + c, kDrawsForTemper));
    const auto utterances = utterances_of(frames, inner.speakers);
    likelihoods.push_back(scorer.score(utterances, of_class));
    LabelledLikelihoods one{&likelihoods.back(), {}};
    for (const std::size_t u : utterances) one.truth.push_back(frames.class_of[u]);
    labelled.push_back(std::move(one));
    if (scored) scored();
  }
  // The bound on the temper: a frame must not count more than an independent one would.
  double frames_of_all = 0, utterances_of_all = 0;
  for (const ClassLikelihoods& one : likelihoods) {
    frames_of_all += std::accumulate(one.num_frames.begin(), one.num_frames.end(), 0.0);
    utterances_of_all += static_cast<double>(one.num_utterances);
  }
  FoldClassifier best{classifier, std::numeric_limits<double>::infinity()};
  for (const Evidence evidence : {Evidence::sum, Evidence::mean}) {
    if (how.evidence && *how.evidence != evidence) continue;
    classifier.evidence = evidence;
    const double most = evidence == Evidence::sum ? 1.0 : frames_of_all / utterances_of_all;
    const LearnedTemper learned = learn_temper(classifier, labelled, most);
    if (learned.log_loss >= best.inner_log_loss) continue;
    classifier.temper = learned.temper;
    best = {classifier, learned.log_loss};
  }
  return best;
}

std::vector<FoldResult> predict_folds(const LabelledFrames& frames, const EvaluationPlan& plan,
                                      const EvaluationConfig& config, UtteranceScorer& scorer,
                                      const DrawSource& draws, bool judge_convergence, const Report& report) {
  const std::size_t classes = frames.num_classes();
  std::vector<std::vector<std::size_t>> utterances;
  std::vector<std::size_t> widths;
  for (const Fold& fold : plan.folds) {
    utterances.push_back(utterances_of(frames, fold.test_speakers));
    widths.push_back(num_numbers(utterances.back().size(), classes, judge_convergence));
  }
  std::size_t num_scored = 0, num_sets = 0;
  const RankRange own = range_of_rank(plan.folds.size(), world().rank(), world().size());
  for (std::size_t f = own.first; f < own.end; ++f)
    num_sets += 1 + (config.classification.temper ? 0 : plan.folds[f].inner.size());
  const auto scored = [&] { report(++num_scored, num_sets); };
  const auto predict = [&](std::size_t f) {
    const Fold& fold = plan.folds[f];
    const FoldClassifier learned = classifier_of(frames, fold, plan, config, scorer, draws, scored);
    const Classifier& classifier = learned.classifier;
    FoldResult result;
    result.evidence = classifier.evidence;
    result.temper = classifier.temper;
    result.inner_log_loss = learned.inner_log_loss;
    std::vector<GroupDraws> of_class;
    for (std::size_t c = 0; c < classes; ++c)
      of_class.push_back(draws(static_cast<std::size_t>(fold.set) * classes + c,
                               static_cast<std::size_t>(config.classification.draws)));
    const ClassLikelihoods likelihoods = scorer.score(utterances[f], of_class);
    result.log_probability.resize(utterances[f].size() * classes);
    for (std::size_t u = 0; u < utterances[f].size(); ++u)
      class_log_probabilities(classifier, likelihoods, u,
                              {result.log_probability.data() + u * classes, classes});
    if (judge_convergence)
      for (std::size_t c = 0; c < classes; ++c)
        result.of_class.push_back(judge(likelihoods, static_cast<int>(c), of_class[c].num_chains));
    return result;
  };
  const std::vector<double> numbers = divided(
      widths, [&](std::size_t f, std::span<double> to) { write_numbers(predict(f), to); },
      [&](std::size_t, std::size_t) { scored(); });
  std::vector<FoldResult> results;
  std::span<const double> rest(numbers);
  for (std::size_t f = 0; f < plan.folds.size(); ++f) {
    results.push_back(read_numbers(rest.first(widths[f]), std::move(utterances[f]), classes));
    rest = rest.subspan(widths[f]);
  }
  return results;
}

}  // namespace emomc::app
