#!/usr/bin/env bash
# Runs the tests of the Python package: run.sh PYTHON FOLDER PROGRAM [pytest's arguments]
#  FOLDER   contains the package emomc with its extension module
#  PROGRAM  is the program emomc
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$1 folder=$(realpath "$2") program=$(realpath "$3")
shift 3
if ! "$python" -c 'import pytest, numpy' 2>/dev/null; then
  echo "skipped: $python has no pytest or no NumPy"
  exit 0
fi
cd "$here/../.."
PYTHONPATH=$folder EMOMC_PROGRAM=$program PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -q -p no:cacheprovider -rs \
  tests/python "$@"
