#!/usr/bin/env bash
# Checks that no source outside the models' own headers has the name of a model in a string, or the name of a
# covariance or of a block of parameters as a string. Programs must take these names from the models' headers
# (likelihood/model_info.hpp).
#  ROOT        the sources to check (default: this repository)
#  --planted   checks that a name planted in a copy is found
set -euo pipefail
script=$(realpath "$0")
cd "$(dirname "$script")/.."

if [[ ${1:-} == --planted ]]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  headers=liblikelihood/include/emomc/device
  mkdir -p "$copy/$headers" "$copy"/{libcore,libsampler,libposterior,libspeech,libemotion,apps}
  cp "$headers"/*.hpp "$copy/$headers"
  "$script" "$copy"
  for planted in 'bool f(const std::string& m) { return m == "two_gaussian"; }' \
    'const char* help = "for gaussian_mixture only";' 'bool f(const std::string& c) { return c == "tied"; }' \
    'prior.blocks["weights"] = {};'; do
    echo "$planted" >"$copy/apps/planted.cpp"
    if "$script" "$copy" >/dev/null; then
      echo "not found: $planted"
      exit 1
    fi
  done
  echo "every planted name was found"
  exit 0
fi

cd "${1:-.}"
headers=liblikelihood/include/emomc/device
values_of() { sed -nE "s/^ *static constexpr const char\* $1 = \"([a-z_]+)\";.*/\1/p" "$headers"/*.hpp | sort -u | paste -sd'|'; }
names=$(values_of name) covariances=$(values_of covariance)
# "mean" is also an argument of priors.
blocks=$(sed -nE 's/^ *\{"([a-z_]+)", *(Support::.*)?$/\1/p' "$headers"/*.hpp | sort -u | grep -vx mean | paste -sd'|')
[[ -n $names && -n $covariances && -n $blocks ]] || { echo "no model found in $headers"; exit 2; }

# These names are allowed: the default model; `diagonal` as a shape of proposals; the parts into which libsampler
# divides a covariance; the public names of covariances; keys of the output of bench and of settings; a set of
# functionals; the full form of a kernel.
allowed='^liblikelihood/include/emomc/likelihood/engines\.hpp:
^(apps/emomc/src/config/run_config_keys\.cpp|libposterior/(src/(run_setup|run_config|sample_config|proposal_choice)\.cpp|include/emomc/posterior(/run_config)?\.hpp)):.*"diagonal"
^libsampler/src/(target_tables|proposal_blocks)\.cpp:.*"scales"
^libposterior/src/sample_config\.cpp:.*kNames
^apps/emomc/src/bench/command_bench\.cpp:.*\{"covariance", options
^libposterior/src/settings_json\.cpp:.*\{"covariance", covariance
^libspeech/src/functionals\.cpp:.*"cepstra", "prosody", "full"
BatchWork::'
found=$(find libcore liblikelihood libsampler libposterior libspeech libemotion apps -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) -not -path "$headers/*" -print0 |
  LC_ALL=C sort -z | xargs -0 -r grep -nE "\"([^\"]*\b)?($names)(\b[^\"]*)?\"|\"($covariances|$blocks)\"" |
  grep -vE '^[^:]*:[0-9]+: *(//|#include)' | grep -vE "$allowed" || true)
if [[ -n $found ]]; then
  printf 'These sources name a model, its covariance or its parameters; ask likelihood/model_info.hpp:\n%s\n' "$found"
  exit 1
fi
echo "no source but the headers of the models names $names, $covariances or $blocks"
