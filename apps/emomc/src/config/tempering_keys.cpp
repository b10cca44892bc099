#include "tempering_keys.hpp"

#include <algorithm>

#include "emomc/core/errors.hpp"
#include "emomc/posterior/text_table.hpp"
#include "emomc/sampler/tempering.hpp"

namespace emomc::app {
namespace {

void read_ladder(const YamlValue& value, RunConfig& config) {
  Tempering& tempering = config.sampler.tempering;
  if (value.node().kind != YamlNode::Kind::list) {
    value.choice({"adaptive"});
    tempering.betas.clear();
  } else {
    tempering.betas = value.array().values;
    if (!tempering.is_on())
      tempering.rungs = static_cast<int>(std::max<std::size_t>(tempering.betas.size(), 2));
  }
  if (!tempering.is_on())
    value.refuse("there is no tempering; write sampler.tempering.rungs, 2 or more, or remove it");
  try {
    check_tempering(tempering, "");
  } catch (const InputError& error) {
    const std::string why = error.what();
    value.refuse(why.substr(why.find(": ") + 2));
  }
}

std::string write_ladder(const RunConfig& config) {
  const Tempering& tempering = config.sampler.tempering;
  if (tempering.is_adaptive()) return "adaptive";
  std::string text;
  for (const double beta : tempering.betas) text += (text.empty() ? "" : ", ") + shortest_text(beta);
  return "[" + text + "]";
}

void read_every(const YamlValue& value, RunConfig& config) {
  Tempering& tempering = config.sampler.tempering;
  if (!tempering.is_on())
    value.refuse("there is no tempering; write sampler.tempering.rungs, 2 or more, or remove it");
  tempering.every = value.is_auto() ? 0 : value.integer(1, 1'000'000);
}

}  // namespace

std::vector<ConfigKey> tempering_keys() {
  return {
      {"sampler.tempering.rungs",
       "copies of each chain at powers of the likelihood from 1 to 0, for posteriors with several modes and "
       "for emomc evidence (docs/tempering.md); 1 (none) to 1024",
       [](const YamlValue& v, RunConfig& c) {
         c.sampler.tempering.rungs = static_cast<int>(v.integer(1, kMostRungs));
       },
       [](const RunConfig& c) { return std::to_string(c.sampler.tempering.rungs); }},
      {"sampler.tempering.ladder",
       "adaptive: learnt in warm-up, for equal rates of exchange | as many powers as rungs, from 1 down",
       read_ladder, write_ladder},
      {"sampler.tempering.every",
       "steps between exchanges of neighbouring rungs, 1 to 10^6 | auto: 1, or as many as take four "
       "evaluations",
       read_every,
       [](const RunConfig& c) {
         return c.sampler.tempering.every == 0 ? std::string("auto")
                                               : std::to_string(c.sampler.tempering.every);
       }},
  };
}

}  // namespace emomc::app
