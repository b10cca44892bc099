#!/usr/bin/env bash
# Builds the documentation as a site from docs/: docs.sh [BUILD_FOLDER] [OUTPUT]
#  BUILD_FOLDER  where emomc is built (default build/release); if its manual and the reference of the Python package
#                exist, the site contains them
#  OUTPUT        the site's folder (default BUILD_FOLDER/site); open its index.html
# The script fails if a link has no target, or if MkDocs (Debian's package mkdocs) warns.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
output=$(realpath -m "${2:-$build/site}")
command -v mkdocs >/dev/null || { echo "docs: there is no mkdocs; install it: apt-get install mkdocs" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=()
[[ -x $build/bin/emomc ]] && options+=(--program "$build/bin/emomc")
python=${EMOMC_TEST_PYTHON:-python3}
if PYTHONPATH=$build/python "$python" -c 'import emomc' 2>/dev/null; then
  options+=(--package "$build/python")
fi
"$python" scripts/site.py --stage "$work" "${options[@]}"
mkdocs build --quiet --strict --config-file "$work/mkdocs.yml" --site-dir "$output"
echo "the site is in $output"
