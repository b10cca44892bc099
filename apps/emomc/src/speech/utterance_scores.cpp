#include "utterance_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emomc/core/errors.hpp"
#include "emomc/core/rank_range.hpp"
#include "emomc/sampler/diagnostics.hpp"
#include "emomc/sampler/run_directory.hpp"
#include "ranks.hpp"

namespace emomc::app {
namespace {

// At most `most` of the draws, at equal distances, with the same number from each chain (at least one).
GroupDraws fewer(const GroupDraws& draws, std::size_t most) {
  const std::size_t per_chain = draws.num_draws / draws.num_chains,
                    dim = draws.theta.size() / draws.num_draws;
  const std::size_t kept = std::min(per_chain, std::max<std::size_t>(1, most / draws.num_chains));
  GroupDraws result{kept * draws.num_chains, draws.num_chains, {}};
  for (std::size_t c = 0; c < draws.num_chains; ++c)
    for (std::size_t i = 0; i < kept; ++i) {
      const auto begin =
          draws.theta.begin() + static_cast<std::ptrdiff_t>((c * per_chain + i * per_chain / kept) * dim);
      result.theta.insert(result.theta.end(), begin, begin + static_cast<std::ptrdiff_t>(dim));
    }
  return result;
}

// Log likelihoods of cut utterances, with the utterances and their true classes.
struct LabelledCuts {
  ClassLikelihoods likelihoods;
  std::vector<std::size_t> utterances;
  std::vector<int> truth;
};

// The cuts of each length of kCutFrames; lengths that no utterance exceeds are empty.
std::vector<LabelledCuts> scored_cuts(const LabelledFrames& frames,
                                      const std::vector<std::size_t>& utterances,
                                      const std::vector<GroupDraws>& classes, UtteranceScorer& scorer) {
  std::vector<GroupDraws> draws;
  for (const GroupDraws& one : classes) draws.push_back(fewer(one, kDrawsForCuts));
  std::vector<LabelledCuts> result(kCutFrames.size());
  std::vector<Cut> all;
  for (const std::size_t length : kCutFrames) {
    const std::vector<Cut> cuts = middles(frames, utterances, length);
    all.insert(all.end(), cuts.begin(), cuts.end());
  }
  if (all.empty()) return result;
  const ClassLikelihoods scored = scorer.score(all, draws);
  const std::size_t stride = scored.num_draws * static_cast<std::size_t>(scored.num_classes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = std::find(kCutFrames.begin(), kCutFrames.end(), all[i].num_frames) - kCutFrames.begin();
    LabelledCuts& to = result[static_cast<std::size_t>(at)];
    to.utterances.push_back(all[i].utterance);
    to.truth.push_back(frames.class_of[all[i].utterance]);
    const auto begin = scored.values.begin() + static_cast<std::ptrdiff_t>(i * stride);
    to.likelihoods.values.insert(to.likelihoods.values.end(), begin,
                                 begin + static_cast<std::ptrdiff_t>(stride));
    to.likelihoods.num_frames.push_back(scored.num_frames[i]);
  }
  for (LabelledCuts& one : result) {
    one.likelihoods.num_utterances = one.utterances.size();
    one.likelihoods.num_classes = scored.num_classes;
    one.likelihoods.num_draws = scored.num_draws;
  }
  return result;
}

std::vector<double> log_probabilities(const Classifier& classifier, const ClassLikelihoods& likelihoods) {
  const auto classes = static_cast<std::size_t>(likelihoods.num_classes);
  std::vector<double> result(likelihoods.num_utterances * classes);
  for (std::size_t u = 0; u < likelihoods.num_utterances; ++u)
    class_log_probabilities(classifier, likelihoods, u, {result.data() + u * classes, classes});
  return result;
}

Convergence judge(const ClassLikelihoods& likelihoods, int label, std::size_t num_chains) {
  Convergence result;
  const std::size_t per_chain = likelihoods.num_draws / num_chains;
  for (std::size_t u = 0; u < likelihoods.num_utterances; ++u) {
    const DrawsView view{likelihoods.of(u, label).data(), per_chain, num_chains, 1,
                         static_cast<std::ptrdiff_t>(per_chain)};
    result.add(rhat(view), ess_bulk(view));
  }
  return result;
}

// The utterances that a fold predicts, which every rank computes for itself.
struct FoldShape {
  std::vector<std::size_t> utterances, inner_utterances;
  std::vector<std::vector<std::size_t>> cuts;  // [kCutFrames] utterances with more frames
};

FoldShape shape_of(const LabelledFrames& frames, const Fold& fold, bool learns) {
  FoldShape shape;
  shape.utterances = utterances_of(frames, fold.test_speakers);
  for (std::size_t i = 0; learns && i < fold.inner.size(); ++i) {
    const auto inner = utterances_of(frames, fold.inner[i].speakers);
    shape.inner_utterances.insert(shape.inner_utterances.end(), inner.begin(), inner.end());
  }
  for (const std::size_t length : kCutFrames) {
    shape.cuts.emplace_back();
    for (const Cut& cut : middles(frames, shape.utterances, length))
      shape.cuts.back().push_back(cut.utterance);
  }
  return shape;
}

// Ranks exchange the results of a fold as a list of numbers: kOfFold for the fold, kOfConvergence for each
// class, and the log probabilities.
constexpr std::size_t kOfFold = 4, kOfConvergence = 4;

std::size_t num_numbers(const FoldShape& shape, std::size_t classes, bool judge_convergence) {
  std::size_t predictions = shape.utterances.size() + shape.inner_utterances.size();
  for (const auto& cut : shape.cuts) predictions += cut.size();
  return kOfFold + predictions * classes + (judge_convergence ? kOfConvergence * classes : 0);
}

void write_numbers(const FoldResult& result, std::span<double> to) {
  double* next = to.data();
  *next++ = result.evidence == Evidence::mean ? 1 : 0;
  *next++ = result.temper;
  *next++ = result.damping_frames;
  *next++ = result.inner_log_loss;
  for (const auto* part : {&result.log_probability, &result.inner_log_probability})
    next = std::copy(part->begin(), part->end(), next);
  for (const CutResult& cut : result.cuts)
    next = std::copy(cut.log_probability.begin(), cut.log_probability.end(), next);
  for (const Convergence& c : result.of_class) {
    *next++ = static_cast<double>(c.num_pairs);
    *next++ = static_cast<double>(c.num_converged);
    *next++ = c.worst_rhat;
    *next++ = c.least_ess;
  }
}

FoldResult read_numbers(std::span<const double> from, FoldShape shape, std::size_t classes) {
  FoldResult result;
  result.evidence = from[0] == 1 ? Evidence::mean : Evidence::sum;
  result.temper = from[1];
  result.damping_frames = from[2];
  result.inner_log_loss = from[3];
  auto rest = from.subspan(kOfFold);
  const auto take = [&](std::size_t utterances) {
    const auto part = rest.first(utterances * classes);
    rest = rest.subspan(part.size());
    return std::vector<double>(part.begin(), part.end());
  };
  result.log_probability = take(shape.utterances.size());
  result.inner_log_probability = take(shape.inner_utterances.size());
  for (std::size_t i = 0; i < kCutFrames.size(); ++i) {
    std::vector<double> of_cut = take(shape.cuts[i].size());
    result.cuts.push_back({kCutFrames[i], std::move(shape.cuts[i]), std::move(of_cut)});
  }
  result.utterances = std::move(shape.utterances);
  result.inner_utterances = std::move(shape.inner_utterances);
  for (; !rest.empty(); rest = rest.subspan(kOfConvergence))
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

std::vector<Cut> middles(const LabelledFrames& frames, const std::vector<std::size_t>& utterances,
                         std::size_t num_frames) {
  std::vector<Cut> cuts;
  for (const std::size_t u : utterances) {
    const std::size_t all = frames.features.utterances[u].num_rows;
    if (all > num_frames) cuts.push_back({u, (all - num_frames) / 2, num_frames});
  }
  return cuts;
}

ClassLikelihoods UtteranceScorer::score(const std::vector<std::size_t>& utterances,
                                        const std::vector<GroupDraws>& classes) {
  std::vector<Cut> whole;
  for (const std::size_t u : utterances) whole.push_back({u, 0, frames_.features.utterances[u].num_rows});
  return score(whole, classes);
}

ClassLikelihoods UtteranceScorer::score(const std::vector<Cut>& cuts,
                                        const std::vector<GroupDraws>& classes) {
  if (!engine_ || held_ != cuts) {
    DataSet data;
    data.dim = frames_.rows.dim;
    const auto dim = static_cast<std::size_t>(data.dim);
    for (const Cut& cut : cuts) {
      data.segments.push_back({data.num_rows, cut.num_frames});
      data.num_rows += cut.num_frames;
      const std::size_t first = frames_.features.utterances[cut.utterance].first_row + cut.first_frame;
      const double* begin = frames_.rows.values.data() + first * dim;
      data.values.insert(data.values.end(), begin, begin + cut.num_frames * dim);
    }
    const SampledChains& run = posteriors_.run;
    engine_ =
        make_engine(run.backend, run.model, config_.likelihood.precision, data, *run.device, config_.threads);
    held_ = cuts;
  }
  ClassLikelihoods result;
  result.num_utterances = cuts.size();
  result.num_classes = static_cast<int>(classes.size());
  result.num_draws = classes[0].num_draws;
  result.values.resize(cuts.size() * classes.size() * result.num_draws);
  for (const Cut& cut : cuts) result.num_frames.push_back(static_cast<double>(cut.num_frames));
  std::vector<double> sums(result.num_draws * cuts.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    engine_->sums_by_segment(classes[c].theta.data(), static_cast<int>(result.num_draws), sums.data());
    for (std::size_t s = 0; s < result.num_draws; ++s)
      for (std::size_t u = 0; u < cuts.size(); ++u)
        result.values[(u * classes.size() + c) * result.num_draws + s] = sums[s * cuts.size() + u];
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
  const bool learns_damping = !how.evidence;
  std::vector<ClassLikelihoods> likelihoods;
  std::vector<LabelledLikelihoods> labelled;
  std::vector<std::vector<LabelledCuts>> cuts;  // [inner folds][kCutFrames]
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
    if (learns_damping) cuts.push_back(scored_cuts(frames, utterances, of_class, scorer));
    if (scored) scored();
  }
  // The bound on the temper: a frame must not count more than an independent one would.
  double frames_of_all = 0, utterances_of_all = 0;
  for (const ClassLikelihoods& one : likelihoods) {
    frames_of_all += std::accumulate(one.num_frames.begin(), one.num_frames.end(), 0.0);
    utterances_of_all += static_cast<double>(one.num_utterances);
  }
  const double mean_frames = frames_of_all / utterances_of_all;
  LearnedTemper learned;
  if (learns_damping) {
    std::vector<std::vector<LabelledLikelihoods>> by_length(kCutFrames.size());
    for (const auto& of_fold : cuts)
      for (std::size_t i = 0; i < kCutFrames.size(); ++i)
        by_length[i].push_back({&of_fold[i].likelihoods, of_fold[i].truth});
    const LearnedDamping with_damping = learn_damping(classifier, labelled, by_length, mean_frames);
    classifier.evidence = Evidence::mean;
    classifier.damping_frames = with_damping.damping_frames;
    learned = with_damping;
  } else {
    learned = learn_temper(classifier, labelled, *how.evidence == Evidence::sum ? 1.0 : mean_frames);
  }
  classifier.temper = learned.temper;
  FoldClassifier result{classifier, learned.log_loss};
  for (std::size_t i = 0; i < fold.inner.size(); ++i) {
    const auto logs = log_probabilities(classifier, likelihoods[i]);
    result.inner_log_probability.insert(result.inner_log_probability.end(), logs.begin(), logs.end());
  }
  return result;
}

std::vector<FoldResult> predict_folds(const LabelledFrames& frames, const EvaluationPlan& plan,
                                      const EvaluationConfig& config, UtteranceScorer& scorer,
                                      const DrawSource& draws, bool judge_convergence, const Report& report) {
  const std::size_t classes = frames.num_classes();
  std::vector<FoldShape> shapes;
  std::vector<std::size_t> widths;
  for (const Fold& fold : plan.folds) {
    shapes.push_back(shape_of(frames, fold, !config.classification.temper));
    widths.push_back(num_numbers(shapes.back(), classes, judge_convergence));
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
    result.damping_frames = classifier.damping_frames;
    result.inner_log_loss = learned.inner_log_loss;
    result.inner_log_probability = learned.inner_log_probability;
    std::vector<GroupDraws> of_class;
    for (std::size_t c = 0; c < classes; ++c)
      of_class.push_back(draws(static_cast<std::size_t>(fold.set) * classes + c,
                               static_cast<std::size_t>(config.classification.draws)));
    const ClassLikelihoods likelihoods = scorer.score(shapes[f].utterances, of_class);
    result.log_probability = log_probabilities(classifier, likelihoods);
    for (const LabelledCuts& cuts : scored_cuts(frames, shapes[f].utterances, of_class, scorer))
      result.cuts.push_back({0, {}, log_probabilities(classifier, cuts.likelihoods)});
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
    results.push_back(read_numbers(rest.first(widths[f]), std::move(shapes[f]), classes));
    rest = rest.subspan(widths[f]);
  }
  return results;
}

}  // namespace emomc::app
