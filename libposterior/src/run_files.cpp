#include "emomc/posterior/run_files.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emomc/core/arithmetic.hpp"
#include "emomc/core/communicator.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/posterior/expression_json.hpp"
#include "emomc/posterior/own_code.hpp"
#include "emomc/posterior/run_data.hpp"
#include "emomc/posterior/run_devices.hpp"
#include "emomc/posterior/run_reader.hpp"
#include "emomc/posterior/tempering_report.hpp"
#include "emomc/sampler/files.hpp"

namespace emomc {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// The manifest with its keys in their order, for writing a changed copy; no object if the manifest is damaged
// or missing.
nlohmann::ordered_json ordered_manifest(const std::filesystem::path& manifest) {
  std::ifstream file(manifest);
  std::ostringstream text;
  text << file.rdbuf();
  std::error_code ignored;
  if (text.fail() && std::filesystem::file_size(manifest, ignored) > 0)
    throw MachineError(manifest.string() + ": cannot be read");
  return nlohmann::ordered_json::parse(text.str(), nullptr, false);
}

// The value that an earlier part of the run has written under `key`. Null if the manifest is damaged or was
// written by an earlier version.
nlohmann::ordered_json of_manifest(const std::filesystem::path& manifest, const char* key) {
  const auto json = ordered_manifest(manifest);
  return json.is_object() ? json.value(key, nlohmann::ordered_json()) : nlohmann::ordered_json();
}

}  // namespace

void allow_open_files(std::size_t count) {
  constexpr rlim_t kOthers = 64;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t needed = count + kOthers;
  if (limit.rlim_cur >= needed) return;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < needed)
    throw MachineError(fmt::format("{} files of draws are open at once; the limit here is {} (ulimit -n)",
                                   count, static_cast<unsigned long long>(limit.rlim_max)));
  limit.rlim_cur = needed;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

RunFiles::RunFiles(const RunConfig& config, const SampledChains& chains, DataFacts data,
                   const StartReport* found, WrittenDraws written, RunIdentity identity,
                   std::function<Continue(const Progress&)> on_progress)
    : config_(config),
      chains_(chains),
      data_(std::move(data)),
      found_(found),
      directory_(config.output.directory),
      identity_(std::move(identity)),
      written_(std::move(written)),
      on_progress_(std::move(on_progress)),
      started_(std::chrono::steady_clock::now()),
      last_checkpoint_(started_),
      started_at_(utc_now()),
      end_(config.sampler) {
  refuse_inputs_in(directory_, data_.files);
}

RunFiles::RunFiles(const RunConfig& config, const RunSetup& setup, RunIdentity identity,
                   std::function<Continue(const Progress&)> on_progress)
    : RunFiles(config, setup, facts_of(setup.loaded), &setup.starts, WrittenDraws(setup), std::move(identity),
               std::move(on_progress)) {}

RunFiles::RunFiles(const RunConfig& config, const SampledChains& chains, DataFacts data, RunIdentity identity,
                   std::function<Continue(const Progress&)> on_progress)
    : RunFiles(config, chains, std::move(data), nullptr, WrittenDraws(chains, {}, 0), std::move(identity),
               std::move(on_progress)) {}

void RunFiles::check(const Checkpoint& checkpoint) {
  ends_.clear();
  const std::vector<ChainHeader> all = headers();
  if (checkpoint.chains.size() != all.size())
    throw InputError("checkpoint: it has other chains or rungs than this configuration");
  for (std::size_t c = 0; c < all.size(); ++c)
    ends_.push_back(
        check_committed(draws_file(directory_, all[c].chain_id), all[c], checkpoint.chains[c].bytes));
}

std::vector<ChainHeader> RunFiles::headers() const {
  std::vector<ChainHeader> all;
  for (int rung = 0; rung < config_.sampler.tempering.rungs; ++rung)
    for (std::size_t c = 0; c < chains_.plans.size(); ++c)
      all.push_back(rung == 0 ? chain_header(config_, chains_, c) : rung_header(config_, chains_, c, rung));
  return all;
}

void RunFiles::open(const Checkpoint* checkpoint) {
  writers_.clear();
  const std::vector<ChainHeader> all = headers();
  if (config_.sampler.tempering.is_on()) make_directories(directory_ / "rungs");
  for (std::size_t c = 0; c < all.size(); ++c) {
    const auto file = draws_file(directory_, all[c].chain_id);
    if (checkpoint)
      writers_.emplace_back(file, all[c], ends_.at(c));
    else
      writers_.emplace_back(file, all[c]);
  }
  if (checkpoint) end_.resume(checkpoint->state);
  accepted_.assign(all.size() * all[0].block_names.size(), 0);
  proposed_ = accepted_;
  if (checkpoint) {
    if (checkpoint->state.step >= end_.warmup_end()) {
      accepted_ = checkpoint->state.accepted;
      proposed_ = checkpoint->state.proposed;
    }
    if (checkpoint->state.step > end_.warmup_end()) sampling_began_ = started_;
    warmup_before_ = checkpoint->warmup_seconds;
    sampling_before_ = checkpoint->sampling_seconds;
  }
  if (found_ && !found_->init.empty())
    starts_ = to_json(*found_);
  else if (checkpoint)
    starts_ = of_manifest(directory_ / "manifest.json", "starts");
  remove_followed(starts_);
  if (checkpoint) precision_ = of_manifest(directory_ / "manifest.json", "mixed_precision");
  if (!identity_.config_text.empty())
    write_file_atomically(directory_ / "config.yaml", identity_.config_text);
  if (!chains_.code.empty()) write_file_atomically(code_file(directory_), chains_.code);
  write_manifest("running", nullptr, 0);
}

void RunFiles::on_draws(const DrawBatch& draws) {
  written_.for_each(draws, [&](std::size_t c, const DrawView& draw, const DrawStatistics* statistics) {
    if (statistics) writers_[c].append(*statistics);
    writers_[c].append(draw);
  });
}

void RunFiles::on_rungs(const RungBatch& draws) {
  for_each_of_rungs(written_, draws, chains_.plans.size(),
                    [&](std::size_t c, const DrawView& draw) { writers_[c].append(draw); });
}

Continue RunFiles::on_progress(const Progress& progress) {
  if (progress.step > end_.warmup_end() && !sampling_began_)
    sampling_began_ = std::chrono::steady_clock::now();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
  end_.check_time(progress.step, warmup_before_ + sampling_before_ + elapsed.count());
  if (on_progress_ && on_progress_(progress) == Continue::stop) return Continue::stop;
  return end_.is_reached() ? Continue::stop : Continue::yes;
}

// Decides by the findings of diagnose about the draws so far, so that diagnose has the same findings after
// the run. The draws are read from the chain files; the decision is therefore a function of the draws alone,
// regardless of interruptions.
Decision RunFiles::on_decision(std::int64_t /*num_draws*/) {
  for (ChainWriter& writer : writers_) writer.flush();
  try {
    return end_.decide(inspect_directory(directory_, Numbering::mended,
                                         [&](const std::filesystem::path&) { return chains_.expression; }));
  } catch (const InputError& error) {  // another program has moved or changed the files of this run
    throw MachineError(error.what());
  }
}

void RunFiles::on_longer_warmup(std::int64_t end) {
  for (ChainWriter& writer : writers_) writer.begin_longer_warmup(end, config_.output.keep_warmup);
  end_.begin_longer_warmup(end);
  std::fill(accepted_.begin(), accepted_.end(), 0);
  std::fill(proposed_.begin(), proposed_.end(), 0);
  warmup_before_ += sampling_before_;
  sampling_before_ = 0;
  sampling_began_.reset();
  tell_(
      fmt::format("chains have not become stationary; all steps so far count as warm-up, and a warm-up of {} "
                  "steps follows",
                  end_.warmup()));
}

bool RunFiles::is_ensemble() const { return proposal_use(chains_.proposal.kind).other_chains; }

bool RunFiles::wants_state(std::int64_t step) {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - last_checkpoint_;
  const CheckpointConfig& due = config_.checkpoint;
  return since.count() >= due.seconds || (due.steps > 0 && step % due.steps == 0);
}

std::pair<double, double> RunFiles::seconds_so_far() const {
  using Seconds = std::chrono::duration<double>;
  const auto now = std::chrono::steady_clock::now(), border = sampling_began_.value_or(now);
  return {Seconds(border - started_).count(), Seconds(now - border).count()};
}

// Appends the counts since the previous acceptance record.
void RunFiles::append_acceptance(std::size_t chain, const SamplerState& state) {
  const auto num_blocks = static_cast<std::size_t>(state.num_blocks);
  std::vector<std::uint64_t> accepted, proposed;
  for (std::size_t b = chain * num_blocks; b < (chain + 1) * num_blocks; ++b) {
    accepted.push_back(state.accepted[b] - accepted_[b]);
    proposed.push_back(state.proposed[b] - proposed_[b]);
    accepted_[b] = state.accepted[b];
    proposed_[b] = state.proposed[b];
  }
  if (std::any_of(proposed.begin(), proposed.end(), [](std::uint64_t n) { return n > 0; }))
    writers_[chain].append(AcceptanceView{state.step, accepted, proposed});
}

void RunFiles::on_state(const SamplerState& state) {
  Checkpoint checkpoint;
  checkpoint.config = identity_.depends_on;
  checkpoint.data = data_.fingerprint;
  checkpoint.engine = arithmetic_text(config_, chains_);
  checkpoint.seed = config_.sampler.seed;
  checkpoint.state = state;
  const std::vector<ChainHeader> all = headers();
  for (std::size_t c = 0; c < writers_.size(); ++c) {
    if (state.step > end_.warmup_end()) append_acceptance(c, state);
    checkpoint.chains.push_back({all[c].chain_id, writers_[c].commit()});
  }
  const auto [warmup, sampling] = seconds_so_far();
  checkpoint.warmup_seconds = warmup_before_ + warmup;
  checkpoint.sampling_seconds = sampling_before_ + sampling;
  write_checkpoint(directory_ / "checkpoint", checkpoint);
  last_checkpoint_ = std::chrono::steady_clock::now();
}

void RunFiles::write_manifest(const std::string& status, const RunResult* result, double startup_seconds) {
  nlohmann::ordered_json m;
  m["program"] = {{"name", "emomc"},
                  {"version", EMOMC_VERSION},
                  {"cuda", built_with_cuda()},
                  {"arithmetic", kArithmetic}};
  m["kind"] = identity_.kind;
  m["status"] = status;
  m["started_at"] = started_at_;
  m["updated_at"] = utc_now();
  m["host"] = host_name();
  m["backend"] = backend_name(chains_.backend);
  m["engine"] = engine_text(config_, chains_);
  if (const Communicator* ranks = chains_.options.ranks; ranks && ranks->size() > 1)
    m["ranks"] = {{"number", ranks->size()}, {"kind", ranks->kind()}};
  if (const std::size_t devices = num_chain_devices(chains_); devices > 1) m["devices"] = devices;
  if (const int devices = num_row_devices(chains_); devices > 1) m["devices"] = devices;
  m["seed"] = config_.sampler.seed;
  m["chooses_draws"] = config_.sampler.chooses_draws;
  m["ensemble"] = is_ensemble();
  m["order"] = config_.prior.order;
  m["exchangeable_components"] = chains_.target->components_are_exchangeable();
  m["superchains"] = config_.sampler.superchains;
  m["target_acceptance"] = proposal_use(chains_.proposal.kind).target_acceptance
                               ? nlohmann::ordered_json(chains_.proposal.target_acceptance)
                               : nlohmann::ordered_json();
  m["proposal"] = {{"kind", chains_.proposal.kind},
                   {"shape", name_of_shape(chains_.proposal.shape)},
                   {"chosen", chains_.proposal_why}};
  m["config_sha256"] = sha256_hex(identity_.depends_on);
  const ColumnUnits standardized = chains_.expression         ? chains_.standardized
                                   : config_.data.standardize ? data_.units
                                                              : ColumnUnits{};
  m["data"] = {{"sha256", data_.fingerprint.sha256},
               {"files", data_.files},
               {"working_directory", std::filesystem::current_path().string()},
               {"format", to_json(config_.data.format)},
               {"rows", data_.num_rows},
               {"columns", data_.columns},
               {"skipped_columns", data_.skipped_columns},
               {"constant_columns", data_.constant_columns},
               {"duplicate_rows", data_.num_duplicate_rows},
               {"mean", standardized.mean},
               {"sd", standardized.sd}};
  for (const CategoryColumn& column : data_.categories) m["data"]["categories"][column.name] = column.levels;
  if (const auto& integers = config_.likelihood.expression.integers; !integers.empty())
    m["data"]["integers"] = integers;
  for (const ColumnRename& rename : config_.data.renames) m["data"]["rename"][rename.name] = rename.in_file;
  if (chains_.expression) m["likelihood"] = to_json(config_.likelihood.expression);
  m["scale_floor"] = scale_floors(config_, data_);
  if (!starts_.is_null()) m["starts"] = starts_;
  if (!precision_.is_null()) m["mixed_precision"] = precision_;
  m["parameters"] = {{"all", chains_.target->dim()}, {"free", chains_.target->dim_unconstrained()}};
  if (result) {
    if (const std::string until = ended_by(*result); !until.empty())
      m["ended_by"] = until == "converged" ? until : "sampler.until." + until;
    std::uint64_t faults = 0;
    for (std::uint64_t n : result->state.faults) faults += n;
    m["steps"] = result->state.step;
    m["evaluations"] = result->num_evaluations;
    m["faults"] = faults;
    m["adaptation_drift"] = result->adaptation_drift;
    if (!result->state.tempering.empty()) m["tempering"] = to_json(tempering_summary(result->state));
    if (!result->stepping.empty()) m["stepping"] = result->stepping;
    m["seconds"] = {{"startup", startup_seconds},
                    {"warmup", warmup_before_ + result->warmup_seconds},
                    {"sampling", sampling_before_ + result->sampling_seconds}};
    if (result->gather_seconds > 0) m["seconds"]["gathers"] = result->gather_seconds;
  }
  write_file_atomically(directory_ / "manifest.json", m.dump(1) + "\n");
}

void mark_finished(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "manifest.json";
  auto manifest = ordered_manifest(file);
  if (!manifest.is_object()) throw MachineError(file.string() + ": cannot be read");
  manifest["status"] = "finished";
  manifest["updated_at"] = utc_now();
  write_file_atomically(file, manifest.dump(1) + "\n");
}

}  // namespace emomc
