#!/usr/bin/env bash
# On a machine with a GPU: the tests that need one, compute-sanitizer over them, and a benchmark.
#   EMOMC_BUILD_DIR   a finished build with CUDA (default build/release)
#   EMOMC_GPU_STEPS   which of "tests sanitizer bench" (default all)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${EMOMC_BUILD_DIR:-build/release}/bin
steps=" ${EMOMC_GPU_STEPS:-tests sanitizer bench} "
"$bin/emomc" devices

if [[ $steps == *" tests "* ]]; then
  for program in test_liblikelihood test_libsampler; do
    echo "== $program"
    "$bin/$program" --gtest_brief=1
  done
fi
if [[ $steps == *" sanitizer "* ]]; then
  # Long runs are left out; AFewSteps launches every kernel that they do.
  declare -A filter=(
    [test_liblikelihood]='*cuda*-*AcceptanceDecisions*:*DifferencesOfNeighbours*'
    [test_libsampler]='*AFewSteps*cuda*:*CovariancesAndSampled*cuda*'
  )
  for tool in memcheck racecheck synccheck; do
    for program in test_liblikelihood test_libsampler; do
      echo "== compute-sanitizer $tool $program"
      compute-sanitizer --tool "$tool" --error-exitcode 1 "$bin/$program" --gtest_brief=1 \
        --gtest_filter="${filter[$program]}"
    done
  done
fi
if [[ $steps == *" bench "* ]]; then
  echo "== bench"
  "$bin/emomc" bench --method cuda
fi
