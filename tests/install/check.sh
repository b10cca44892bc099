#!/usr/bin/env bash
# Installs the libraries of a build folder into a temporary one, builds the program in this folder against them, by
# find_package and by pkg-config, and runs it on Old Faithful's eruptions: its draws are those of `emomc run`, bit for bit.
#  check.sh BUILD_FOLDER [CXX_COMPILER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1")
compiler=${2:-c++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$here/../apps/data/faithful.csv
export CMAKE_GENERATOR=Ninja # a fresh Debian has no make

cmake --install "$build" --prefix "$work/prefix" --component development >/dev/null
# Installed files must not name the folders of the build, except for libraries of the system.
if grep -rIlF -e "$build" -e "$(realpath "$here/../..")" "$work/prefix"; then
  echo "these files name the build folder" >&2
  exit 1
fi
# Headers for the C++ compiler must not include YAML, and only those with cuda in their name may include CUDA.
if grep -rEl --include='*.hpp' '#include *[<"](yaml-cpp|spdlog|CLI|Eigen|sndfile|netcdf|boost|cuda|nvrtc|cub/)' \
  "$work/prefix/include" | grep -vE '/(cuda_check|current_device)\.hpp$'; then
  echo "these headers need what an installed emomc does not" >&2
  exit 1
fi
# The prefix is moved to another folder, as packages are.
mv "$work/prefix" "$work/moved"
cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >/dev/null
cmake --build "$work/build" -j 2
"$work/build/line"
"$work/build/mixture" "$data" | tee "$work/out"
grep -q '^weights\[0\] ' "$work/out"
# The program runs the same model, seed and stopping rule; numbers in these tables are read back as the same bits.
"$work/build/mixture" "$data" "$work/library" | cmp - "$work/out"
printf 'data: {file: "%s"}\nlikelihood: {components: 2, covariance: full}\nsampler: {chains: 4, seed: 1}\n' "$data" \
  >"$work/run.yaml"
"$build/bin/emomc" run "$work/run.yaml" --quiet --output "$work/program"
for run in library program; do
  "$build/bin/emomc" export "$work/$run" --format csv -o "$work/$run.csv" >/dev/null
done
cmp "$work/library.csv" "$work/program.csv"
if cmake -S "$here" -B "$work/none" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_COMPILER="$compiler" \
  -DEXAMPLE_PARTS=nothing >"$work/refusal" 2>&1; then
  echo "a part that does not exist was found" >&2
  exit 1
fi
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig:$(dirname "$(find "$work/moved" -name emomc.pc)")
  # shellcheck disable=SC2046  # the flags are words
  "$compiler" -O1 "$here/mixture.cpp" -o "$work/by_pkg_config" $(pkg-config --cflags --libs emomc)
  "$work/by_pkg_config" "$data" | cmp - "$work/out"
else
  echo "without pkg-config: emomc.pc was not tested"
fi
