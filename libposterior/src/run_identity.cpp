#include "emomc/posterior/run_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emomc/core/arithmetic.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/sha256.hpp"
#include "emomc/posterior/data_setup.hpp"
#include "emomc/posterior/excerpt.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/settings_json.hpp"
#include "emomc/posterior/text_table.hpp"

namespace emomc {
namespace {

constexpr std::size_t kMostNamed = 3;
constexpr const char* kWrittenBy = "written_by";

struct Line {
  std::string key, value;
};

std::vector<Line> lines_in(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = std::min(line.find(": "), line.size());
    lines.push_back({line.substr(0, colon), line.substr(std::min(colon + 2, line.size()))});
  }
  return lines;
}

std::string first_of(const std::vector<std::string>& changes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + changes[i];
  if (changes.size() > kMostNamed) text += fmt::format(", and {} more", changes.size() - kMostNamed);
  return text;
}

// Visits the items of `was` and `is` that have the same name as pairs; nullptr stands for a missing item.
template <class Item, class Name, class Visit>
void for_each_pair(const std::vector<Item>& was, const std::vector<Item>& is, const Name& name,
                   const Visit& visit) {
  const auto find = [&](const std::vector<Item>& in, const Item& like) {
    const auto found =
        std::find_if(in.begin(), in.end(), [&](const Item& other) { return name(other) == name(like); });
    return found == in.end() ? nullptr : &*found;
  };
  for (const Item& item : was) visit(&item, find(is, item));
  for (const Item& item : is)
    if (!find(was, item)) visit(nullptr, &item);
}

std::string without_arithmetic(const std::string& engine) {
  return engine.substr(0, engine.find(", arithmetic "));
}

}  // namespace

RunConfig without_what_changes_no_draw(RunConfig config) {
  config.data.files = {"data"};  // the data are compared separately
  config.output.directory = OutputConfig{}.directory;
  config.threads = 0;
  config.devices = {};
  config.checkpoint = {};
  config.sampler.until = {};
  config.sampler.draws = SamplerConfig{}.draws;
  config.sampler.chooses_draws = true;
  config.backend = Backend::automatic;  // the engine is compared separately
  config.shard = Shard::chains;
  return config;
}

RunIdentity identity_of_settings(const RunConfig& config) {
  return {"",
          std::string(kWrittenBy) + ": emomc.sample\n" +
              flat_lines(settings_json(without_what_changes_no_draw(config))),
          "run",
          "resume",
          "another directory",
          "ExistingRun::overwrite (overwrite=True in Python)"};
}

std::string engine_text(const RunConfig& config, const SampledChains& chains) {
  const bool mixed = config.likelihood.precision == Precision::mixed && chains.backend != Backend::reference;
  return backend_name(chains.backend) + ", " + (mixed ? "mixed" : "double") + ", " +
         (chains.expression && !chains.compiler.empty() ? "compiled by " + chains.compiler
          : chains.backend == Backend::cpu              ? "SIMD " + cpu_simd_name()
                                                        : chains.device->description());
}

std::string arithmetic_text(const RunConfig& config, const SampledChains& chains) {
  constexpr std::size_t kDigits = 16;
  return engine_text(config, chains) + ", arithmetic " + std::to_string(kArithmetic) +
         (chains.expression ? ", likelihood " + sha256_hex(chains.generated).substr(0, kDigits) : "");
}

std::string changed_keys(const std::string& was, const std::string& is) {
  std::vector<std::string> changes;
  for_each_pair(
      lines_in(was), lines_in(is), [](const Line& line) { return line.key; },
      [&](const Line* before, const Line* now) {
        if (before && now && before->value == now->value) return;
        changes.push_back((before ? before->key : now->key) + " was " +
                          (before ? excerpt(before->value) : "not there") + ", is " +
                          (now ? excerpt(now->value) : "not there"));
      });
  return first_of(changes);
}

std::string changed_data(const DataFingerprint& was, const DataFingerprint& is) {
  std::vector<std::string> changes;
  if (was.columns != is.columns)
    changes.push_back(fmt::format("the columns were {}, are {}", excerpt(joined(was.columns)),
                                  excerpt(joined(is.columns))));
  for_each_pair(
      was.parts, is.parts, [](const DataPart& part) { return part.name; },
      [&](const DataPart* before, const DataPart* now) {
        if (!before)
          changes.push_back(now->name + " is new");
        else if (!now)
          changes.push_back(before->name + " is gone");
        else if (before->num_rows != now->num_rows)
          changes.push_back(
              fmt::format("{} had {} rows, has {}", now->name, before->num_rows, now->num_rows));
        else if (before->hash != now->hash)
          changes.push_back(now->name + " has other values");
      });
  return changes.empty() ? "their order is different" : first_of(changes);
}

void refuse_another_run(const Checkpoint& checkpoint, const RunIdentity& identity, const RunConfig& config,
                        const SampledChains& chains, const DataFingerprint& data) {
  const std::string where = config.output.directory.string() + ": " + identity.resume + ": ";
  const std::string over = "use " + identity.over + " to start over";
  const std::string instead = "; undo that, choose " + identity.elsewhere + ", or " + over;
  const auto is_ours = [](const std::string& text) { return text.starts_with(kWrittenBy); };
  if (is_ours(checkpoint.config) != is_ours(identity.depends_on))
    throw InputError(
        where + "the run was begun by " +
        (is_ours(checkpoint.config) ? "a program that uses emomc's libraries, or from Python" : "emomc run") +
        "; go on with it there, choose " + identity.elsewhere + ", or " + over);
  if (const std::string changes = changed_keys(checkpoint.config, identity.depends_on); !changes.empty())
    throw InputError(where + "the configuration has changed since: " + changes + instead);
  const auto is_on_gpu = [](const DataFingerprint& of) {
    return !of.parts.empty() && of.parts[0].name == kMemoryOfGpu;
  };
  if (is_on_gpu(checkpoint.data) != is_on_gpu(data))
    throw InputError(
        where + "the run was begun with data in the memory of " +
        (is_on_gpu(data) ? "the host; go on with a copy there" : "a GPU; go on with data there") +
        ", choose " + identity.elsewhere + ", or " + over);
  if (checkpoint.data.sha256 != data.sha256)
    throw InputError(where + "the data have changed since: " + changed_data(checkpoint.data, data) + instead);
  const std::string engine = arithmetic_text(config, chains);
  if (checkpoint.engine != engine)
    throw InputError(
        where + "the run was made on " + checkpoint.engine + ", this would be on " + engine +
        (without_arithmetic(checkpoint.engine) == without_arithmetic(engine)
             ? ": this version of emomc gives other draws; go on with the version that began the run, or " +
                   over
             : ""));
  const std::int64_t thin = config.sampler.thin,
                     sampled =
                         checkpoint.state.step - checkpoint.state.warmup_begin - checkpoint.state.warmup;
  if (sampled > config.sampler.draws * thin)
    throw InputError(where +
                     fmt::format("{}: {} is less than the {} draws that are there; "
                                 "allowed: {} or more",
                                 config.sampler.chooses_draws ? "sampler.until.max_draws" : "sampler.draws",
                                 config.sampler.draws, sampled / thin, (sampled + thin - 1) / thin));
}

}  // namespace emomc
