#include "run_config_keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>

#include "column_keys.hpp"
#include "device_keys.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/nearest_name.hpp"
#include "emomc/posterior/run_setup.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/run_chains.hpp"
#include "expression_config.hpp"
#include "model_config_keys.hpp"
#include "run_config_prior.hpp"
#include "tempering_keys.hpp"

namespace emomc::app {
namespace {

constexpr std::int64_t most_steps = 1'000'000'000'000;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

std::string yaml_bool(bool value) { return value ? "true" : "false"; }

/// Reads one name, or a list of distinct names.
std::vector<std::string> read_names(const YamlValue& value, const std::string& wanted) {
  if (value.node().kind != YamlNode::Kind::list) return {value.text(wanted)};
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const YamlNode& item : value.node().items) {
    const YamlValue entry(item, value.key());
    names.push_back(entry.text(wanted));
    if (!seen.insert(names.back()).second)
      entry.refuse(excerpt(names.back()) + " is listed twice; remove one");
  }
  return names;
}

std::string yaml_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + yaml_text(name);
  return "[" + text + "]";
}

void read_files(const YamlValue& value, RunConfig& config) {
  config.data.files = read_names(value, "a file, a glob, or a list of them");
  if (config.data.files.empty()) value.refuse("an empty list; allowed: a file, a glob, or a list of them");
}

void read_init(const YamlValue& value, RunConfig& config) {
  const std::vector<std::string> starts = starts_of_likelihood(config.likelihood);
  const std::string allowed = joined(starts) + ", or a parameter file that ends in .json";
  const std::string init = value.text(allowed);
  config.sampler.init = init;
  if (ends_with(init, ".json") || std::find(starts.begin(), starts.end(), init) != starts.end()) return;
  if (init == "kmeans" || init == "em" || init == "clusters")
    value.refuse(init + " is not known for " +
                 (config.likelihood.is_expression() ? "a likelihood of your own"
                                                    : "model " + config.likelihood.model) +
                 "; allowed: " + allowed);
  value.refuse(excerpt(init) + " is unknown; " + did_you_mean(nearest_name(init, starts)) +
               "allowed: " + allowed);
}

void read_header(const YamlValue& value, RunConfig& config) {
  const bool is_auto = value.node().kind == YamlNode::Kind::scalar && value.node().scalar == "auto";
  if (value.node().kind != YamlNode::Kind::scalar) value.refuse_type("auto, true or false");
  if (!is_auto && value.node().scalar != "true" && value.node().scalar != "false")
    value.choice({"auto", "true", "false"});
  config.data.format.header = is_auto ? std::nullopt : std::optional(value.boolean());
}

struct NamedMark {
  const char* name;
  char mark;
};
constexpr std::array<NamedMark, 4> separators{
    {{"auto", 0}, {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}}};
constexpr std::array<NamedMark, 3> decimals{{{"auto", 0}, {"point", '.'}, {"comma", ','}}};

/// Reads a character that is given by its name or as the character itself.
char read_mark(const YamlValue& value, std::span<const NamedMark> marks) {
  std::vector<std::string> names;
  for (const NamedMark& mark : marks) {
    names.emplace_back(mark.name);
    if (mark.mark && value.node().kind == YamlNode::Kind::scalar &&
        value.node().scalar == std::string(1, mark.mark))
      return mark.mark;
  }
  const std::string name = value.choice(names);
  return std::find_if(marks.begin(), marks.end(), [&](const NamedMark& mark) { return mark.name == name; })
      ->mark;
}

std::string write_mark(char written, std::span<const NamedMark> marks) {
  return std::find_if(marks.begin(), marks.end(), [&](const NamedMark& mark) { return mark.mark == written; })
      ->name;
}

std::vector<ConfigKey> data_keys() {
  return {
      {"data.file", "required: CSV with a header, .npy, a glob, or a list of them", read_files,
       [](const RunConfig& c) {
         return c.data.files.size() == 1 ? yaml_text(c.data.files[0]) : yaml_list(c.data.files);
       }},
      {"data.columns",
       "[]: all but speaker, utterance, frame, emotion, label, file, start, end, and an index without a name",
       [](const YamlValue& v, RunConfig& c) {
         c.data.columns = read_names(v, "a column or a list of columns");
       },
       [](const RunConfig& c) { return yaml_list(c.data.columns); },
       {},
       ConfigKey::Users::models},
      {"data.header",
       "for CSV: auto (refused if the first row is all numbers) | true | false: columns c0, c1, ...",
       read_header,
       [](const RunConfig& c) {
         return c.data.format.header ? yaml_bool(*c.data.format.header) : std::string("auto");
       }},
      {"data.separator", "for CSV: auto | comma | semicolon | tab",
       [](const YamlValue& v, RunConfig& c) { c.data.format.separator = read_mark(v, separators); },
       [](const RunConfig& c) { return write_mark(c.data.format.separator, separators); }},
      {"data.decimal", "for CSV: auto | point | comma (1,5 is 1.5)",
       [](const YamlValue& v, RunConfig& c) { c.data.format.decimal = read_mark(v, decimals); },
       [](const RunConfig& c) { return write_mark(c.data.format.decimal, decimals); }},
      standardize_key(),
  };
}

std::vector<ConfigKey> sampler_keys() {
  return {
      {"sampler.chains", "1 to 1048576",
       [](const YamlValue& v, RunConfig& c) { c.sampler.chains = static_cast<int>(v.integer(1, 1 << 20)); },
       [](const RunConfig& c) { return std::to_string(c.sampler.chains); }},
      {"sampler.warmup",
       "steps before the first draw, 0 to 10^12; the proposal adapts in them | auto (run only): 1000, "
       "doubled if chains have not become stationary by then",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.chooses_warmup = v.is_auto();
         c.sampler.warmup = c.sampler.chooses_warmup ? kFirstWarmup : v.integer(0, most_steps);
       },
       [](const RunConfig& c) {
         return c.sampler.chooses_warmup ? std::string("auto") : std::to_string(c.sampler.warmup);
       }},
      {"sampler.draws",
       "kept per chain, 1 to 10^12 | auto (run only): until they have converged, or until.max_draws",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.chooses_draws = v.is_auto();
         c.sampler.draws = c.sampler.chooses_draws ? SamplerConfig{}.draws : v.integer(1, most_steps);
       },
       [](const RunConfig& c) {
         return c.sampler.chooses_draws ? std::string("auto") : std::to_string(c.sampler.draws);
       }},
      {"sampler.thin", "steps per kept draw, 1 to 10^9; draws * thin up to 10^12",
       [](const YamlValue& v, RunConfig& c) { c.sampler.thin = v.integer(1, 1'000'000'000); },
       [](const RunConfig& c) { return std::to_string(c.sampler.thin); }},
      {"sampler.seed", "0 to 18446744073709551615",
       [](const YamlValue& v, RunConfig& c) { c.sampler.seed = v.unsigned_integer(); },
       [](const RunConfig& c) { return std::to_string(c.sampler.seed); }},
      {"sampler.init",
       "prior | kmeans | em: optima that short fits find, by their mass | clusters (run only): random groups "
       "of rows, different for each chain and rung | a parameter file (.json)",
       read_init, [](const RunConfig& c) { return yaml_text(c.sampler.init); }},
      {"sampler.init_tries",
       "starts tried until the density, and for gradient samplers the gradient, is finite; 1 to 1000000",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.init_tries = static_cast<int>(v.integer(1, 1'000'000));
       },
       [](const RunConfig& c) { return std::to_string(c.sampler.init_tries); }},
      {"sampler.superchains",
       "0, or the number of groups of chains with a common start, for nested R-hat of many short chains: 2 "
       "or more, a divisor of chains",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.superchains = static_cast<int>(v.integer(0, 1 << 20));
         if (c.sampler.superchains == 1 ||
             (c.sampler.superchains > 1 && c.sampler.chains % c.sampler.superchains != 0))
           v.refuse_range("0, or a divisor of sampler.chains (" + std::to_string(c.sampler.chains) +
                          ") from 2");
       },
       [](const RunConfig& c) { return std::to_string(c.sampler.superchains); }},
      {"sampler.max_nan_share",
       "share of steps after the warm-up with a density of NaN or infinity that ends the run, 0 to 1",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.max_nan_share =
             number_where(v, "0 to 1", [](double share) { return share >= 0 && share <= 1; });
       },
       [](const RunConfig& c) { return shortest_text(c.sampler.max_nan_share); }},
      {"sampler.until.ess",
       "end the run once its draws have converged and every quantity it judges has this bulk and tail ESS, 0 "
       "to "
       "1e9; 0: draws decides",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.until.ess = number_where(v, "0 to 1e9", [](double x) { return x >= 0 && x <= 1e9; });
       },
       [](const RunConfig& c) { return shortest_text(c.sampler.until.ess); }},
      {"sampler.until.max_draws", "with draws: auto, the most draws per chain, 1 to 10^12",
       [](const YamlValue& v, RunConfig& c) {
         if (!c.sampler.chooses_draws)
           v.refuse("sampler.draws = " + std::to_string(c.sampler.draws) +
                    " sets their number already; remove one of them");
         c.sampler.draws = v.integer(1, most_steps / c.sampler.thin);
       },
       [](const RunConfig& c) { return std::to_string(c.sampler.draws); }},
      {"sampler.until.seconds",
       "end the run early after this wall time, but not before 100 draws, 0 to 1e9; 0: never",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.until.seconds = number_where(v, "0 to 1e9", [](double x) { return x >= 0 && x <= 1e9; });
       },
       [](const RunConfig& c) { return shortest_text(c.sampler.until.seconds); }},
      {"sampler.proposal.kind",
       "auto (run only): nuts for models with init: kmeans or em | component_wise | random_walk | "
       "adaptive_metropolis | delayed_rejection | independence | differential_evolution | stretch | "
       "split_merge | crank_nicolson, or with gradients nuts | hmc | mala | chees (docs/proposals.md)",
       [](const YamlValue& v, RunConfig& c) {
         std::vector<std::string> names = proposal_names();
         names.insert(names.begin(), kAutomatic);
         c.sampler.proposal.kind = v.choice(names);
       },
       [](const RunConfig& c) { return c.sampler.proposal.kind; }},
      {"sampler.proposal.shape",
       "covariance of the increments within a block: isotropic | diagonal | dense, or with kind: auto also "
       "auto; component_wise, random_walk, delayed_rejection, split_merge and crank_nicolson use it; for "
       "nuts, hmc, mala and chees the metric",
       [](const YamlValue& v, RunConfig& c) {
         ProposalConfig& proposal = c.sampler.proposal;
         proposal.shape = v.choice({kAutomatic, "isotropic", "diagonal", "dense"});
         if (proposal.shape == kAutomatic && proposal.kind != kAutomatic)
           v.refuse("auto goes with kind: auto; allowed with kind: " + proposal.kind +
                    ": isotropic, diagonal, dense");
       },
       [](const RunConfig& c) { return c.sampler.proposal.shape; }},
      {"sampler.proposal.target_acceptance",
       "above 0 and below 1; default 0.234, blocks of one dimension aim at 0.44; nuts and hmc 0.9, "
       "chees 0.8, mala 0.574; not for auto, differential_evolution and stretch",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.proposal.target_acceptance =
             number_where(v, "above 0 and below 1", [](double rate) { return rate > 0 && rate < 1; });
       },
       [](const RunConfig& c) { return shortest_text(c.sampler.proposal.target_acceptance); }},
  };
}

std::vector<ConfigKey> program_keys() {
  return {
      {"checkpoint.seconds", "between checkpoints, above 0, up to 1e9",
       [](const YamlValue& v, RunConfig& c) {
         c.checkpoint.seconds =
             number_where(v, "above 0, up to 1e9", [](double s) { return s > 0 && s <= 1e9; });
       },
       [](const RunConfig& c) { return shortest_text(c.checkpoint.seconds); }},
      {"checkpoint.steps",
       "also a checkpoint at each multiple of this many steps, warm-up included; 0 to 10^12, 0: by time only",
       [](const YamlValue& v, RunConfig& c) { c.checkpoint.steps = v.integer(0, most_steps); },
       [](const RunConfig& c) { return std::to_string(c.checkpoint.steps); }},
      {"output.directory", "default: runs/ and the name of this file",
       [](const YamlValue& v, RunConfig& c) { c.output.directory = v.text("a directory"); },
       [](const RunConfig& c) { return yaml_text(c.output.directory.string()); }},
      {"output.keep_warmup", "true: the draws of the warm-up are written too",
       [](const YamlValue& v, RunConfig& c) { c.output.keep_warmup = v.boolean(); },
       [](const RunConfig& c) { return yaml_bool(c.output.keep_warmup); }},
      {"output.pointwise",
       "reserved: only false is accepted; per-row log likelihoods come from `emomc export --format netcdf "
       "--log-likelihood`",
       [](const YamlValue& v, RunConfig& c) { c.output.pointwise = v.boolean(); },
       [](const RunConfig& c) { return yaml_bool(c.output.pointwise); }},
  };
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

/// Returns the names that may occur in a section ("" for the top level), including sections.
std::vector<std::string> names_in(const std::string& section, std::span<const std::string> keys) {
  const std::string prefix = section.empty() ? "" : section + ".";
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    if (key.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string name = key.substr(prefix.size(), key.find('.', prefix.size()) - prefix.size());
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

/// Returns the known key that was probably meant: a similar key of the section, or else a key with that name
/// in another section.
std::optional<std::string> suggestion(const std::string& section, const std::string& typed,
                                      std::span<const std::string> keys) {
  const std::string prefix = section.empty() ? "" : section + ".";
  if (const auto sibling = nearest_name(typed, names_in(section, keys))) return prefix + *sibling;
  std::vector<std::string> last_parts;
  for (const std::string& key : keys) last_parts.push_back(last_part(key));
  if (const auto elsewhere = nearest_name(last_part(typed), last_parts)) {
    const auto index = std::find(last_parts.begin(), last_parts.end(), *elsewhere) - last_parts.begin();
    return keys[static_cast<std::size_t>(index)];
  }
  return std::nullopt;
}

void refuse_unknown_in(const YamlNode& node, const std::string& section, std::span<const std::string> keys,
                       std::span<const std::string> offered) {
  const std::vector<std::string> allowed = names_in(section, offered);
  if (node.kind == YamlNode::Kind::null) return;  // all keys of the section are commented out
  if (node.kind != YamlNode::Kind::map)
    YamlValue(node, section).refuse_type("a map with keys: " + joined(allowed));
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& typed = node.keys[i].scalar;
    const std::string name = section.empty() ? typed : section + "." + typed;
    const bool known = typed.find('.') == std::string::npos;
    if (known && std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    if (known && std::find(allowed.begin(), allowed.end(), typed) != allowed.end()) {
      refuse_unknown_in(node.items[i], name, keys, offered);
      continue;
    }
    refuse_at(node.keys[i].place, excerpt(name),
              "unknown key; " + did_you_mean(suggestion(section, typed, offered)) + "allowed " +
                  (section.empty() ? "here" : "in " + section) + ": " + joined(allowed));
  }
}

struct KeyAndValue {
  const YamlNode* key = nullptr;
  const YamlNode* value = nullptr;
};

KeyAndValue find_key(const YamlNode& root, const std::string& name) {
  KeyAndValue found{nullptr, &root};
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const YamlNode& map = *found.value;
    const YamlNode* value = map.find(std::string_view(name).substr(begin, end - begin));
    if (value == nullptr) return {};
    found = {&map.keys[static_cast<std::size_t>(value - map.items.data())], value};
    begin = end + 1;
  }
  return found;
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> all;
    std::vector<ConfigKey> own = expression_keys();
    const auto own_likelihood = std::stable_partition(
        own.begin(), own.end(), [](const ConfigKey& key) { return key.name.starts_with("data."); });
    const auto add = [&](auto begin, auto end) {
      all.insert(all.end(), std::make_move_iterator(begin), std::make_move_iterator(end));
    };
    for (const auto section :
         {data_keys, likelihood_keys, prior_keys, sampler_keys, tempering_keys, device_keys, program_keys}) {
      std::vector<ConfigKey> of_section = section();
      add(of_section.begin(), of_section.end());
      if (section == data_keys) add(own.begin(), own_likelihood);
      if (section == likelihood_keys) add(own_likelihood, own.end());
    }
    return all;
  }();
  return keys;
}

const YamlNode* find_value(const YamlNode& root, const std::string& name) {
  return find_key(root, name).value;
}

YamlPlace key_place(const YamlNode& root, const std::string& name) {
  const YamlNode* key = find_key(root, name).key;
  if (key == nullptr) throw std::logic_error("key_place: " + name + " is not written");
  return key->place;
}

void refuse_unknown_keys(const YamlNode& root, const LikelihoodConfig& likelihood) {
  std::vector<std::string> names, offered;
  const bool own = likelihood.is_expression();
  for (const ConfigKey& key : config_keys()) {
    // A likelihood of the user's own has priors of its parameters instead.
    if (is_prior_of_own(key, likelihood)) continue;
    names.push_back(key.name);
    if (key.read != nullptr && !(own && key.used_by == ConfigKey::Users::models)) offered.push_back(key.name);
  }
  if (own)
    for (const ExpressionParameter& parameter : parameters_of(likelihood.expression)) {
      names.push_back("prior." + parameter.name);
      offered.push_back(names.back());
    }
  if (own && std::find(names.begin(), names.end(), "prior.order") == names.end() &&
      find_value(root, "prior.order") != nullptr)
    refuse_order_of_prior(root, likelihood.expression);
  refuse_unknown_in(root, "", names, offered);
}

void refuse_unknown_keys(const YamlNode& root, std::span<const std::string> names) {
  refuse_unknown_in(root, "", names, names);
}

bool is_used(const ConfigKey& key, const LikelihoodConfig& likelihood) {
  if (likelihood.is_expression()) return key.used_by != ConfigKey::Users::models && key.models.empty();
  if (key.used_by == ConfigKey::Users::expressions) return false;
  return key.models.empty() || std::any_of(key.models.begin(), key.models.end(), [&](const ModelInfo* model) {
           return model->name == likelihood.model && model->covariance == likelihood.covariance;
         });
}

bool is_prior_of_own(const ConfigKey& key, const LikelihoodConfig& likelihood) {
  return likelihood.is_expression() && key.name.starts_with("prior.");
}

bool is_used_by_proposal(const ConfigKey& key, const std::string& kind) {
  if (kind == kAutomatic) return key.name != "sampler.proposal.target_acceptance";
  if (key.name == "sampler.proposal.shape") return proposal_use(kind).shape;
  if (key.name == "sampler.superchains") return !proposal_use(kind).other_chains;
  return key.name != "sampler.proposal.target_acceptance" || proposal_use(kind).target_acceptance;
}

bool is_used(const ConfigKey& key, const RunConfig& config) {
  if (key.name == "sampler.until.max_draws" && !config.sampler.chooses_draws) return false;
  const bool of_rungs = key.name == "sampler.tempering.ladder" || key.name == "sampler.tempering.every";
  if (of_rungs && !config.sampler.tempering.is_on()) return false;
  return is_used(key, config.likelihood) && is_used_by_proposal(key, config.sampler.proposal.kind);
}

namespace {

/// Refuses a key that only other models than that of `likelihood` use.
void refuse_unused_by_model(const YamlPlace& place, const ConfigKey& key,
                            const LikelihoodConfig& likelihood) {
  if (likelihood.is_expression())
    refuse_at(place, key.name,
              "a likelihood of your own (likelihood.log_density) does not use this key; remove it");
  if (key.used_by == ConfigKey::Users::expressions)
    refuse_at(
        place, key.name,
        "model " + likelihood.model +
            " does not use this key, only a likelihood of your own does; write likelihood.log_density, or "
            "remove it");
  std::vector<std::string> names, covariances;
  for (const ModelInfo* model : key.models) {
    if (model->name == likelihood.model) covariances.push_back(model->covariance);
    if (names.empty() || names.back() != model->name) names.push_back(model->name);
  }
  const bool by_name = covariances.empty();
  const std::vector<std::string>& users = by_name ? names : covariances;
  refuse_at(place, key.name,
            (by_name ? "model " + likelihood.model : "covariance " + likelihood.covariance) +
                " does not use this key, only " + joined(users) + (users.size() == 1 ? " does" : " do") +
                "; remove it");
}

}  // namespace

void refuse_keys_of_expressions(const YamlNode& root, const LikelihoodConfig& likelihood) {
  for (const ConfigKey& key : config_keys())
    if (key.used_by == ConfigKey::Users::expressions && find_value(root, key.name) != nullptr)
      refuse_unused_by_model(key_place(root, key.name), key, likelihood);
}

void refuse_unused_keys(const YamlNode& root, const RunConfig& config) {
  for (const ConfigKey& key : config_keys()) {
    if (find_value(root, key.name) == nullptr || is_prior_of_own(key, config.likelihood)) continue;
    if (!is_used(key, config.likelihood))
      refuse_unused_by_model(key_place(root, key.name), key, config.likelihood);
    const std::string& kind = config.sampler.proposal.kind;
    if (!is_used_by_proposal(key, kind))
      refuse_at(
          key_place(root, key.name), key.name,
          kind == kAutomatic
              ? "each kind of proposal has its own target; write sampler.proposal.kind too, or remove it"
              : "proposal " + kind + " does not use this key; remove it");
    if (key.read == nullptr) refuse_at(key_place(root, key.name), key.name, key.comment);
  }
}

}  // namespace emomc::app
