#!/usr/bin/env bash
# Installs what is missing, builds everything in release mode and runs every test but those of the label long.
#   EMOMC_BUILD_DIR   where to build (default build/release)
#   EMOMC_CMAKE_ARGS  further arguments for cmake
#   EMOMC_CTEST_ARGS  further arguments for ctest
# Tests that take minutes each have the label long: ctest --test-dir build/release -L long
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh
build=${EMOMC_BUILD_DIR:-build/release}
# shellcheck disable=SC2086  # the arguments are words
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release ${EMOMC_CMAKE_ARGS:-}
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -LE long ${EMOMC_CTEST_ARGS:-}
