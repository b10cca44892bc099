#!/usr/bin/env bash
# Leads from a fresh machine to a posterior: installs missing packages, builds the program in release mode, simulates
# a small corpus of MFCC frames with five emotions, samples the frames of one emotion and prints a summary; then
# classifies all five emotions. This takes about a quarter of an hour on two cores, mostly for the build.
#  EMOMC_BUILD_DIR   the build directory (default build/release)
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

say "1. Dependencies"
scripts/install-dependencies.sh

say "2. Build"
build=${EMOMC_BUILD_DIR:-build/release}
# The CUDA part takes a sixth of the build's time and is of no use without a GPU.
cuda=auto
if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
  cuda=off
  echo "no NVIDIA GPU: built without the CUDA part; EMOMC_CMAKE_ARGS=-DEMOMC_CUDA=on builds it"
fi
# shellcheck disable=SC2086
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DEMOMC_CUDA=$cuda ${EMOMC_CMAKE_ARGS:-} >/dev/null
cmake --build "$build" --target emomc
emomc=$build/bin/emomc
"$emomc" devices

say "3. Simulate a corpus: five emotions, four speakers, 13 coefficients a frame"
"$emomc" simulate configs/demo/corpus.yaml -o runs/demo-corpus --force

say "4. Sample the posterior of a Gaussian mixture on the Sad frames"
"$emomc" run configs/demo/sad.yaml --output runs/demo-sad --force

say "5. What came out, whether to trust it, and a page about it"
"$emomc" summary runs/demo-sad --vars 'log_*' --vars 'weights*'
"$emomc" diagnose runs/demo-sad || echo "(exit code 1: scripts can tell)"
"$emomc" report runs/demo-sad
say "6. Recognise emotions: each speaker left out in turn, posteriors beside EM"
"$emomc" evaluate configs/demo/emotions.yaml --output runs/demo-emotions --force
printf '\nNext: %s summary runs/demo-sad, %s export runs/demo-sad --format csv -o draws.csv, %s --help\n' \
  "$emomc" "$emomc" "$emomc"
