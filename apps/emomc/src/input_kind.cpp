#include "input_kind.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "emomc/core/errors.hpp"
#include "emomc/likelihood/model_info.hpp"
#include "emomc/posterior/run_data.hpp"
#include "run_config.hpp"

namespace emomc::app {
namespace {

namespace fs = std::filesystem;

std::string beginning(const fs::path& file, std::size_t bytes) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(bytes, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(bytes));
  if (stream.is_open() && stream.bad() && fs::is_regular_file(file))
    throw MachineError(file.string() + ": cannot be read: read error");
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

bool begins_as(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

bool has_ending(const fs::path& file, std::initializer_list<std::string_view> endings) {
  const std::string ending = file.extension().string();
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return ending == e; });
}

InputKind kind_of_directory(const fs::path& directory) {
  const std::string kind = run_kind(directory);
  if (kind == "evaluation" || run_kind(directory / "seed-1") == "evaluation") return InputKind::evaluation;
  if (kind == "model") return InputKind::model;
  if (kind == "run" || fs::is_directory(directory / "chains")) return InputKind::run;
  return fs::exists(directory / "model.json") ? InputKind::model : InputKind::folder;
}

InputKind kind_of_config(const YamlNode& root) {
  if (root.find("data") != nullptr && root.find("corpus") != nullptr) return InputKind::unknown_config;
  if (root.find("data") != nullptr) return InputKind::run_config;
  if (root.find("corpus") != nullptr && root.find("parameters") == nullptr)
    return InputKind::evaluation_config;
  if (root.find("parameters") != nullptr) return InputKind::simulation_config;
  return InputKind::unknown_config;
}

InputKind kind_of_yaml(const fs::path& file) {
  try {
    // read_config_text() is not used here, because it refuses other kinds with its own message.
    return kind_of_config(parse_yaml(beginning(file, (std::size_t{1} << 20) + 1),
                                     {std::make_shared<const std::string>(file.string()), 1}));
  } catch (const InputError&) {
    return InputKind::unknown_config;
  }
}

// Returns the kind of a CSV file. Stan's files have comments, or columns whose names end in two underscores.
InputKind kind_of_csv(std::string_view text) {
  if (begins_as(text, {"\xef\xbb\xbf"})) text.remove_prefix(3);
  if (begins_as(text, {"#", "chain,draw", "\"chain\",\"draw\""})) return InputKind::draws;
  const std::string_view header = text.substr(0, text.find('\n'));
  if (header.empty()) return InputKind::other;
  return header.find("__") != std::string_view::npos ? InputKind::draws : InputKind::table;
}

// Whether a JSON text names the weights and the means of a mixture, as parameter files do.
bool has_means_of_mixture(const std::string& text) {
  const auto has = [&](const std::string& name) { return text.find('"' + name + '"') != std::string::npos; };
  const auto models = known_models();
  return std::any_of(models.begin(), models.end(), [&](const ModelInfo& model) {
    return is_mixture(model) && has(model.blocks[kWeights].name) && has(model.blocks[kMeans].name);
  });
}

bool is_netcdf(std::string_view beginning_of_file, const fs::path& file) {
  return begins_as(beginning_of_file, {"CDF", "\x89HDF"}) || has_ending(file, {".nc"});
}

InputKind kind_of_file(const fs::path& file) {
  constexpr std::size_t kBytes = 65536;
  const std::string text = beginning(file, kBytes);
  if (begins_as(text, {"EMOMCCH", "EMOMCCK"})) return InputKind::file_of_run;
  if (begins_as(text, {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "ID3", "FORM", "NIST_1A", ".snd"}))
    return InputKind::recording;
  if (has_ending(file, {".wav", ".WAV", ".flac", ".mp3", ".ogg", ".aiff", ".sph"}))
    return InputKind::recording;
  if (is_netcdf(text, file)) return InputKind::draws;
  if (begins_as(text, {"\x93NUMPY"})) return InputKind::table;
  if (has_ending(file, {".csv", ".tsv"})) return kind_of_csv(text);
  const bool in_run = fs::is_directory(file.parent_path() / "chains");
  if (in_run && file.filename() == "manifest.json") return InputKind::file_of_run;
  if (has_ending(file, {".yaml", ".yml"})) return kind_of_yaml(file);
  if (has_ending(file, {".json"}) && has_means_of_mixture(text)) return InputKind::parameters;
  const InputKind config = kind_of_yaml(file);
  return config == InputKind::unknown_config ? InputKind::other : config;
}

// Returns the run directory to which a chain file, a checkpoint or a manifest belongs.
std::string run_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const fs::path run = folder.filename() == "chains" ? folder.parent_path() : folder;
  return run.empty() ? "." : run.string();
}

// Returns the first run directory among the folders in `folder`, or an empty text.
std::string run_in(const fs::path& folder) {
  std::vector<std::string> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory(error) && kind_of_directory(entry.path()) == InputKind::run)
      runs.push_back(entry.path().string());
  return runs.empty() ? "" : *std::min_element(runs.begin(), runs.end());
}

std::string commands_of(InputKind config) {
  return config == InputKind::run_config          ? "run, check and fit"
         : config == InputKind::evaluation_config ? "evaluate and train"
                                                  : "simulate";
}

// Returns the kind in words; empty for InputKind::other.
std::string name_of(InputKind kind) {
  switch (kind) {
    case InputKind::run:
      return "a run directory";
    case InputKind::evaluation:
      return "the directory of an evaluation";
    case InputKind::model:
      return "the directory of a model";
    case InputKind::folder:
      return "a folder";
    case InputKind::run_config:
    case InputKind::unknown_config:
      return "a configuration";
    case InputKind::evaluation_config:
    case InputKind::simulation_config:
      return "a configuration of " + commands_of(kind);
    case InputKind::file_of_run:
      return "a file of a run";
    case InputKind::recording:
      return "a recording";
    case InputKind::draws:
      return "a file of draws";
    case InputKind::table:
      return "a table of data";
    case InputKind::parameters:
      return "a parameter file";
    case InputKind::other:
      break;
  }
  return "";
}

[[noreturn]] void refuse(const fs::path& path, InputKind kind, const std::string& wanted,
                         const std::string& advice) {
  throw InputError(excerpt(path.string()) + " is " + name_of(kind) + ", not " + wanted +
                   (advice.empty() ? "" : "; " + advice));
}

// Returns an advice about the run that the configuration has made, or about the configuration if it has no
// run yet.
std::string run_of_config(const fs::path& file) {
  try {
    const fs::path directory = load_run_config(file).output.directory;
    if (kind_of(directory) == InputKind::run) return "its run is " + directory.string();
  } catch (const InputError&) {  // emomc run reports the fault of the configuration
  }
  return "run it first: emomc run " + file.string();
}

}  // namespace

InputKind kind_of(const fs::path& path) {
  try {
    if (fs::is_directory(path)) return kind_of_directory(path);
    return fs::is_regular_file(path) ? kind_of_file(path) : InputKind::other;
  } catch (const MachineError&) {
    throw;
  } catch (const std::exception&) {  // for example, no permission
    return InputKind::other;
  }
}

bool is_netcdf(const fs::path& file) {
  std::error_code error;
  return is_netcdf(fs::is_regular_file(file, error) ? beginning(file, 4) : "", file);
}

void refuse_if_no_run(const fs::path& path) {
  const InputKind kind = kind_of(path);
  const std::string name = path.string();
  switch (kind) {
    case InputKind::run_config:
      refuse(path, kind, "a run", run_of_config(path));
    case InputKind::unknown_config:
      refuse(path, kind, "a run", "run it first: emomc run " + name);
    case InputKind::evaluation_config:
      refuse(path, kind, "a run", "emomc evaluate " + name + " writes a directory that emomc report shows");
    case InputKind::simulation_config:
      refuse(path, kind, "a run", "emomc simulate " + name + " -o FOLDER makes data, which a run samples");
    case InputKind::file_of_run:
      refuse(path, kind, "a run", "give the run's directory: " + run_of(path));
    case InputKind::recording:
      refuse(path, kind, "a run", "emomc classify takes recordings");
    case InputKind::table:
      refuse(path, kind, "draws",
             "name it in a configuration, as in data: {file: " + name +
                 "}, and sample it with emomc run; a table of draws begins with the columns chain,draw");
    case InputKind::parameters:
      refuse(path, kind, "a run", "");
    case InputKind::folder:
      if (const std::string run = run_in(path); !run.empty())
        refuse(path, kind, "a run", "it has runs in it; name one, such as " + run);
      return;
    case InputKind::run:
    case InputKind::evaluation:
    case InputKind::model:
    case InputKind::draws:
    case InputKind::other:
      return;
  }
}

void refuse_if_no_config(const fs::path& path) {
  const InputKind kind = kind_of(path);
  const std::string name = path.string(), wanted = "a configuration (YAML)";
  switch (kind) {
    case InputKind::run:
      refuse(path, kind, wanted,
             "its configuration is " + (path / "config.yaml").string() + ", emomc summary " + name +
                 " prints its posterior");
    case InputKind::evaluation:
    case InputKind::model:
      refuse(path, kind, wanted, "its configuration is " + (path / "config.yaml").string());
    case InputKind::folder:
      refuse(path, kind, wanted, "");
    case InputKind::file_of_run:
      refuse(path, kind, wanted, "the configuration of its run is " + run_of(path) + "/config.yaml");
    case InputKind::recording:
      refuse(path, kind, wanted, "emomc classify takes recordings");
    case InputKind::draws:
      refuse(path, kind, wanted, "emomc summary " + name + " takes it");
    case InputKind::table:
      refuse(path, kind, wanted, "write one that names it, as in data: {file: " + name + "}");
    case InputKind::parameters:
      refuse(path, kind, wanted,
             "write one that names it, as in sampler: {init: " + name + "}; emomc loglik --parameters " +
                 name + " takes it too");
    case InputKind::run_config:
    case InputKind::evaluation_config:
    case InputKind::simulation_config:
    case InputKind::unknown_config:
    case InputKind::other:
      return;
  }
}

void refuse_if_no_model(const fs::path& path) {
  const InputKind kind = kind_of(path);
  const std::string wanted = "the directory of a model";
  const bool is_config = kind == InputKind::evaluation_config || kind == InputKind::unknown_config;
  if (kind == InputKind::model || kind == InputKind::other) return;
  refuse(path, kind, wanted,
         is_config ? "train it first: emomc train " + path.string() + " -o MODEL"
         : kind == InputKind::evaluation
             ? "emomc train " + (path / "config.yaml").string() + " -o MODEL makes one"
         : kind == InputKind::recording ? "the model comes first: emomc classify MODEL " + path.string()
                                        : "emomc train CONFIG -o MODEL makes one");
}

void refuse_other_config(const YamlNode& root, InputKind wanted) {
  const InputKind kind = kind_of_config(root);
  if (kind == wanted || kind == InputKind::unknown_config) return;
  const std::string key = kind == InputKind::run_config          ? "data"
                          : kind == InputKind::evaluation_config ? "corpus"
                                                                 : "parameters";
  for (const YamlNode& name : root.keys)
    if (name.scalar == key)
      refuse_at(name.place, key,
                "this is a configuration of emomc " + commands_of(kind) + ", not of " + commands_of(wanted));
}

}  // namespace emomc::app
