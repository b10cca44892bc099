#include "device_keys.hpp"

#include <algorithm>
#include <cmath>

#include "emomc/posterior/run_setup.hpp"

namespace emomc::app {
namespace {

void read_backend(const YamlValue& value, RunConfig& config) {
  if (value.node().scalar == "gpu")
    value.refuse("gpu is unknown; did you mean cuda? allowed: auto, reference, cpu, cuda");
  const std::string name = value.choice({"auto", "reference", "cpu", "cuda"});
  config.backend = name == "auto"        ? Backend::automatic
                   : name == "reference" ? Backend::reference
                   : name == "cpu"       ? Backend::cpu
                                         : Backend::cuda;
}

std::string write_backend(const RunConfig& config) { return backend_name(config.backend); }

void read_shard(const YamlValue& value, RunConfig& config) {
  config.shard = value.choice({"chains", "rows"}) == "rows" ? Shard::rows : Shard::chains;
}

std::string write_shard(const RunConfig& config) { return config.shard == Shard::rows ? "rows" : "chains"; }

void read_devices(const YamlValue& value, RunConfig& config) {
  constexpr int kMostDevices = 1024;
  config.devices.clear();
  if (value.node().kind != YamlNode::Kind::list) {
    value.choice({"all"});
    return;
  }
  const std::string allowed =
      "all, or a list of different numbers of GPUs, from 0 (emomc devices lists them)";
  const ArrayArgument list = value.array();
  if (list.shape.size() != 1) value.refuse_range(allowed);
  for (const double number : list.values) {
    if (!(number >= 0 && number < kMostDevices) || number != std::floor(number)) value.refuse_range(allowed);
    const int device = static_cast<int>(number);
    if (std::count(config.devices.begin(), config.devices.end(), device) > 0)
      value.refuse(std::to_string(device) + " is listed twice; allowed: " + allowed);
    config.devices.push_back(device);
  }
  if (config.devices.empty()) value.refuse_range(allowed);
}

std::string write_devices(const RunConfig& config) {
  if (config.devices.empty()) return "all";
  std::string text;
  for (const int device : config.devices) text += (text.empty() ? "" : ", ") + std::to_string(device);
  return "[" + text + "]";
}

}  // namespace

std::vector<ConfigKey> device_keys() {
  return {
      {"backend", "auto (by the amount of work) | reference | cpu | cuda", read_backend, write_backend},
      {"shard", "what several GPUs or processes divide: chains | rows, for data too large for one of them",
       read_shard, write_shard},
      {"threads", "0: all; up to 4096",
       [](const YamlValue& v, RunConfig& c) { c.threads = static_cast<int>(v.integer(0, 4096)); },
       [](const RunConfig& c) { return std::to_string(c.threads); }},
      {"devices", "with backend cuda: the GPUs to use, all | a list of their numbers, as [0, 1]",
       read_devices, write_devices},
  };
}

}  // namespace emomc::app
