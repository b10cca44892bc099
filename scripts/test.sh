#!/usr/bin/env bash
# Installs missing packages, builds everything in release mode and runs all tests except those with the label
# long.
#  EMOMC_BUILD_DIR   the build directory (default build/release)
#  EMOMC_CMAKE_ARGS  additional arguments for cmake
#  EMOMC_CTEST_ARGS  additional arguments for ctest
# Tests that take minutes each have the label long: ctest --test-dir build/release -L long
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh
build=${EMOMC_BUILD_DIR:-build/release}
# shellcheck disable=SC2086  # the arguments are words
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DEMOMC_CUDA=auto ${EMOMC_CMAKE_ARGS:-}
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -LE long ${EMOMC_CTEST_ARGS:-}
