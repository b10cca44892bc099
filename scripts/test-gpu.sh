#!/usr/bin/env bash
# Runs, on a machine with a GPU, the tests that need one, the same tests under compute-sanitizer, and a
# benchmark. Writes the results of tests and sanitizer to a report that contains a hash of the device sources,
# by which CI detects that it is stale.
#  EMOMC_BUILD_DIR    a finished build with CUDA (default build/release)
#  EMOMC_GPU_STEPS    which of "tests sanitizer bench" to run (default all)
#  EMOMC_GPU_TOOLS    which tools of the sanitizer, "memcheck racecheck synccheck initcheck" (default all)
#  EMOMC_GPU_MATCH    a regular expression; only tests whose names match are run, and the report counts the others as
#                     not begun (default all)
#  EMOMC_GPU_RESULTS  a file to which results are appended, so that several invocations can share the work: tests that
#                     passed there are not run again (default none)
#  EMOMC_GPU_REPORT   the report (default docs/gpu-report.md); written if there are results of the tests and of
#                     memcheck; it says which other tools were not run
#  EMOMC_GPU_JOBS     number of tests that run at the same time (default: number of processors, at most 16)
#  EMOMC_GPU_SECONDS  time limit of a test (default 600); under a tool the report then says that it was not checked to the end
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${EMOMC_BUILD_DIR:-build/release}/bin
steps=" ${EMOMC_GPU_STEPS:-tests sanitizer bench} "
all_tools=(memcheck racecheck synccheck initcheck)
tools=" ${EMOMC_GPU_TOOLS:-${all_tools[*]}} "
report=${EMOMC_GPU_REPORT:-docs/gpu-report.md}
processors=$(nproc)
jobs=${EMOMC_GPU_JOBS:-$((processors < 16 ? processors : 16))}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# Each test has a process group of its own (timeout), which a signal to this script's group does not reach. The tests
# inherit the exported name of the folder of logs.
stop_tests() {
  local file pid
  for file in $(grep -lsz "^logs=$logs\$" /proc/[0-9]*/environ); do
    pid=${file#/proc/} pid=${pid%/environ}
    [[ $pid == "$$" ]] || kill "$pid" 2>/dev/null || true
  done
}
trap 'stop_tests; exit 143' TERM
trap 'stop_tests; exit 130' INT
results=${EMOMC_GPU_RESULTS:-$logs/results}
mkdir -p "$(dirname "$results")"
sources="sources|$(scripts/gpu-report-hash.sh)"
if [[ -s $results && $(head -n 1 "$results") != "$sources" ]]; then
  echo "$results is of other device sources than these: use another file, or remove it" >&2
  exit 2
fi
[[ -s $results ]] || echo "$sources" >"$results"
sed -i '/|FAILED|/d; /|stopped|/d' "$results"
"$bin/emomc" devices

# Long runs are not run under the sanitizer; AFewSteps launches all of their kernels.
declare -A sanitized=(
  [test_liblikelihood]='*cuda*-*AcceptanceDecisions*:*DifferencesOfNeighbours*:*Long*:*EngineOnShape*'
  [test_libsampler]='*AFewSteps*cuda*:*CovariancesAndSampled*cuda*'
)
# initcheck takes minutes for a test with many shapes, so that only tests with one shape are chosen for the
# likelihood.
declare -A initchecked=(
  [test_liblikelihood]='Shapes/EngineOnShape.BitsAreTheSameInEveryRunBatchAndCache/cuda*'
  [test_libsampler]='*AFewSteps*cuda*'
)
list_tests() { # program, filter
  "$bin/$1" --gtest_list_tests --gtest_filter="$2" | awk '/^[^ ]/ {suite = $1} /^ / {print suite $1}'
}
# Runs a test in its own process, since most of its time is the compilation of kernels on one processor.
# Appends its result as a line: tool|program|test|result|seconds.
run_one() { # tool (or "none"), program, test
  local log="$logs/$1.${3//\//.}" begin=$SECONDS result=passed
  local test=("$bin/$2" --gtest_brief=1 "--gtest_filter=$3")
  local command=("${test[@]}") options=()
  case $1 in
    none) ;;
    # compute-sanitizer does not follow kernels into the bodies of conditional graph nodes. NCCL does not run under it,
    # so that tests of several GPUs are skipped. racecheck does not end in one kernel (docs/decisions/racecheck.md).
    *)
      [[ $1 != racecheck ]] || options=(--kernel-name-exclude kernel_substring=gradient_finish_kernel)
      command=(env EMOMC_TEST_HOST_LOOPS=1 CUDA_VISIBLE_DEVICES=0
        compute-sanitizer --tool "$1" "${options[@]}" --error-exitcode 9 "${command[@]}")
      ;;
  esac
  if [[ $1 == racecheck && $racecheck_knows_all == no ]]; then command=(env EMOMC_TEST_LAUNCHED=1 "${command[@]}"); fi
  timeout "$most_seconds" "${command[@]}" >"$log" 2>&1 || { [[ $? == 124 && $1 != none ]] && result=stopped || result=FAILED; }
  # synccheck tracks a limited number of barriers in shared memory and stops kernels that have more. Tracking
  # many takes gigabytes of GPU memory (8192 barriers more than 80), so that such tests run one at a time,
  # with the least limit that is sufficient.
  if [[ $1 == synccheck ]]; then
    for barriers in 64 256 1024 2048 4096 8192; do
      grep -q 'overflow of tracked' "$log" || break
      result=passed
      flock "$logs/lock" timeout "$most_seconds" env EMOMC_TEST_HOST_LOOPS=1 CUDA_VISIBLE_DEVICES=0 \
        compute-sanitizer --tool synccheck --num-cuda-barriers "$barriers" --error-exitcode 9 "${test[@]}" >"$log" 2>&1 || result=FAILED
    done
    if grep -q 'overflow of tracked' "$log" && ! grep -q 'Barrier error' "$log"; then result=stopped; fi
  fi
  # A launch that the tool skipped, or an error of the tool, is not a finding, but the test is not checked either.
  if [[ $result == passed ]] && grep -q "didn't track the launch" "$log"; then result=stopped; fi
  if [[ $result == FAILED ]] && grep -q 'Internal Sanitizer Error' "$log" &&
    ! grep -qE 'Invalid |Barrier error|Uninitialized |Race reported' "$log"; then result=stopped; fi
  if [[ $result == passed ]] && grep -q 'SKIPPED . 1 test' "$log"; then result=skipped; fi
  echo "$1|$2|$3|$result|$((SECONDS - begin))" >>"$results"
  if [[ $result == FAILED || $result == stopped ]]; then
    echo "== $result: $1 $2 $3"
    head -c 4000 "$log"
  fi
}
record_machine() { # tool: results may come of several GPUs and days
  local line
  line="on|$1|$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), $(date -u +%F)"
  grep -qxF "$line" "$results" || echo "$line" >>"$results"
}
plan() { # tool, files of lines "tool program test": so that the report can say what has no result
  local tool=$1
  shift
  sed -i "/^plan|$tool|/d" "$results"
  echo "plan|$tool|$(cat "$@" | grep -c "^$tool ")" >>"$results"
}
lacking() { # tool; how many planned tests have no result, in words
  local planned begun
  planned=$(sed -n "s/^plan|$1|//p" "$results")
  begun=$(grep -c "^$1|test_" "$results")
  if ((${planned:-0} > begun)); then echo "; $((planned - begun)) of $planned not begun or not ended"; fi
}
run_all() { # lines "tool program test" on standard input
  while read -r tool program test; do
    [[ $test =~ $match ]] || continue
    grep -qF "$tool|$program|$test|" "$results" || echo "$tool $program $test"
  done | xargs -r -P "$jobs" -L 1 bash -c 'run_one "$0" "$1" "$2"'
}
most_seconds=${EMOMC_GPU_SECONDS:-600}
match=${EMOMC_GPU_MATCH:-.}
export -f run_one
export bin logs results most_seconds

if [[ $steps == *" tests "* ]]; then
  echo "== tests"
  record_machine none
  for program in test_libsampler test_liblikelihood; do
    list_tests "$program" '*cuda*:*Cuda*:*Gpu*:MixtureGradient.OfTheEngines*-*Long*:CudaTable.EnginesOfOneTable*' |
      sed "s/^/none $program /"
  done >"$logs/planned"
  list_tests test_apps '*CudaFaults*' | sed "s/^/none test_apps /" >"$logs/alone"
  list_tests test_liblikelihood 'CudaTable.EnginesOfOneTable*' | sed "s/^/none test_liblikelihood /" >>"$logs/alone"
  plan none "$logs/planned" "$logs/alone"
  run_all <"$logs/planned"
  # These tests use all memory of the GPU, measure it, or trap on the GPU, so that no other test may run at the same
  # time.
  jobs=1 run_all <"$logs/alone"
fi
racecheck_knows_all=yes
if [[ $steps == *" sanitizer "* && $tools == *" racecheck "* ]]; then
  # racecheck reports accesses as unordered although a __syncthreads is between them, if some threads of the block
  # have met at a named barrier and others have not (docs/decisions/racecheck.md). As long as it does so on a kernel
  # without any hazard, the tests under it avoid the resident kernel by launching the steps (racecheck's own
  # --kernel-name-exclude ends in an internal error here, in 2025.3.1).
  racecheck() { compute-sanitizer --tool racecheck --error-exitcode 9 "$bin/racecheck_probe" "$@" >"$logs/probe" 2>&1; }
  if ! racecheck; then
    echo "racecheck reports hazards where there is nothing but __syncthreads:"
    cat "$logs/probe"
    exit 1
  fi
  if ! racecheck partial; then
    racecheck_knows_all=no
    echo "racecheck is run without resident_kernel: it reports $(grep -o '[0-9]* hazards\]' "$logs/probe" | tr -d ']')" \
      "in tests/racecheck_probe.cu, which has none"
  fi
  sed -i '/^racecheck|racecheck_probe|/d' "$results"
  echo "racecheck|racecheck_probe|partial|$racecheck_knows_all|0" >>"$results"
fi
export racecheck_knows_all
if [[ $steps == *" sanitizer "* ]]; then
  echo "== compute-sanitizer"
  for tool in $tools; do record_machine "$tool"; done
  for tool in $tools; do
    for program in test_libsampler test_liblikelihood; do
      filter=${sanitized[$program]}
      if [[ $tool == initcheck ]]; then filter=${initchecked[$program]}; fi
      # Without the resident kernel these tests launch the same kernels as the other tests.
      if [[ $tool$program == racechecktest_libsampler && $racecheck_knows_all == no ]]; then
        filter+='-*AFewStepsOfManyChains*'
      fi
      list_tests "$program" "$filter" | sed "s/^/$tool $program /"
    done
  done >"$logs/planned"
  for tool in $tools; do plan "$tool" "$logs/planned"; done
  run_all <"$logs/planned"
fi

has_enough() { # for a report, which says what was not run
  local tool
  for tool in none memcheck; do grep -q "^$tool|test_" "$results" || return 1; done
}
if has_enough; then
  count() { grep -c "^$1|.*|$2|" "$results" || true; }
  machines() { sed -n "s/^on|$1|//p" "$results" | paste -sd ';' | sed 's/;/; /g'; }
  {
    echo "# GPU report"
    echo
    echo "Written by \`scripts/test-gpu.sh\`. CI has no GPU; it warns when the device sources are no longer these."
    echo
    echo "| | |"
    echo "|---|---|"
    echo "| driver | $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1) |"
    echo "| CUDA compiler | $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p') |"
    echo "| compute-sanitizer | $(compute-sanitizer --version | sed -n 's/^Version \([0-9.]*\).*/\1/p') |"
    echo "| device sources, SHA-256 | \`$(scripts/gpu-report-hash.sh)\` |"
    echo "| tests | $(count none passed) passed, $(count none FAILED) failed, $(count none skipped) skipped$(lacking none) ($(machines none)) |"
    for tool in "${all_tools[@]}"; do
      if ! grep -q "^$tool|test_" "$results"; then
        echo "| $tool | not run |"
        continue
      fi
      note=''
      if [[ $tool == racecheck ]]; then
        note='; all kernels but `gradient_finish_kernel`, in which it does not end'
        if grep -q '^racecheck|racecheck_probe|partial|no|' "$results"; then
          note+=', and `resident_kernel`, whose partial barriers it does not understand'
        fi
      fi
      if [[ $(count "$tool" stopped) != 0 ]]; then
        note+="; $(count "$tool" stopped) not checked to the end, for want of time, or of memory to track all barriers or launches"
      fi
      note+=$(lacking "$tool")
      echo "| $tool | $(count "$tool" passed) tests without a finding, $(count "$tool" FAILED) with$note ($(machines "$tool")) |"
    done
    echo
    echo "Results by test; seconds with $jobs at the same time. A sanitizer's column is empty where the test is"
    echo "long and launches no kernel that others do not; initcheck's also where it would take hours."
    echo
    echo "| test | result | seconds | memcheck | racecheck | synccheck | initcheck |"
    echo "|---|---|---|---|---|---|---|"
    LC_ALL=C sort "$results" | awk -F'|' '
      {result[$1, $3] = $4; if ($1 == "none") {seconds[$3] = $5; order[++n] = $3}}
      END {
        for (i = 1; i <= n; ++i) {
          t = order[i]
          print "| " t " | " result["none", t] " | " seconds[t] " | " result["memcheck", t] " | " \
                result["racecheck", t] " | " result["synccheck", t] " | " result["initcheck", t] " |"
        }
      }'
  } >"$report"
  sed -n '1,/^Results/p' "$report"
fi
if [[ $steps == *" bench "* ]]; then
  echo "== bench"
  "$bin/emomc" bench --method cuda
fi
if grep -q '|FAILED|' "$results"; then exit 1; fi
