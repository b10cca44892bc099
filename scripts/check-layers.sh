#!/usr/bin/env bash
# Checks what a library may include and name (docs/architecture.md): libcore nothing of the libraries above it,
# libsampler nothing of liblikelihood except in its tests, liblikelihood nothing of libsampler, libposterior nothing
# of libspeech, and none of them anything of libemotion. Only apps may use YAML and the command line. The exit code is
# 1 if lines break these rules, which are printed.
#  --planted   checks copies in which one such line each was planted, and fails unless every one is found
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints the headers of a library in the form in which they are included, one on each line.
headers_of() { # root, library
  (cd "$1/lib$2/include" && find emomc -type f | LC_ALL=C sort)
}

# Runs grep; finding nothing is not a failure.
search() { grep "$@" || [[ $? == 1 ]]; }

# Prints the lines of lib$2 that include a header of lib$3, or that name the library in its CMakeLists.txt.
breaches() { # root, library, library it must not know
  local pattern
  pattern=$(headers_of "$1" "$3" | sed 's/[.]/[.]/g' | paste -sd '|')
  [[ -n $pattern ]] || { echo "lib$3 has no headers" && exit 2; }
  # The pattern also matches a relative path, as in "../../lib/include/emomc/...".
  search -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]([^\">]*/)?($pattern)[\">]" "$1/lib$2"
  search -nE "lib$3|emomc_$3" "$1/lib$2/CMakeLists.txt" /dev/null
}

check() { # root
  local found=0 lines pair
  for pair in "core likelihood" "core sampler" "core posterior" "core speech" "sampler likelihood" "sampler posterior" \
    "sampler speech" "likelihood sampler" "likelihood posterior" "likelihood speech" "posterior speech" \
    "speech sampler" "speech posterior" "core emotion" "likelihood emotion" "sampler emotion" "posterior emotion" \
    "speech emotion"; do
    # shellcheck disable=SC2086  # two words
    lines=$(breaches "$1" $pair)
    [[ -z $lines ]] && continue
    found=1
    echo "lib${pair% *} must not depend on lib${pair#* }:"
    echo "$lines"
  done
  # Lines with headers of YAML and of the command line are printed, too.
  lines=$(cd "$1" && search -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](yaml-cpp|CLI|spdlog)/' lib*)
  if [[ -n $lines ]]; then
    found=1
    echo "no library may depend on YAML or the command line:"
    echo "$lines"
  fi
  return $found
}

if [[ ${1:-} == --planted ]]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  plant() { # file, line
    rm -rf "${copy:?}"/*
    cp -r libcore liblikelihood libsampler libposterior libspeech libemotion "$copy/"
    echo "$2" >>"$copy/$1"
    if check "$copy" >"$copy/found"; then
      echo "not found: '$2' in $1" >&2
      exit 1
    fi
    grep -qF "$1" "$copy/found"
  }
  plant libsampler/include/emomc/device/resident_chain.cuh '#include "emomc/device/gaussian_mixture.hpp"'
  plant libsampler/src/target.cpp '#include "emomc/likelihood/models.hpp"'
  plant libcore/include/emomc/core/parameters.hpp '#include "emomc/sampler/target.hpp"'
  plant libcore/include/emomc/device/team.hpp ' #  include "emomc/device/mixture_sum.hpp"'
  plant libcore/CMakeLists.txt 'target_include_directories(emomc_core PRIVATE ../liblikelihood/include)'
  plant libposterior/src/run_setup.cpp '#include "emomc/speech/corpus.hpp"'
  plant libsampler/src/starts.cpp '#include "emomc/posterior/run_setup.hpp"'
  plant libspeech/src/scores.cpp '#include "emomc/emotion/fold_results.hpp"'
  plant libposterior/src/run_setup.cpp '#include <yaml-cpp/yaml.h>'
  plant liblikelihood/src/engines.cpp '#include "emomc/device/proposals.hpp"'
  echo "every planted line is found"
  exit 0
fi
check .
