#include "evaluation_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "class_posteriors.hpp"
#include "emomc/core/rank_range.hpp"
#include "emomc/emotion/corpus_features.hpp"
#include "emomc/emotion/dimension_labels.hpp"
#include "emomc/emotion/evaluation_plan.hpp"
#include "emomc/emotion/filter_frequencies.hpp"
#include "emomc/emotion/lone_speakers.hpp"
#include "emomc/emotion/regression_results.hpp"
#include "emomc/emotion/softmax_job.hpp"
#include "emomc/emotion/softmax_results.hpp"
#include "emomc/emotion/utterance_groups.hpp"
#include "emomc/posterior/run_identity.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "evaluation_config.hpp"
#include "progress.hpp"
#include "run_config.hpp"
#include "yaml_reader.hpp"

namespace emomc::app {

bool is_evaluation_config(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  YamlNode root = parse_yaml(read_config_text(file), {std::make_shared<const std::string>(file.string()), 1});
  if (root.kind != YamlNode::Kind::map && root.kind != YamlNode::Kind::null) return false;
  for (const auto& assignment : overrides) apply_override(root, assignment);
  return root.kind == YamlNode::Kind::map && root.find("corpus") != nullptr;
}

namespace {

// Throws InputError if the table of groups does not fit the utterances, and adds a note on folds that have
// names.
void check_tables_of(const LabelledFrames& frames, const EvaluationPlan& plan, const EvaluationConfig& config,
                     CorpusFeatures& corpus) {
  groups_of(frames, config);
  if (const std::string text = folds_text(frames, plan, config.folds); !text.empty())
    corpus.notes.push_back(text);
}

// The numbers of chains and folds of one of several ranks. `chains` is 0 for regressions, whose chains are
// not divided among ranks.
struct RankPart {
  std::size_t chains = 0, folds = 0;
  bool operator==(const RankPart&) const = default;
};

std::vector<RankPart> parts_of_ranks(std::size_t chains, std::size_t folds, int ranks) {
  std::vector<RankPart> parts;
  for (int r = 0; r < ranks; ++r)
    parts.push_back({range_of_rank(chains, r, ranks).size(), range_of_rank(folds, r, ranks).size()});
  return parts;
}

void add_parts(const std::vector<RankPart>& parts, nlohmann::ordered_json& json) {
  if (parts.size() < 2) return;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    auto& one = json["ranks"].emplace_back(nlohmann::ordered_json{{"rank", r}, {"folds", parts[r].folds}});
    if (parts[0].chains > 0) one["chains"] = parts[r].chains;
  }
}

// Prints one line for neighbouring ranks with equal parts; ranks with equal parts are always neighbours.
void print_parts(const std::vector<RankPart>& parts) {
  if (parts.size() < 2) return;
  for (std::size_t first = 0, end = 0; first < parts.size(); first = end) {
    while (end < parts.size() && parts[end] == parts[first]) ++end;
    std::cout << fmt::format(
        "rank{}: {}{}{}\n",
        end - first == 1 ? fmt::format(" {}", first) : fmt::format("s {} to {}", first, end - 1),
        parts[0].chains > 0 ? counted(parts[first].chains, "chain") + " and " : "",
        counted(parts[first].folds, "fold"), end - first == 1 ? "" : " each");
  }
}

// Does check_evaluation() for softmax regression and regressions of numbers. Tables are read and joined, but
// functionals of recordings are not computed.
void check_functionals(const EvaluationConfig& config, int ranks, bool json) {
  const bool has_numbers = config.classifier == ClassifierKind::regression;
  if (has_numbers) check_dimensions(config.corpus);
  const bool is_quick = !config.features.table.empty() || config.corpus.kind == "tables";
  CorpusFeatures corpus = load_corpus_features(config.corpus, config.features, config.run.threads,
                                               show_recordings(Verbosity::quiet),
                                               is_quick ? Functionals::wanted : Functionals::none);
  if (const std::string warning = lone_speakers_warning(corpus.functionals); !warning.empty())
    corpus.notes.push_back(warning);
  const LabelledFrames frames = has_numbers ? label_with_numbers(corpus, config.corpus)
                                            : label_frames(std::move(corpus.features), config.corpus);
  const EvaluationPlan plan =
      frames.speakers.size() == 1 ? plan_training(frames, config) : plan_evaluation(frames, config);
  check_tables_of(frames, plan, config, corpus);
  if (has_numbers)
    require_inner_speakers(regression_settings(config), frames.speakers.size(), most_test_speakers(plan));
  else
    require_inner_speakers(softmax_settings(config), frames.speakers.size(), most_test_speakers(plan));
  const std::size_t columns =
      is_quick ? corpus.functionals.columns.size() : functional_names(config.features.set).size();
  require_few_columns(config, columns);
  const auto& softmax = config.softmax;
  const std::vector<std::string>& predicted = has_numbers ? frames.dimensions : frames.classes;
  const std::vector<RankPart> parts = parts_of_ranks(0, plan.folds.size(), ranks);
  if (json) {
    nlohmann::ordered_json all{{"config", to_yaml(config)},
                               {"notes", corpus.notes},
                               {has_numbers ? "dimensions" : "classes", predicted},
                               {"speakers", frames.speakers},
                               {"utterances", frames.class_of.size()},
                               {"folds", plan.folds.size()},
                               {"functionals", functionals_json(config, columns)}};
    if (!has_numbers) all["prior"] = softmax_prior_name(softmax.prior);
    if (!has_numbers) all["chains"] = plan.folds.size() * static_cast<std::size_t>(softmax.chains);
    add_parts(parts, all);
    std::cout << all.dump(1) << '\n';
    return;
  }
  std::cout << to_yaml(config) << '\n';
  for (const auto& note : corpus.notes) std::cout << note << '\n';
  std::cout << fmt::format("corpus: {}, {}; {}: {}\n", counted(frames.class_of.size(), "utterance"),
                           counted(frames.speakers.size(), "speaker"), has_numbers ? "dimensions" : "classes",
                           joined(predicted));
  std::cout << fmt::format("{} regression on {}{}\n", has_numbers ? "linear" : "softmax",
                           functionals_text(config, columns),
                           has_numbers ? "" : ", prior " + softmax_prior_name(softmax.prior));
  std::cout << fmt::format(
      "{}{}; output in {}\n", counted(plan.folds.size(), "fold"),
      has_numbers ? "" : ", with " + counted(static_cast<std::size_t>(softmax.chains), "chain") + " each",
      config.run.output.directory.string());
  print_parts(parts);
}

}  // namespace

void check_evaluation(const std::filesystem::path& file, const std::vector<std::string>& overrides, int ranks,
                      bool json) {
  const EvaluationConfig config = load_evaluation_config(file, overrides);
  if (config.classifier == ClassifierKind::softmax || config.classifier == ClassifierKind::regression) {
    check_functionals(config, ranks, json);
    return;
  }
  CorpusFeatures corpus = load_corpus_features(config.corpus, config.features, config.run.threads,
                                               show_recordings(Verbosity::quiet));
  if (const std::string warning = filters_warning(config, corpus); !warning.empty())
    corpus.notes.push_back(warning);
  const LabelledFrames frames = label_frames(std::move(corpus.features), config.corpus);
  check_class_prior(frames, config.classification);
  const bool for_training_only = frames.speakers.size() == 1 && config.classification.temper;
  if (config.classifier == ClassifierKind::fused)
    softmax_tests(frames, plan_evaluation(frames, config), config);
  const EvaluationPlan plan =
      for_training_only ? plan_training(frames, config) : plan_evaluation(frames, config);
  check_tables_of(frames, plan, config, corpus);
  if (for_training_only)
    corpus.notes.push_back("corpus: one speaker (" + frames.speakers[0] +
                           "): emomc train can use it, emomc evaluate needs two or more");
  if (config.em_baseline && !for_training_only) require_class_rows(frames, plan, config);
  const EvaluationEngine engine = make_evaluation_engine(frames, plan, config);
  // Each group of chains has its own target, which differs from this one only in the numbers in its prior.
  const Target target = check_posteriors(frames, plan, config, engine);
  int num_groups = 1;
  for (const ChainPlan& chain : engine.plans) num_groups = std::max(num_groups, chain.group + 1);
  const std::vector<Target> targets(static_cast<std::size_t>(num_groups), target);
  const SamplerMemory sampler_takes =
      sampler_memory(engine.engine->device().kind(), targets, engine.proposal, engine.plans);
  const ComponentCaches caches =
      caches_that_fit(*engine.engine, target, engine.proposal, engine.plans, sampler_takes);
  const std::size_t memory = engine.engine->plan(engine.plans, caches).total() + sampler_takes.total();
  const auto& sampler = config.run.sampler;
  const double steps = static_cast<double>(sampler.warmup) +
                       static_cast<double>(sampler.draws) * static_cast<double>(sampler.thin);
  const auto num_chains = static_cast<double>(engine.plans.size());
  const double evaluations = steps * num_chains * evaluations_per_step(engine.proposal, target);
  const double output = static_cast<double>(sampler.draws) * num_chains * (target.dim() + 3) * 8;
  check_ranks(ranks, engine.plans.size());
  const std::vector<RankPart> parts = parts_of_ranks(engine.plans.size(), plan.folds.size(), ranks);
  if (json) {
    nlohmann::ordered_json all{{"config", to_yaml(config)},
                               {"notes", corpus.notes},
                               {"classes", frames.classes},
                               {"speakers", frames.speakers},
                               {"utterances", frames.class_of.size()},
                               {"frames", frames.rows.num_rows},
                               {"folds", plan.folds.size()},
                               {"training_sets", plan.sets.size()},
                               {"chains", engine.plans.size()},
                               {"parameters", target.dim()},
                               {"backend", backend_name(engine.backend)},
                               {"memory_bytes", memory},
                               {"output_bytes", output},
                               {"evaluations", evaluations}};
    add_parts(parts, all);
    std::cout << all.dump(1) << '\n';
    return;
  }
  std::cout << to_yaml(config) << '\n';
  for (const auto& note : corpus.notes) std::cout << note << '\n';
  std::cout << fmt::format("corpus: {}, {}, {}; classes: {}\n", counted(frames.class_of.size(), "utterance"),
                           counted(frames.rows.num_rows, "frame"), counted(frames.speakers.size(), "speaker"),
                           joined(frames.classes));
  std::cout << fmt::format("{}, {}, {} of {} parameters; backend {}\n", counted(plan.folds.size(), "fold"),
                           counted(plan.sets.size(), "training set"), counted(engine.plans.size(), "chain"),
                           target.dim(), backend_name(engine.backend));
  std::cout << fmt::format("memory: {}; output: {} in {}\n", bytes_text(static_cast<double>(memory)),
                           bytes_text(output), config.run.output.directory.string());
  std::cout << fmt::format(
      "likelihood evaluations to come: {:.3g} ({:.0f} steps x {:.0f} chains x {} blocks)\n", evaluations,
      steps, num_chains, evaluations_per_step(engine.proposal, target));
  print_parts(parts);
}

}  // namespace emomc::app
