#include "config_identity.hpp"

#include "run_config_keys.hpp"

namespace emomc::app {

std::string lines_of(const std::vector<WrittenKey>& keys) {
  std::string text;
  for (const WrittenKey& key : keys) text += key.name + ": " + key.value + "\n";
  return text;
}

RunIdentity identity_of(const RunConfig& config) {
  return {to_yaml(config), lines_of(written_keys(without_what_changes_no_draw(config))), "run"};
}

}  // namespace emomc::app
