#!/usr/bin/env bash
# Prints the SHA-256 of all sources that run on a GPU, in the order of their paths and without white space, so
# that mere formatting does not make docs/gpu-report.md stale. Two headers are for the host's compiler alone.
#  --check    compares the hash with the one in the report and prints whether the report is stale; always succeeds
set -euo pipefail
cd "$(dirname "$0")/.."
hash=$(find lib*/ -type f \( -name '*.cu' -o -name '*.cuh' -o -path '*/include/emomc/device/*' \) \
  ! -name density_library.hpp ! -name cached_columns.hpp -print0 |
  LC_ALL=C sort -z | while IFS= read -r -d '' file; do
   echo "$file $(tr -d '[:space:]' <"$file" | sha256sum)"
 done | sha256sum | cut -d' ' -f1)
if [[ ${1:-} == --check ]]; then
  reported=$(sed -n 's/^| device sources, SHA-256 | `\([0-9a-f]*\)` |$/\1/p' docs/gpu-report.md 2>/dev/null || true)
  if [[ $reported == "$hash" ]]; then
    echo "docs/gpu-report.md is of these device sources"
  else
    echo "WARNING: docs/gpu-report.md is stale: it is about device sources ${reported:-(none)}, these are $hash." \
      "scripts/test-gpu.sh on a machine with a GPU writes a new one."
  fi
else
  echo "$hash"
fi
