#include "softmax_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "emomc/core/rank_range.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/emotion/softmax_job.hpp"
#include "emomc/posterior/run_files.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/files.hpp"
#include "evaluation_config_keys.hpp"
#include "evaluation_report.hpp"
#include "rank_setup.hpp"
#include "signals.hpp"

namespace emomc::app {

// The cost of a unit of each stage is expressed in trajectories; the remaining time is estimated from these
// costs.
SoftmaxStages::SoftmaxStages(const SoftmaxSettings& settings, std::size_t folds, std::size_t sets,
                             Verbosity verbosity, std::function<double()> clock)
    : names_(softmax_stages()),
      verbosity_(verbosity),
      clock_(std::move(clock)),
      began_(clock_()),
      since_(began_),
      advanced_(began_) {
  // The approximate duration of the fits of a training set, in trajectories of two chains.
  constexpr double kFit = 100;
  // Trajectories of the horseshoe have about this many times as many gradients as those of the ridge prior.
  const double longer = settings.prior == SoftmaxPrior::horseshoe ? 8 : 1;
  cost_ = {kFit, longer * settings.inner_chains / 2 * (settings.inner_warmup + settings.inner_draws),
           longer * settings.chains / 2 * (settings.warmup + settings.draws)};
  // How many posteriors are averaged is known later; with the default prior sds it is mostly one or two.
  const bool averages = settings.prior == SoftmaxPrior::ridge && settings.prior_sds.size() > 1;
  if (averages) cost_[2] *= 1.5;
  for (const std::size_t all : {sets, settings.temper ? 0 : (sets - folds) * (averages ? 2 : 1), folds})
    count_.push_back(range_of_rank(all, world().rank(), world().size()).size());
}

double SoftmaxStages::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void SoftmaxStages::report(const std::string& stage, std::size_t done, std::size_t all) {
  if (stop_requested()) throw Interrupted("stopped");
  const double now = clock_();
  const auto at = static_cast<std::size_t>(std::find(names_.begin(), names_.end(), stage) - names_.begin());
  count_[at] = all;
  if (at != at_) since_ = now;
  if (at != at_ || done != done_) advanced_ = now;
  at_ = at;
  done_ = done;
  if (done == all) seconds_[stage] = now - since_;
  double past = 0, left = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const double units = static_cast<double>(i < at ? count_[i] : i == at ? done : 0);
    past += units * cost_[i];
    left += (static_cast<double>(count_[i]) - units) * cost_[i];
  }
  const double seconds = now - began_;
  if (verbosity_ == Verbosity::quiet || left == 0 || seconds < (shown_ == 0 ? 2 : shown_ + 5)) return;
  shown_ = seconds;
  const double rest = past > 0 ? (advanced_ - began_) * left / past - (now - advanced_) : 0;
  std::cerr << fmt::format("{}: {} of {}{}\n", stage, done, all,
                           rest > 0 ? fmt::format(", about {} left in all", duration_text(rest)) : "");
}

namespace {

std::string keys_of(const EvaluationConfig& config) {
  std::string lines;
  for (const WrittenKey& key : written_keys(config)) lines += key.name + ": " + key.value + "\n";
  return lines;
}

std::string hash_of(const FunctionalTable& table) {
  const auto bytes = [](const std::vector<double>& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  };
  return sha256_hex(bytes(table.values));
}

}  // namespace

void refuse_other_corpora(const EvaluationConfig& config, const CorpusFeatures& corpus) {
  if (!is_several()) return;
  require_that_of_first(keys_of(config),
                        "this rank has another configuration than rank 0; all ranks need the same files");
  require_that_of_first(corpus.fingerprint.sha256,
                        "this rank reads other data than rank 0; all ranks need the same files");
  require_that_of_first(
      hash_of(corpus.functionals) + hash_of(corpus.clips),
      "this rank computes other functionals than rank 0, so that results would depend on the number of "
      "ranks; use equal machines");
}

nlohmann::ordered_json regression_manifest(const EvaluationConfig& config, const CorpusFeatures& corpus,
                                           const std::string& kind, const std::string& started_at) {
  const std::string what = config.classifier == ClassifierKind::regression ? "linear" : "softmax";
  return {{"program", {{"name", "emomc"}, {"version", EMOMC_VERSION}}},
          {"kind", kind},
          {"status", "finished"},
          {"started_at", started_at},
          {"updated_at", utc_now()},
          {"engine", what + " regression on functionals, on the CPU"},
          {"functionals", functionals_json(config, corpus.functionals.columns.size())},
          {"seed", config.run.sampler.seed},
          {"config_sha256", sha256_hex(keys_of(config))},
          {"data", {{"sha256", corpus.fingerprint.sha256}}}};
}

void end_evaluation(const std::filesystem::path& directory, const nlohmann::ordered_json& scores,
                    const nlohmann::ordered_json& manifest, spdlog::logger& logger) {
  write_file_atomically(directory / "scores.json", scores.dump(1) + "\n");
  write_file_atomically(directory / "manifest.json", manifest.dump(1) + "\n");
  if (has_evaluation_report())
    write_file_atomically(directory / "report.html", evaluation_report_html(directory));
  for (const auto& [stage, seconds] : scores["seconds"].items())
    logger.info("{}: {}", stage, duration_text(seconds.get<double>()));
}

}  // namespace emomc::app
