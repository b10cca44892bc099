#include "words.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace emomc::python {
namespace {

struct Words {
  std::string_view of_program, of_python;
};

// Longer words come before words that they begin with.
constexpr std::array kWords{
    Words{"`emomc run ... --resume`", "sample(..., directory=..., resume=True)"},
    Words{"emomc run CONFIG --set sampler.tempering.rungs=12", "sample(..., tempering=12)"},
    Words{"--set sampler.tempering.rungs=12", "tempering=12"},
    Words{"sampler.tempering.rungs", "tempering"},
    Words{"sampler.tempering.", "tempering."},
    Words{"sampler.proposal.kind split_merge", "proposal=\"split_merge\""},
    Words{"sampler.proposal.kind", "proposal"},
    Words{"sampler.proposal.shape: dense", "shape=\"dense\""},
    Words{"sampler.proposal.shape", "shape"},
    Words{"sampler.proposal.target_acceptance", "target_acceptance"},
    Words{"sampler.until.", "until."},
    Words{"in sampler.init_tries = ", "in "},
    Words{"more than sampler.max_nan_share", "more than the allowed share"},
    Words{"sampler.init", "init"},
    Words{"sampler.chains", "chains"},
    Words{"sampler.seed", "seed"},
    Words{"sampler.warmup", "warmup"},
    Words{"sampler.draws", "draws"},
    Words{"sampler.thin", "thin"},
    Words{"sampler.superchains", "superchains"},
    Words{"prior.scale_floor", "scale_floor"},
    Words{"take components from summary, report or export --relabel; prior.order numbers them",
          "take components from the draws or their summary, but not from chain(); ordered=True numbers them"},
    Words{"prior.order", "ordered=True"},
    Words{"leave it out (data.columns)", "leave it out"},
    Words{"softmax.temper", "temper"},
    Words{"softmax.prior", "prior"},
    Words{"regression.prior_sds", "prior_sds"},
    Words{"regression.sd_factor", "sd_factor"},
    Words{"corpus.classes", "classes"},
    Words{"corpus: {unparsed: skip}", "unreadable=\"skip\""},
    Words{"folds.k_fold_by_speaker", "folds"},
    Words{"folds.test_speakers", "folds"},
    Words{"--vars: no quantity has such a name", "patterns: no quantity has such a name"},
    Words{"--raw prints them as sampled", "chain() returns them as sampled"},
    Words{"`emomc diagnose` says more", "diagnose() says more"},
    Words{"ExistingRun::overwrite (overwrite=True in Python)", "overwrite=True"},
    Words{"another --output", "another directory"},
    Words{"--resume", "resume=True"},
    Words{"--force", "overwrite=True"},
};

// Whether the character before a word shows that the word is a part of a longer name or of a path.
bool continues_name(char before) {
  return std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || before == '.' ||
         before == '/' || before == '-';
}

}  // namespace

std::string in_python(std::string message) {
  for (const Words& words : kWords) {
    std::size_t at = message.find(words.of_program);
    while (at != std::string::npos) {
      if (at > 0 && continues_name(message[at - 1])) {
        at = message.find(words.of_program, at + 1);
        continue;
      }
      message.replace(at, words.of_program.size(), words.of_python);
      at = message.find(words.of_program, at + words.of_python.size());
    }
  }
  return message;
}

}  // namespace emomc::python
