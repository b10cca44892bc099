#include "config_identity.hpp"

#include "run_config_keys.hpp"

namespace emomc::app {

std::string lines_of(const std::vector<WrittenKey>& keys) {
  std::string text;
  for (const WrittenKey& key : keys) text += key.name + ": " + key.value + "\n";
  return text;
}

RunIdentity identity_of(const RunConfig& config) {
  std::vector<WrittenKey> keys = written_keys(without_what_changes_no_draw(config));
  // Identities of runs without tempering lack this key, including those that earlier versions have written.
  if (!config.sampler.tempering.is_on())
    std::erase_if(keys, [](const WrittenKey& key) { return key.name == "sampler.tempering.rungs"; });
  return {to_yaml(config), lines_of(keys), "run"};
}

}  // namespace emomc::app
