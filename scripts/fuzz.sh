#!/usr/bin/env bash
# Builds the fuzz targets with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, runs each, and
# prints a line of figures for each. Failing inputs are stored in build/fuzz/findings/TARGET, and the inputs that a
# target has found in build/fuzz/learnt/TARGET.
#  scripts/fuzz.sh [TARGET...]   without names: all targets of tests/fuzz
#  EMOMC_FUZZ_SECONDS   duration of each target (default 600)
#  EMOMC_FUZZ_JOBS      number of targets that run at the same time (default 2)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh --fuzz
seconds=${EMOMC_FUZZ_SECONDS:-600}
build=build/fuzz
if [[ ! -e $build/build.ninja ]]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-clang++-16}" \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -gline-tables-only" -DEMOMC_CUDA=off -DEMOMC_FUZZ=ON \
    -DEMOMC_SANITIZE=address,undefined
fi
targets=("$@")
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(sed -n 's/^emomc_add_fuzz_target(\([a-z_]*\) .*/\1/p' tests/fuzz/CMakeLists.txt)
fi
cmake --build "$build" --target "${targets[@]/#/fuzz_}"

# Runs a target and prints its name, seconds, executions, covered edges, peak memory in MB and number of
# findings.
fuzz() {
  local target=$1 learnt=$build/learnt/$1 findings=$build/findings/$1 log=$build/fuzz_$1.log options=()
  mkdir -p "$learnt" "$findings"
  [[ -e tests/fuzz/$target.dict ]] && options+=("-dict=tests/fuzz/$target.dict")
  local regressions=tests/fuzz/regressions/$target
  [[ -d $regressions ]] || regressions=
  # The limit on one allocation detects sizes that are read from a file and trusted, even if the memory is not
  # used.
  # shellcheck disable=SC2086
  ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 "$build/bin/fuzz_$target" -max_total_time="$seconds" \
    -rss_limit_mb=1024 -malloc_limit_mb=1024 -timeout=10 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$findings/" "${options[@]}" "$learnt" "tests/fuzz/corpus/$target" $regressions \
    >"$log" 2>&1 || true
  awk -v target="$target" -v seconds="$seconds" -v findings="$(find "$findings" -type f | wc -l)" '
    /cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    /stat::number_of_executed_units/ { runs = $2 }
    /stat::peak_rss_mb/ { memory = $2 }
    END { printf "%-18s %5d s %10d executions %6d edges %5d MB %3d findings\n", target, seconds, runs, edges, memory, findings }
  ' "$log"
}
export -f fuzz
export seconds build
printf '%s\n' "${targets[@]}" | xargs -P "${EMOMC_FUZZ_JOBS:-2}" -I{} bash -c 'fuzz {}'
if [[ -n $(find "$build/findings" -type f -print -quit) ]]; then
  echo "findings, in $build/findings:"
  find "$build/findings" -type f
  exit 1
fi
