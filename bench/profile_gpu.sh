#!/usr/bin/env bash
# Measures with Nsight Compute (ncu) what limits the kernels of docs/performance.md: the shares of the peak
# rates of pipes, issue slots and memory, and the stalls, as stalled instructions for each issued instruction.
#  EMOMC_BUILD_DIR   a finished build with CUDA (default build/release)
set -euo pipefail
cd "$(dirname "$0")/.."
emomc=${EMOMC_BUILD_DIR:-build/release}/bin/emomc
metrics=smsp__issue_active.avg.pct_of_peak_sustained_active
for pipe in fma fp64 xu; do metrics+=,sm__inst_executed_pipe_$pipe.sum.pct_of_peak_sustained_active; done
for memory in dram lts; do metrics+=,${memory}__throughput.avg.pct_of_peak_sustained_elapsed; done
for wait in barrier long_scoreboard short_scoreboard no_instruction wait math_pipe_throttle dispatch_stall not_selected; do
  metrics+=,smsp__average_warps_issue_stalled_${wait}_per_issue_active.ratio
done

profile() { # kernel, launches to leave out, arguments of emomc bench
  local kernel=$1 skip=$2
  shift 2
  echo "== $kernel, emomc bench $*"
  ncu --kernel-name "regex:$kernel" --launch-skip "$skip" --launch-count 1 --metrics "$metrics,gpu__time_duration.sum" \
    "$emomc" bench --method cuda --seconds 0.05 "$@" 2>&1 | grep -E '^ +(sm|dram|lts|gpu)|==ERROR' | tr -s ' '
}
profile batch_kernel 3 --rows 1000000 --chains 256
profile batch_kernel 3 --rows 100000 --chains 256
profile batch_kernel 3 --rows 10000 --chains 256
profile batch_kernel 3 --rows 1000000 --chains 1
profile batch_kernel 3 --rows 1000000 --chains 1 --model two_gaussian --precision double
# Several candidates are evaluated at once: in a cluster, then on all multiprocessors.
profile resident_kernel 2 --rows 10000 --chains 1
profile resident_kernel 2 --rows 5316 --chains 4 --proposal component_wise
profile resident_kernel 2 --rows 100000 --chains 1
profile resident_kernel 2 --rows 1000000 --chains 1
profile resident_kernel 2 --rows 5316 --chains 64 --proposal component_wise
# Many chains run at the same time.
profile resident_kernel 2 --rows 10000 --chains 256
profile resident_kernel 2 --rows 5316 --chains 512 --proposal component_wise
