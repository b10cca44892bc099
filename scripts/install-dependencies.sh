#!/usr/bin/env bash
# Installs the system packages that the build needs (Debian 12, Ubuntu 24.04 or newer). Does nothing if all
# are installed; otherwise it needs root or sudo.
#  --ci     also packages that only continuous integration needs
#  --fuzz   also clang with libFuzzer, for scripts/fuzz.sh
#  --python also what building the Python package needs: Python's headers and venv
set -euo pipefail

packages=(g++ cmake ninja-build git ca-certificates libeigen3-dev libspdlog-dev libyaml-cpp-dev nlohmann-json3-dev
  libcli11-dev libssl-dev libhwy-dev libboost-dev libnetcdf-dev libsndfile1-dev libjs-chart.js libgtest-dev)
if [[ "${1:-}" == --ci ]]; then
  packages+=(clang-format clang-tidy-16 clang-16 libclang-rt-16-dev ccache libbenchmark-dev python3-venv python3-dev pkg-config
    libopenmpi-dev openmpi-bin r-cran-rstan r-cran-posterior r-cran-bayesplot r-cran-jsonlite mkdocs man-db chromium)
fi
if [[ "${1:-}" == --fuzz ]]; then
  packages+=(clang-16 libclang-rt-16-dev)
fi

if [[ "${1:-}" == --python ]]; then
  packages+=(python3-dev python3-venv)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "install-dependencies: no apt-get here; install the counterparts of: ${missing[*]}" >&2
  exit 2
fi
as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "install-dependencies: run as root: apt-get install ${missing[*]}" >&2; exit 2; }
  as_root=(sudo)
fi
echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
