#include "features_config_keys.hpp"

#include <array>

namespace emomc::app {
namespace {

using Names = std::vector<std::string>;

// `names` are the names of an enumeration in the order of its values.
template <class Enum>
Enum choose(const YamlValue& value, const Names& names) {
  const std::string name = value.choice(names);
  std::size_t i = 0;
  while (names[i] != name) ++i;
  return static_cast<Enum>(i);
}

template <class Enum>
std::string name_in(const Names& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

const Names kNormalizations{"none", "corpus", "speaker", "utterance"};
const Names kWindows{"rectangular", "hamming", "hann"};
const Names kFramings{"pad_last", "drop_last", "centred"};
const Names kPowers{"power", "power_over_fft_size", "magnitude"};
const Names kMels{"htk", "slaney"};
const Names kCorners{"frequencies", "fft_bins"};
const Names kHeights{"one", "area"};
const Names kLogs{"natural", "decibel"};
const Names kFloors{"zeros", "smaller"};
const Names kFirsts{"cepstrum", "log_energy"};

// Returns a text, which is empty if it is written as "".
std::string text_or_none(const YamlValue& value, const std::string& wanted) {
  const bool is_none = value.node().kind == YamlNode::Kind::scalar && value.node().scalar.empty();
  return is_none ? "" : value.text(wanted);
}

bool has_recordings(const EvaluationConfig& config) { return config.corpus.kind != "tables"; }

EvaluationKey of_recordings(std::string name, std::string comment,
                            void (*read)(const YamlValue&, EvaluationConfig&),
                            std::string (*write)(const EvaluationConfig&)) {
  return {"features." + std::move(name), std::move(comment), read, write, has_recordings,
          "corpora of recordings"};
}

// MfccExtractor checks the range of the value, and its messages name the setting.
template <auto kMember>
EvaluationKey real(std::string name, std::string comment) {
  return of_recordings(
      std::move(name), std::move(comment),
      [](const YamlValue& v, EvaluationConfig& c) { c.features.mfcc.*kMember = v.number(); },
      [](const EvaluationConfig& c) { return shortest_text(c.features.mfcc.*kMember); });
}

template <auto kMember>
EvaluationKey whole(std::string name, std::string comment) {
  return of_recordings(
      std::move(name), std::move(comment),
      [](const YamlValue& v, EvaluationConfig& c) {
        c.features.mfcc.*kMember = static_cast<int>(v.integer(0, 1 << 20));
      },
      [](const EvaluationConfig& c) { return std::to_string(c.features.mfcc.*kMember); });
}

template <auto kMember, const Names& kNames>
EvaluationKey choice(std::string name) {
  std::string comment;
  for (const auto& one : kNames) comment += (comment.empty() ? "" : " | ") + one;
  return of_recordings(
      std::move(name), comment,
      [](const YamlValue& v, EvaluationConfig& c) {
        auto& member = c.features.mfcc.*kMember;
        member = choose<std::remove_reference_t<decltype(member)>>(v, kNames);
      },
      [](const EvaluationConfig& c) { return name_in(kNames, c.features.mfcc.*kMember); });
}

using M = MfccSettings;

std::vector<EvaluationKey> mfcc_keys() {
  return {
      of_recordings(
          "like",
          "emomc | python_speech_features | librosa | thesis: preset, whose values the keys below change",
          [](const YamlValue& v, EvaluationConfig& c) {
            c.features.like = v.choice(mfcc_presets());
            c.features.mfcc = mfcc_preset(c.features.like);
          },
          [](const EvaluationConfig& c) { return c.features.like; }),
      of_recordings(
          "gate_db", "frames this far below the recording's loudest are dropped; 0: none",
          [](const YamlValue& v, EvaluationConfig& c) {
            c.features.gate_db = v.number();
            if (!(c.features.gate_db >= 0)) v.refuse_range("0 or more");
          },
          [](const EvaluationConfig& c) { return shortest_text(c.features.gate_db); }),
      real<&M::window_ms>("window_ms", "length of a frame"),
      real<&M::hop_ms>("hop_ms", "step between frames"),
      whole<&M::window_samples>("window_samples", "0: by window_ms"),
      whole<&M::hop_samples>("hop_samples", "0: by hop_ms"),
      real<&M::preemphasis>("preemphasis", "a in x[n] - a x[n-1]; 0: none"),
      choice<&M::window, kWindows>("window"),
      of_recordings(
          "periodic_window", "true: its period is the window's length",
          [](const YamlValue& v, EvaluationConfig& c) { c.features.mfcc.periodic_window = v.boolean(); },
          [](const EvaluationConfig& c) {
            return std::string(c.features.mfcc.periodic_window ? "true" : "false");
          }),
      whole<&M::fft_size>("fft_size", "0: the power of two at or above the window's length"),
      choice<&M::framing, kFramings>("framing"),
      choice<&M::power, kPowers>("power"),
      whole<&M::num_filters>("num_filters", "mel filters"),
      real<&M::low_hz>("low_hz", "lowest frequency of the filters"),
      real<&M::high_hz>("high_hz", "highest frequency of the filters; 0: half the sample rate"),
      choice<&M::mel, kMels>("mel"),
      choice<&M::corners, kCorners>("corners"),
      choice<&M::height, kHeights>("height"),
      choice<&M::log, kLogs>("log"),
      choice<&M::floor, kFloors>("floor"),
      real<&M::log_floor>("log_floor", "in place of filter outputs of 0, or smaller ones (floor)"),
      real<&M::top_db>("top_db",
                       "with log decibel: lower levels are raised to this far below the highest; 0: none"),
      whole<&M::num_coefficients>("num_coefficients", "number of coefficients from c0"),
      real<&M::lifter>("lifter", "0: none"),
      choice<&M::first, kFirsts>("first"),
  };
}

}  // namespace

std::string normalization_name(Normalization by) { return name_in(kNormalizations, by); }

std::vector<EvaluationKey> features_keys() {
  std::vector<EvaluationKey> keys{
      {"features.normalize",
       "columns to mean 0 and sd 1 by speaker (of unlabelled frames) | none | corpus | utterance",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.features.normalize = choose<Normalization>(v, kNormalizations);
       },
       [](const EvaluationConfig& c) { return normalization_name(c.features.normalize); }},
      {"features.deltas", "0 | 1: with derivatives over time | 2: with second ones",
       [](const YamlValue& v, EvaluationConfig& c) { c.features.deltas = static_cast<int>(v.integer(0, 2)); },
       [](const EvaluationConfig& c) { return std::to_string(c.features.deltas); }},
      {"features.gain", "removed: the column c0 less its mean over each utterance | kept",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.features.remove_gain = v.choice(Names{"removed", "kept"}) == "removed";
       },
       [](const EvaluationConfig& c) { return std::string(c.features.remove_gain ? "removed" : "kept"); }},
  };
  // Tables of frames always have the same functionals.
  const auto takes_recordings = [](const EvaluationConfig& c) {
    return c.classifier != ClassifierKind::mixtures && has_recordings(c);
  };
  const auto has_table = [](const EvaluationConfig& c) { return !c.features.table.empty(); };
  keys.push_back(
      {"features.table",
       "rows in place of functionals: CSV, ARFF or .npy of another program, one row per utterance; "
       "\"\": none",
       [](const YamlValue& v, EvaluationConfig& c) { c.features.table = text_or_none(v, "a path"); },
       [](const EvaluationConfig& c) { return yaml_text(c.features.table.string()); }, takes_recordings,
       "softmax regressions on recordings"});
  keys.push_back(
      {"features.table_names",
       "the column that names recordings, \"\": found by its name; for .npy a text file with a name on each "
       "line",
       [](const YamlValue& v, EvaluationConfig& c) { c.features.table_names = text_or_none(v, "a name"); },
       [](const EvaluationConfig& c) { return yaml_text(c.features.table_names); }, has_table,
       "features.table"});
  keys.push_back(
      {"features.set",
       "the set of functionals: cepstra | prosody | full: both | compact: few of both, the default of "
       "softmax.prior: horseshoe",
       [](const YamlValue& v, EvaluationConfig& c) {
         c.features.set = functional_set(v.choice(functional_set_names()));
       },
       [](const EvaluationConfig& c) { return functional_set_name(c.features.set); },
       [](const EvaluationConfig& c) {
         return c.classifier != ClassifierKind::mixtures && has_recordings(c) && c.features.table.empty();
       },
       "regressions on functionals that emomc computes (without features.table)"});
  for (EvaluationKey& key : mfcc_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace emomc::app
