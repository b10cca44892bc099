#!/usr/bin/env bash
# SHA-256 over all sources that GPUs run, in order of their paths, without white space (so that formatting alone makes
# no report stale): what docs/gpu-report.md speaks of.
#   --check    compares with the report and says when that is stale; never fails
set -euo pipefail
cd "$(dirname "$0")/.."
hash=$(find lib*/ -type f \( -name '*.cu' -o -name '*.cuh' -o -path '*/include/emomc/device/*' \) -print0 |
  LC_ALL=C sort -z | while IFS= read -r -d '' file; do
   echo "$file $(tr -d '[:space:]' <"$file" | sha256sum)"
 done | sha256sum | cut -d' ' -f1)
if [[ ${1:-} == --check ]]; then
  reported=$(sed -n 's/^| device sources, SHA-256 | `\([0-9a-f]*\)` |$/\1/p' docs/gpu-report.md 2>/dev/null || true)
  if [[ $reported == "$hash" ]]; then
    echo "docs/gpu-report.md is of these device sources"
  else
    echo "WARNING: docs/gpu-report.md is stale: it speaks of device sources ${reported:-(none)}, these are $hash." \
      "scripts/test-gpu.sh on a machine with a GPU writes a new one."
  fi
else
  echo "$hash"
fi
